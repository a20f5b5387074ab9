import SealSystem

/// Who may take blobs away, and when: whoever copies a database and then the blobs that it names holds them alone, and
/// those who delete share. The file `blobs.lock` is beside the folder, so that it works between processes, and ends
/// with one that is killed.
package final class BlobHold: Sendable {
    private let lock: FileLock?

    private init(_ lock: FileLock?) { self.lock = lock }

    /// Where nobody copies by this.
    package static let unneeded = BlobHold(nil)

    /// Makes the file, as the server's user's: where whoever copies made it, root say, the server could never delete.
    /// - Throws: `FileError`.
    package static func prepare(for folder: String) throws(FileError) {
        guard FileStatus(link: folder + ".lock") == nil else { return }
        try PrivateFiles.createFile(at: folder + ".lock")
    }

    /// Nil while somebody copies.
    static func forDeleting(in folder: String) throws -> BlobHold? {
        try FileLock(folder + ".lock", .shared).map(BlobHold.init)
    }

    /// Waits for those who delete, which takes no longer than a hundred files; nil while somebody else copies.
    package static func forCopying(from folder: String) throws -> BlobHold? {
        // One at a time looks and waits: another one that copies would be waited for until it is done.
        guard let others = try FileLock(folder + ".lock", .shared) else { return nil }
        others.release()
        return try FileLock(folder + ".lock", .alone, waits: true).map(BlobHold.init)
    }

    package func release() { lock?.release() }
}
