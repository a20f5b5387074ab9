package import SealStatements
package import SealStorage
import SealWire

/// A reference with the action `deleteSelf`: its record goes with the target. The server keeps an index of them,
/// written in the transaction of the save, and only for records that have any.
package struct DeleteReference: Sendable, Hashable {
    package let field: String
    package let target: String

    /// Sources that one target may have, as in CloudKit, and references that one record may have.
    package static let limit = 750

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
        if hadSome {
            try connection.execute(
                "DELETE FROM delete_reference WHERE owner = $1 AND zone = $2 AND source = $3",
                zone.key + [.text(source)])
        }
        for reference in references {
            try connection.execute(
                "INSERT INTO delete_reference (owner, zone, target, source, field) VALUES ($1, $2, $3, $4, $5)",
                zone.key + [.text(reference.target), .text(source), .text(reference.field)])
        }
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
