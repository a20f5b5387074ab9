import Foundation
import GRDB

/// A server's database as a file, read beside the server or without one. One task uses it.
package final class SQLiteFile: WholeDatabase {
    private let path: String
    private let queue: DatabaseQueue
    private let statements = SQLiteStatements()

    /// - Throws: `FileError` where there is none that may be read; `StorageError`, `unsettled` where a transaction has
    ///   to be taken back first.
    package init(reading path: String) throws {
        guard access(path, R_OK) == 0 else { throw FileError(path: path, action: "read", code: errno) }
        self.path = path
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        queue = try Self.storage { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Makes a new file, for its owner alone, which nobody else knows of yet.
    /// - Parameter mostPages: of 4 KiB, for tests of a full disk.
    /// - Throws: `FileError`, `StorageError`.
    package init(making path: String, mostPages: Int? = nil) throws {
        try PrivateFiles.createFile(at: path)
        self.path = path
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            // As the server's own. What a transaction changes goes to the file before it ends: it may be more than
            // there is memory.
            try database.execute(
                sql:
                    "PRAGMA page_size = 4096; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA trusted_schema = OFF"
            )
            if let mostPages { try database.execute(sql: "PRAGMA max_page_count = \(mostPages)") }
        }
        queue = try Self.storage { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Brings what a server that was killed left in the write-ahead log into the file, and takes back what one had
    /// begun without a log: the file can be read alone then, and renamed.
    package static func settle(_ path: String) throws {
        try storage {
            let queue = try DatabaseQueue(path: path)
            _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try queue.close()
        }
    }

    package func write<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        try Self.storage {
            try queue.writeWithoutTransaction { database in
                try SQLiteConnection(database: database, statements: statements).transaction { try body($0) }
            }
        }
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
