#include <stddef.h>

/// From here on the largest allocation of this thread is remembered.
void cfuzz_watch(void);

/// Stops watching. Bytes of the largest allocation since `cfuzz_watch`; 0 where the address sanitizer is not linked, since
/// only that one reports allocations.
size_t cfuzz_largest(void);
