#pragma once
#include <stdbool.h>
#include <stddef.h>

// What glibc's allocator says of itself, and takes: its header is in no module that Swift has.

struct sealkit_heap {
    /// Bytes that were asked for and not given back.
    size_t used;
    /// Bytes that were given back, and are kept for what comes.
    size_t kept;
};

/// False where the allocator is another one, and does not say.
bool sealkit_heap_read(struct sealkit_heap *heap);

/// How many parts of its own the heap may have at most, of which threads use one each. Nothing where the allocator is
/// another one.
void sealkit_heap_limit_arenas(int most);
