import Foundation
import GRDB

/// A server's database as a file, read beside the server or without one. One task uses it.
package final class SQLiteFile {
    private let path: String
    private let queue: DatabaseQueue
    private let statements = SQLiteStatements()

    /// - Throws: `FileError` where there is none that may be read; `StorageError`.
    package init(reading path: String) throws {
        guard access(path, R_OK) == 0 else { throw FileError(path: path, action: "read", code: errno) }
        self.path = path
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        queue = try Self.storage { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// One moment of it.
    package func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try Self.storage {
            try queue.unsafeRead { database in
                let connection = SQLiteConnection(database: database, statements: statements)
                try connection.execute("BEGIN")
                // It has written nothing: ending the snapshot is all that this does.
                defer { connection.rollBack() }
                return try body(connection)
            }
        }
    }

    /// Copies one moment of it into a new file, beside whoever writes, and looks whether the copy is sound.
    /// - Returns: what SQLite finds wrong with the copy; nothing for a sound one.
    /// - Throws: `FileError`, `StorageError`.
    package func copy(to path: String) throws -> [String] {
        // SQLite would make it for everybody to read.
        try PrivateFiles.createFile(at: path)
        return try Self.storage {
            let copy = try DatabaseQueue(path: path)
            try queue.backup(to: copy)
            let faults = try copy.writeWithoutTransaction { database in
                // One file, with no journal beside it.
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                return try String.fetchAll(database, sql: "PRAGMA quick_check(10)")
            }
            try copy.close()
            return faults == ["ok"] ? [] : faults
        }
    }

    /// What SQLite finds wrong with it: pages, indexes and references. Reads all of it.
    package func faults() throws -> [String] {
        try Self.storage {
            try queue.unsafeRead { database in
                let found = try String.fetchAll(database, sql: "PRAGMA integrity_check(100)").filter { $0 != "ok" }
                let references = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check")
                    .map { "a row of \($0[0] as String? ?? "a table") refers to one that is not there" }
                return found + Set(references).sorted()
            }
        }
    }

    package func close() {
        statements.removeAll()
        // Nothing was written: there is nothing that could be lost.
        try? queue.close()
    }

    private static func storage<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError {
            throw StorageError(
                code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: errno)
        }
    }
}
