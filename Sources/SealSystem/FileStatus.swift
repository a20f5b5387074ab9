#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the system knows of a file. Nil when it cannot say, with the reason in `errno`.
public struct FileStatus: Sendable {
    /// Bytes.
    public let size: Int64
    public let modified: Moment
    public let isFolder: Bool
    /// Neither a folder nor a link, a pipe or a device.
    public let isRegular: Bool
    /// The permission bits.
    public let mode: UInt32
    public let owner: (user: UInt32, group: UInt32)
    /// Which file it is.
    public let identity: Identity
    /// How many names it has; none once all are unlinked.
    public let links: Int

    /// By the file system's clock.
    public struct Moment: Sendable, Hashable {
        /// Since 1970.
        public let seconds: Int
        public let nanoseconds: Int
    }

    public struct Identity: Sendable, Hashable {
        public let device: UInt64
        public let number: UInt64
    }

    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of a link itself, rather than of what it leads to.
    public init?(link path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        size = Int64(status.st_size)
        #if os(Linux)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        modified = Moment(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        mode = UInt32(status.st_mode & 0o777)
        owner = (status.st_uid, status.st_gid)
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        links = Int(status.st_nlink)
    }
}
