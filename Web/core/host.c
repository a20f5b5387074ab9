// What the module needs of a machine and libsodium and wasi-libc do not have: randomness, its start, and what compilers call.
#include <stddef.h>
#include <stdint.h>
#include "randombytes.h"

// The one thing that the module asks its host for.
__attribute__((import_module("host"), import_name("random"))) extern void host_fill(void *, size_t);

static const char *name(void) { return "host"; }
static uint32_t word(void) {
    uint32_t value;
    host_fill(&value, sizeof value);
    return value;
}
static void fill(void *const bytes, const size_t count) { host_fill(bytes, count); }
randombytes_implementation host_random = {name, word, 0, 0, fill, 0};

// The seed of Swift's hashing.
void arc4random_buf(void *bytes, size_t count) { host_fill(bytes, count); }

// Compiled code compares this on its way out of a function; the host calls core_start before anything else.
uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }
extern void __wasm_call_ctors(void);
int sodium_init(void);
int core_start(void) {
    host_fill(&__stack_chk_guard, sizeof __stack_chk_guard);
    __wasm_call_ctors();
    return sodium_init();
}

// libsodium's start asks for its fastest AEGIS, which is not built.
int _crypto_aead_aegis128l_pick_best_implementation(void) { return 0; }
int _crypto_aead_aegis256_pick_best_implementation(void) { return 0; }

// 64 by 64 bits to 128, for Swift's full-width arithmetic: the toolchain has no compiler runtime for this machine.
typedef int wide __attribute__((mode(TI)));
typedef unsigned int unsigned_wide __attribute__((mode(TI)));
wide __multi3(wide x, wide y) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y, ah = a >> 32, al = (uint32_t)a, bh = b >> 32, bl = (uint32_t)b;
    uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
    uint64_t middle = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
    uint64_t low = (uint32_t)ll | (middle << 32), high = hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
    high += (uint64_t)((unsigned_wide)x >> 64) * b + a * (uint64_t)((unsigned_wide)y >> 64);
    return (wide)(((unsigned_wide)high << 64) | low);
}

// A failed assertion of the C code; its text would only be bytes to carry.
_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function) {
    (void)what, (void)file, (void)line, (void)function;
    __builtin_trap();
}
int putchar(int character) { return character; }
