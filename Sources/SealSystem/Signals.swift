#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whether whoever started this process wants a signal ignored, as `nohup` does with SIGHUP.
public func isIgnored(signal number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Glibc)
        let handler = action.__sigaction_handler.sa_handler
    #else
        let handler = action.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
