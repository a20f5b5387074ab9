#include "cfuzz.h"

// Of the address sanitizer's runtime; null without it.
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*)(const volatile void *, size_t), void (*)(const volatile void *));

static __thread size_t largest;
static __thread int watching;

static void allocated(const volatile void *pointer, size_t count) {
    (void)pointer;
    if (watching && count > largest) largest = count;
}

static void freed(const volatile void *pointer) { (void)pointer; }

void cfuzz_watch(void) {
    static int installed;
    if (!installed && __sanitizer_install_malloc_and_free_hooks) {
        installed = 1;
        __sanitizer_install_malloc_and_free_hooks(allocated, freed);
    }
    largest = 0;
    watching = 1;
}

size_t cfuzz_largest(void) {
    watching = 0;
    return largest;
}
