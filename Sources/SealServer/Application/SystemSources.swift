import Foundation
import SealPrimitives

/// Microseconds since 1970.
let systemClock: @Sendable () -> Int64 = {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
}

/// That many bytes that nobody can guess.
let systemRandomBytes: @Sendable (Int) -> [UInt8] = { count in
    var random = SystemRandom()
    return random.bytes(count)
}
