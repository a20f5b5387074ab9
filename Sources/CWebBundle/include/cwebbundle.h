#pragma once
#include <stddef.h>

// The web client's archive, as `make web` has left it in .build/web; no bytes where it was not built.
const unsigned char *sealkit_web_bundle(size_t *count);
