public import Foundation
import Synchronization

/// The SDK's temporary folder for assets that came with records: one file for each content, however often it is
/// fetched, as long as there is room.
///
/// A file stays as long as a fetched ``Asset`` of it is in memory. After that it goes when its room is needed, at the
/// latest when the account signs out, when the container it was fetched by has gone with all its databases and assets,
/// when the process ends, or, should that be killed, at the next start of one. Move what you want to keep, and write
/// into it as you like: what is fetched again, or was fetched before, is another file.
public enum TemporaryAssets {
    /// Made by this process under a name that nobody can guess, mode 0700: no other user can put files into it.
    public static let folder: URL = {
        // Where none can be made, writing into it fails, and says so.
        guard let folder = ProcessFolder(in: parent) else {
            return URL(fileURLWithPath: "/nonexistent", isDirectory: true)
        }
        atexit { try? FileManager.default.removeItem(at: TemporaryAssets.folder) }
        return folder.url
    }()

    private static var parent: URL { FileManager.default.temporaryDirectory }

    /// How many bytes of assets the folder may hold; at first 1 GiB. A file counts in blocks of 4,096 bytes, an empty
    /// one as one. A fetch whose assets do not fit fails with
    /// `limitExceeded`: fetch large ones by themselves (``Database/fetchingAssets(_:)`` and
    /// ``Database/download(_:of:to:replaces:progress:)``).
    public static var byteLimit: Int64 {
        get { AssetCache.shared.limit }
        set { AssetCache.shared.limit = newValue }
    }

    /// Removes what was downloaded and not moved away, also what an ``Asset`` in memory refers to.
    public static func purge() {
        AssetCache.shared.clear()
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        for file in files { try? FileManager.default.removeItem(at: file) }
    }

    /// Removes, once a process, what others have left that were killed.
    static func removeLeftovers() { _ = leftovers }

    private static let leftovers: Void = ProcessFolder.removeAbandoned(in: parent)

    /// What came for one account, as long as it is signed in, and as long as anybody has the container or an asset of
    /// it.
    final class Drawer: Sendable {
        private static let numbers = Atomic<UInt64>(0)
        /// No other drawer of this process has it, nor will.
        let number = Drawer.numbers.wrappingAdd(1, ordering: .relaxed).newValue

        private struct Content {
            /// Made with the first file.
            var folder: URL?
            var isClosed = false
        }

        private let content = Mutex(Content())

        init() { TemporaryAssets.removeLeftovers() }

        /// A name for a file in it. Where the account has gone meanwhile, nothing can be written there.
        func newFile() -> URL {
            content.withLock { content in
                let folder =
                    content.folder
                    ?? TemporaryAssets.folder.appendingPathComponent(UUID().uuidString, isDirectory: true)
                content.folder = folder
                if !content.isClosed {
                    try? FileManager.default.createDirectory(
                        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                }
                return folder.appendingPathComponent(UUID().uuidString)
            }
        }

        var isClosed: Bool { content.withLock(\.isClosed) }

        /// Removes what is in it, for good: what one person's device has opened is not left to the next.
        func close() {
            content.withLock { content in
                content.isClosed = true
                if let folder = content.folder { try? FileManager.default.removeItem(at: folder) }
            }
            AssetCache.shared.forget(drawer: number)
        }

        deinit { close() }
    }
}
