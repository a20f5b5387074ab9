import Foundation
import SealKit

/// What an account has verified, beside its key file: an SQLite database of up to three files.
enum TrustFiles {
    static func url(beside keyFile: URL) -> URL { URL(fileURLWithPath: keyFile.path + ".trust") }

    /// - Throws: `Failure.Local` where nothing can be written to it; what else `TrustStore` throws.
    static func open(beside keyFile: URL) throws -> TrustStore {
        let file = url(beside: keyFile)
        do { return try TrustStore(file: file) } catch {
            let paths = [file, file.deletingLastPathComponent()].map(\.path).filter { FileManager.default.fileExists(atPath: $0) }
            guard error.code == .internalError, paths.contains(where: { access($0, W_OK) != 0 }) else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
        }
    }

    static func remove(beside keyFile: URL) {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url(beside: keyFile).path + suffix)
        }
    }
}
