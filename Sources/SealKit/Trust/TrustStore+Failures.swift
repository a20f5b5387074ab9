import Foundation
import GRDB
import SealSystem

extension Error {
    /// The task was cancelled: such a transaction has left nothing behind. GRDB says it by either error, the second one
    /// where a statement was under way.
    var isOfCancelledTransaction: Bool {
        self is CancellationError || (self as? DatabaseError)?.isInterruptionError == true
    }
}

extension TrustStore {
    /// What a failure of the database means to whoever has to mend it.
    static func failure(_ error: any Error, _ file: URL?) -> SealKitError {
        if let error = error as? SealKitError { return error }
        if error.isOfCancelledTransaction { return .cancelled }
        let path = file.map { " (\($0.path))" } ?? ""
        let what = "this device's record of what it has verified"
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?:
            return SealKitError(
                .storageFull, "this device's disk is full; \(what) was not written\(path)",
                remedy: "free some space and try again")
        case .SQLITE_CORRUPT?, .SQLITE_NOTADB?:
            return SealKitError(
                .internalError, "\(what) is damaged\(path)",
                remedy: "put back a copy of it, or move it away: protection against rollback begins anew then")
        case let code:
            if let file, let cause = obstacle(to: file) {
                return SealKitError(
                    cause.isFull ? .storageFull : .internalError, "\(what) cannot be written to: \(cause.reason)",
                    remedy: cause.isFull
                        ? "free some space and try again"
                        : "make the file and its folder writable for you, or keep them elsewhere")
            }
            return SealKitError(
                .internalError,
                "\(what) cannot be used\(path): \(code.map { "SQLite's error \($0.rawValue)" } ?? "\(type(of: error))")",
                remedy: "check the file and its disk")
        }
    }

    /// Why nothing can be written to a database, which has files of its own beside it; nil where nothing seems to be in
    /// the way.
    private static func obstacle(to file: URL) -> (reason: String, isFull: Bool)? {
        let folder = file.deletingLastPathComponent()
        for url in [file, folder] where access(url.path, W_OK) != 0 && (errno != ENOENT || url == folder) {
            return ("\(url.path): \(String(cString: strerror(errno)))", false)
        }
        guard freeBytes(at: folder.path) == 0 else { return nil }
        return ("the disk of \(folder.path) is full", true)
    }
}
