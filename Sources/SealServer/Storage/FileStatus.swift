// On Linux the compiler holds `stat` to be of whichever of these it met first.
import Dispatch
import Foundation

/// What the system knows of a file. Nil when it cannot say, with the reason in `errno`.
struct FileStatus {
    let size: Int64
    let modified: Date
    let isFolder: Bool
    /// The permission bits.
    let mode: UInt32
    let owner: (user: uid_t, group: gid_t)

    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        size = Int64(status.st_size)
        #if os(Linux)
            modified = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
        #else
            modified = Date(timeIntervalSince1970: TimeInterval(status.st_mtimespec.tv_sec))
        #endif
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        mode = UInt32(status.st_mode & 0o777)
        owner = (status.st_uid, status.st_gid)
    }
}
