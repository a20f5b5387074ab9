import Foundation

/// The folder of what this module keeps on the disk: the journal of long-lived operations, and where notifications
/// were.
enum StateFolder {
    /// Makes it for its owner alone, unless it is there. Whoever writes the file is told what became of that.
    static func make(for file: URL) {
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }
}
