#include "cerrortable.h"

// What a code means and what an app does about it is said in one place, which the console shows as well. A compiler that cannot embed
// builds a console that shows the codes alone.
#pragma clang diagnostic ignored "-Wc23-extensions"
#ifdef __has_embed
static const unsigned char page[] = {
#embed "../SealKit/Documentation.docc/Errors.md"
};

const unsigned char *sealkit_error_page(size_t *count) {
    *count = sizeof page;
    return page;
}
#else
const unsigned char *sealkit_error_page(size_t *count) {
    *count = 0;
    return NULL;
}
#endif
