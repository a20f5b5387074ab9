import Foundation
import SealKit
import Synchronization

/// What an account has verified, beside its key file: an SQLite database, which has two files more while a command
/// runs.
enum TrustFiles {
    private static let opened = Mutex<[(path: String, store: TrustStore)]>([])

    static func url(beside keyFile: URL) -> URL { URL(fileURLWithPath: keyFile.path + ".trust") }

    /// - Throws: `Failure.Local` where nothing can be written to it; what else `TrustStore` throws.
    static func open(beside keyFile: URL) throws -> TrustStore {
        let file = url(beside: keyFile)
        do {
            let store = try TrustStore(file: file)
            opened.withLock { $0.append((file.path, store)) }
            return store
        } catch {
            guard error.code == .internalError, TrustStore.isUnwritable(file) else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
        }
    }

    /// At the end of every command, whichever it is: the file that people copy is then all that there is.
    static func closeAll() {
        let stores = opened.withLock { opened in
            defer { opened = [] }
            return opened.map(\.store)
        }
        // What cannot be closed loses nothing: the next command finds it in the files beside it.
        for store in stores { try? store.close() }
    }

    static func remove(beside keyFile: URL) {
        let file = url(beside: keyFile)
        let stores = opened.withLock { opened in
            defer { opened.removeAll { $0.path == file.path } }
            return opened.filter { $0.path == file.path }.map(\.store)
        }
        // Closed first, lest its end writes the journal anew.
        for store in stores { try? store.close() }
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
    }
}
