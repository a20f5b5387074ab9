#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the system and glibc's allocator say of this process's memory: their headers are in no module that Swift has everywhere.

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

/// Bytes of memory that this process has now, with what it has mapped of files. False where the system does not say.
bool sealkit_resident_read(uint64_t *bytes);
