package import SealStatements
package import SealStorage
import SealWire

/// A reference with the action `deleteSelf`: its record goes with the target. The server keeps an index of them,
/// written in the transaction of the save, and only for records that have any. In public databases, where they lead to
/// nothing, there is none.
package struct DeleteReference: Sendable, Hashable {
    package let field: String
    package let target: String

    /// Sources that one target may have, as in CloudKit, and references that one record may have.
    package static let limit = 750

    /// References that one request may bring beside those that its records have already. A row is written of each
    /// while other writes wait.
    package static let mostPerRequest = 10_000

    static let tooManyTogether = ServerError(
        .limitExceeded, "The request brings more than \(mostPerRequest) new references with deleteSelf.",
        remedy: "Send fewer records at once, or use references without an action.")

    /// References that one request may take away, with those of the records that go along.
    static let mostGone = 50_000

    static let tooManyGone = ServerError(
        .limitExceeded, "The request takes away more than \(mostGone) references with deleteSelf.",
        remedy: "Send fewer records at once.")

    static let tooMany = ServerError(
        .limitExceeded,
        "At most \(limit) records may refer to one record with deleteSelf, and one record to \(limit) others.",
        remedy: "Use references without an action beyond that, and delete those records yourself.")

    /// Those in a field's value: a reference, or a list with some.
    package static func all(in value: Value, field: String) -> [DeleteReference] {
        switch value {
        case .reference(let reference) where reference.action == .deleteSelf:
            [DeleteReference(field: field, target: reference.recordName)]
        case .list(let elements):
            Array(Set(elements.flatMap { all(in: $0, field: field) }))
        default: []
        }
    }

    // MARK: The index

    /// - Parameter hadSome: whether the record's former revision had any.
    package static func store(
        _ references: [DeleteReference], of source: String, hadSome: Bool, in zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws {
        let key = zone.key + [.text(source)]
        guard !references.isEmpty else {
            if hadSome {
                try connection.execute(
                    "DELETE FROM delete_reference WHERE owner = $1 AND zone = $2 AND source = $3", key)
            }
            return
        }
        let (former, new) = (hadSome ? try stored(of: source, in: zone, connection) : [], Set(references))
        try write(
            former.subtracting(new), key,
            "DELETE FROM delete_reference WHERE owner = $1 AND zone = $2 AND source = $3 AND target = $4 AND field = $5",
            connection)
        try write(
            new.subtracting(former), key,
            "INSERT INTO delete_reference (owner, zone, source, target, field) VALUES ($1, $2, $3, $4, $5)", connection)
    }

    private static func write(
        _ references: Set<DeleteReference>, _ key: [SQLValue], _ sql: String, _ connection: any SQLConnection
    ) throws {
        let sorted = references.sorted { ($0.target, $0.field) < ($1.target, $1.field) }
        try connection.executeEach(sql, sorted.map { key + [.text($0.target), .text($0.field)] })
    }

    /// Those that a record has in the index.
    static func stored(
        of source: String, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Set<DeleteReference> {
        Set(
            try connection.rows(
                "SELECT field, target FROM delete_reference WHERE owner = $1 AND zone = $2 AND source = $3",
                zone.key + [.text(source)]
            ) { DeleteReference(field: try $0.text("field"), target: try $0.text("target")) })
    }

    /// The records that refer to a target, each once, with one of the fields that do.
    static func sources(
        of target: String, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> [(source: String, field: String)] {
        try connection.rows(
            """
            SELECT source, MIN(field) AS field FROM delete_reference WHERE owner = $1 AND zone = $2 AND target = $3
            GROUP BY source ORDER BY source
            """, zone.key + [.text(target)]
        ) { (source: try $0.text("source"), field: try $0.text("field")) }
    }
}
