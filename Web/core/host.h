#pragma once
// The module's randomness: the host's, by an import.
struct randombytes_implementation;
extern struct randombytes_implementation host_random;
