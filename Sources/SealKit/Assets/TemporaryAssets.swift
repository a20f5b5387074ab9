public import Foundation
import Synchronization

/// The SDK's temporary folder for assets that came with records. Move what you want to keep.
public enum TemporaryAssets {
    /// Made by this process under a name that nobody can guess, mode 0700: no other user can put files into it.
    public static let folder: URL = {
        var template = Array((FileManager.default.temporaryDirectory.path + "/sealkit-assets-XXXXXX").utf8CString)
        let made = mkdtemp(&template) != nil
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // A process that has moved everything away leaves nothing behind.
        if made { atexit { _ = rmdir(TemporaryAssets.folder.path) } }
        // Where none can be made, writing into it fails, and says so.
        return URL(fileURLWithPath: made ? path : "/nonexistent", isDirectory: true)
    }()

    /// Removes what was downloaded and not moved away.
    public static func purge() {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        for file in files { try? FileManager.default.removeItem(at: file) }
    }

    /// What came for one account, as long as it is signed in.
    final class Drawer: Sendable {
        private struct Content {
            /// Made with the first file.
            var folder: URL?
            var isClosed = false
        }

        private let content = Mutex(Content())

        // Where everything has been moved away it leaves nothing; what has not stays as long as the app wants it.
        deinit { content.withLock { if let folder = $0.folder { _ = rmdir(folder.path) } } }

        /// A name for a file in it. Where the account has gone meanwhile, nothing can be written there.
        func newFile() -> URL {
            content.withLock { content in
                let folder = content.folder ?? TemporaryAssets.folder.appendingPathComponent(UUID().uuidString, isDirectory: true)
                content.folder = folder
                if !content.isClosed { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }
                return folder.appendingPathComponent(UUID().uuidString)
            }
        }

        /// Removes what is in it, for good: what one person's device has opened is not left to the next.
        func close() {
            content.withLock { content in
                content.isClosed = true
                if let folder = content.folder { try? FileManager.default.removeItem(at: folder) }
            }
        }
    }
}
