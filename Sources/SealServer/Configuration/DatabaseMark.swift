import SealStorage
import SealSystem

/// What a data folder says of a database that is not in it: the file `postgresql` has its name, and the number of the
/// first run of a server on it, which no two databases share and which a dump takes along.
///
/// Assets and telemetry go with one database. A server that is started with another one would begin with nothing, and
/// take what others have stored for nobody's.
package struct DatabaseMark {
    private let folder: String

    static let fileName = "postgresql"

    private var path: String { folder + "/" + Self.fileName }
    private var file: String { folder + "/" + SQLiteDatabase.fileName }

    /// - Parameter folder: the data folder.
    package init(in folder: String) { self.folder = folder }

    /// The PostgreSQL database that the folder goes with, as it was named last; nil where the database is in the
    /// folder, or nowhere yet.
    package var database: String? {
        guard FileStatus(path: path) != nil else { return nil }
        return (try? lines().first) ?? "a database of PostgreSQL"
    }

    /// None where there is no mark yet.
    /// - Throws: `FileError` for one that cannot be read: it is none to write over.
    private func lines() throws -> [String] {
        guard FileStatus(path: path) != nil else { return [] }
        let reader = try FileReader(path)
        var lines: [String] = []
        while lines.count < 2, let line = try reader.line() { lines.append(line) }
        return lines
    }

    /// Takes the mark away: the database is in the folder.
    func remove() throws { try PrivateFiles.remove(path) }

    /// Throws where the folder goes with another kind of database than `address` names; nil is the file in it.
    func require(_ address: PostgresAddress?) throws(ConfigurationError) {
        if address != nil {
            guard FileStatus(path: file) == nil else { throw .databaseInFolder(path: file) }
        } else if let database {
            throw .databaseElsewhere(database: database, mark: path)
        }
    }

    /// Throws where the folder goes with another database than the one that was opened.
    /// - Parameter found: 0 for one that no server ran on yet.
    func require(_ address: PostgresAddress, firstRun found: Int64) throws {
        let lines = try lines()
        guard lines.count > 1, let firstRun = Int64(lines[1]), firstRun != found else { return }
        throw ConfigurationError.databaseOther(given: address.name, database: lines[0], mark: path)
    }

    func write(_ address: PostgresAddress, firstRun: Int64) throws {
        let lines = [address.name, "\(firstRun)"]
        guard try self.lines() != lines else { return }
        try PrivateFiles.replace(path, with: lines.map { $0 + "\n" }.joined())
    }
}
