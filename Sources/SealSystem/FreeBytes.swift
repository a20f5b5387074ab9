#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What this user may still write on the disk of a file or folder; nil where the system does not say.
public func freeBytes(at path: String) -> UInt64? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    let (bytes, isMore) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
    return isMore ? .max : bytes
}
