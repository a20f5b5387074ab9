#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whether this user may read what is at a path, as far as the system tells beforehand.
public enum FileAccess: Sendable, Equatable {
    case readable
    case missing
    /// With the system's reason, like "Permission denied": of the file, or of a folder above it.
    case refused(String)

    public init(path: String) {
        guard access(path, R_OK) != 0 else {
            self = .readable
            return
        }
        let reason = errno
        self = reason == ENOENT || reason == ENOTDIR ? .missing : .refused(String(cString: strerror(reason)))
    }
}
