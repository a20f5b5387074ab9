#include "cheap.h"

#if defined(__linux__)
#include <malloc.h>
#endif

bool sealkit_heap_read(struct sealkit_heap *heap) {
#if defined(__GLIBC__)
    struct mallinfo2 all = mallinfo2();
    heap->used = all.uordblks + all.hblkhd;
    heap->kept = all.fordblks;
    return true;
#else
    (void)heap;
    return false;
#endif
}

void sealkit_heap_limit_arenas(int most) {
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, most);
#else
    (void)most;
#endif
}
