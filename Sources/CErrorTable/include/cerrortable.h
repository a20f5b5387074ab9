#pragma once
#include <stddef.h>

// The page on errors of the SDK's documentation, as Markdown; no bytes where the compiler cannot embed.
const unsigned char *sealkit_error_page(size_t *count);
