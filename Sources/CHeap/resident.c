#include "cheap.h"

#if defined(__linux__)
#include <stdio.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#endif

bool sealkit_resident_read(uint64_t *bytes) {
#if defined(__linux__)
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return false;
    unsigned long long all, resident;
    const int count = fscanf(file, "%llu %llu", &all, &resident);
    fclose(file);
    const long page = sysconf(_SC_PAGESIZE);
    if (count != 2 || page <= 0) return false;
    *bytes = resident * (uint64_t)page;
    return true;
#elif defined(__APPLE__)
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) return false;
    *bytes = info.resident_size;
    return true;
#else
    (void)bytes;
    return false;
#endif
}
