import Foundation
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Queries of the log that operators keep by name, for themselves and each other.
package enum SavedLogQueries {
    package static let most = 100
    private static let mostBytes = 4_096

    /// By name.
    package static func all(in connection: any SQLConnection) throws -> [Sealkit_V1_SavedLogQuery] {
        try connection.rows("SELECT name, query FROM log_query ORDER BY name") { row in
            let (name, query) = (try row.text("name"), try row.bytes("query"))
            return try .with {
                $0.name = name
                $0.query = try Sealkit_V1_LogRequest(serializedBytes: query)
            }
        }
    }

    /// In the place of the one of its name.
    /// - Throws: `invalidArguments`; `limitExceeded` where there are too many.
    package static func save(_ saved: Sealkit_V1_SavedLogQuery, in connection: any SQLConnection) throws {
        try MonitoringName.check(saved.name)
        var query = saved.query
        (query.cursor, query.limit) = (Data(), 0)
        let bytes: [UInt8] = try query.serializedBytes()
        guard bytes.count <= mostBytes else {
            throw ServerError(
                .invalidArguments, "The query takes more than \(mostBytes) bytes.", remedy: "Look for less at once.")
        }
        try connection.execute(
            """
            INSERT INTO log_query (name, query) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET query = excluded.query
            """, [.text(saved.name), .blob(bytes)])
        let count = try connection.first("SELECT COUNT(*) AS count FROM log_query") { try $0.int64("count") } ?? 0
        guard count <= Int64(most) else {
            throw ServerError(
                .limitExceeded, "A server keeps at most \(most) queries.", remedy: "Remove those that nobody uses.")
        }
    }

    /// - Throws: `unknownItem`.
    package static func remove(_ name: String, in connection: any SQLConnection) throws {
        guard try connection.execute("DELETE FROM log_query WHERE name = $1", [.text(name)]) > 0 else {
            throw ServerError(
                .unknownItem, "No query is kept by this name.", remedy: "List the queries to see their names.")
        }
    }
}

/// What operators name alerts and queries by: it goes into mails, terminals and pages.
enum MonitoringName {
    static let mostBytes = 64

    /// - Throws: `invalidArguments`.
    static func check(_ name: String) throws(ServerError) {
        guard (1...mostBytes).contains(name.utf8.count), name.isOneLine else {
            throw ServerError(
                .invalidArguments, "A name has 1 to \(mostBytes) bytes of printable text.", remedy: "Use a short one.")
        }
    }
}

extension String {
    /// One line, and nothing that a terminal might obey.
    var isOneLine: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}
