#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Keeps everybody else who asks for the same folder waiting, for some milliseconds. Released by deinit, and by the
/// system when the process dies.
public final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Nil where it cannot be had, with the reason in `errno`.
    public init?(_ folder: String) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { return nil }
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        let reason = errno
        // A process that is just being started has a copy of the file, which would hold the lock for a moment longer.
        flock(descriptor, LOCK_UN)
        close(descriptor)
        errno = reason
    }
}
