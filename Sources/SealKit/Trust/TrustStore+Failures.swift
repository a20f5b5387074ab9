package import Foundation
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
            if let file {
                let folder = file.deletingLastPathComponent()
                if let reason = refusal(toWrite: file) ?? refusal(toWrite: folder.path) { return unwritable(reason) }
                if freeBytes(at: folder.path) == 0 {
                    return SealKitError(
                        .storageFull, "\(what) cannot be written to: the disk of \(folder.path) is full",
                        remedy: "free some space and try again")
                }
            }
            return SealKitError(
                .internalError,
                "\(what) cannot be used\(path): \(code.map { "SQLite's error \($0.rawValue)" } ?? "\(type(of: error))")",
                remedy: "check the file and its disk")
        }
    }

    private static let what = "this device's record of what it has verified"

    static func unwritable(_ reason: String) -> SealKitError {
        SealKitError(
            .internalError, "\(what) cannot be written to: \(reason)",
            remedy: "make the file and its folder writable for you, or keep them elsewhere")
    }

    /// Whether this user may not write to what there is of a store, or to its folder.
    package static func isUnwritable(_ file: URL) -> Bool {
        let folder = file.deletingLastPathComponent().path
        return refusal(toWrite: file) != nil || access(folder, F_OK) == 0 && refusal(toWrite: folder) != nil
    }

    /// Why a database cannot be written to, which has files of its own beside it; nil where nothing seems to be in the
    /// way.
    static func refusal(toWrite file: URL) -> String? {
        for suffix in ["", "-wal", "-shm"] where access(file.path + suffix, F_OK) == 0 {
            if let reason = refusal(toWrite: file.path + suffix) { return reason }
        }
        return nil
    }

    private static func refusal(toWrite path: String) -> String? {
        access(path, W_OK) == 0 ? nil : "\(path): \(String(cString: strerror(errno)))"
    }
}
