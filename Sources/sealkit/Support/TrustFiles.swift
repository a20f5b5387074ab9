import Foundation

/// What an account has verified, beside its key file: an SQLite database of up to three files.
enum TrustFiles {
    static func url(beside keyFile: URL) -> URL { URL(fileURLWithPath: keyFile.path + ".trust") }

    static func remove(beside keyFile: URL) {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: url(beside: keyFile).path + suffix)
        }
    }
}
