#include "cwebbundle.h"

// A compiler that cannot embed, or a tree in which `make web` has not run, builds a server without the web client. SwiftPM compiles
// this file anew when the archive changes, but not when it appears: `make web` sees to that.
#pragma clang diagnostic ignored "-Wc23-extensions"
#ifdef __has_embed
#if __has_embed("../../.build/web/bundle")
#define HAS_BUNDLE 1
#endif
#endif

#ifdef HAS_BUNDLE
static const unsigned char bundle[] = {
#embed "../../.build/web/bundle"
};

const unsigned char *sealkit_web_bundle(size_t *count) {
    *count = sizeof bundle;
    return bundle;
}
#else
const unsigned char *sealkit_web_bundle(size_t *count) {
    *count = 0;
    return NULL;
}
#endif
