// The freestanding target has no libc: what libsodium's headers name of it, and no more.
#pragma once
#include <stddef.h>
