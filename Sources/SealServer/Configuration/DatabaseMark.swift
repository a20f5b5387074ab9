import Foundation
import SealStorage
import SealSystem

/// What a data folder says of a database that is not in it: the file `postgresql` has its name, and the number of the
/// first run of a server on it, which no two databases share and which a dump takes along.
///
/// Assets and telemetry go with one database. A server that is started with another one would begin with nothing, and
/// take what others have stored for nobody's.
package struct DatabaseMark {
    private let folder: String

    private var path: String { folder + "/postgresql" }
    private var file: String { folder + "/sealkit.sqlite" }

    /// - Parameter folder: the data folder.
    package init(in folder: String) { self.folder = folder }

    /// The PostgreSQL database that the folder goes with, as it was named last; nil where the database is in the
    /// folder, or nowhere yet.
    package var database: String? {
        guard FileStatus(path: path) != nil else { return nil }
        return lines.first ?? "a database of PostgreSQL"
    }

    private var firstRun: Int64? { lines.dropFirst().first.flatMap { Int64($0) } }

    private var lines: [String] {
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Throws where the folder goes with another kind of database than `address` names; nil is the file in it.
    func require(_ address: PostgresAddress?) throws(ConfigurationError) {
        if address != nil {
            guard FileStatus(path: file) == nil else { throw .databaseInFolder(path: file) }
        } else if let database {
            throw .databaseElsewhere(database: database, mark: path)
        }
    }

    /// Throws where the folder goes with another database than the one that was opened.
    func require(_ address: PostgresAddress, firstRun found: Int64) throws(ConfigurationError) {
        if let firstRun, firstRun != found, let database {
            throw .databaseOther(given: address.name, database: database, mark: path)
        }
    }

    func write(_ address: PostgresAddress, firstRun: Int64) throws(FileError) {
        let text = "\(address.name)\n\(firstRun)\n"
        guard lines.joined(separator: "\n") + "\n" != text else { return }
        try PrivateFiles.remove(path + ".new")
        let writer = try FileWriter(path + ".new")
        try writer.write(Array(text.utf8))
        _ = try writer.finish()
        try PrivateFiles.rename(path + ".new", to: path)
    }
}
