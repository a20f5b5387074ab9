// The module imports the system and nothing else. To the compiler, members of `stat` and `timespec` belong to whichever
// imported module shows them first: beside Dispatch, for one, that differs from build to build, and some of them fail.
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Microseconds since 1970.
public let systemClock: @Sendable () -> Int64 = { microseconds(CLOCK_REALTIME) }

/// Microseconds since some moment; nobody sets it back.
public let steadyClock: @Sendable () -> Int64 = { microseconds(CLOCK_MONOTONIC) }

private func microseconds(_ clock: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(clock, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
}
