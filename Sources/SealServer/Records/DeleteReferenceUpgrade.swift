import SealStatements

/// Enters the `deleteSelf` references of records that were stored before there was an index of them: at the first start
/// after the upgrade, before anything is served, so that no target is deleted without them. Each step is a transaction with
/// how far it came; a start that is cut short is gone on with at the next.
enum DeleteReferenceUpgrade {
    private static let batch = 500

    /// All of what is there is gone through (again).
    static let restart = """
        DELETE FROM delete_reference_upgrade;
        INSERT INTO delete_reference_upgrade (singleton, owner, zone, record)
            SELECT 1, MIN(owner), 0, '' FROM record HAVING COUNT(*) > 0;
        """

    static func run(_ database: any SQLDatabase) async throws {
        while try await database.write({ try step($0) }) {}
    }

    /// - Returns: whether there is more to do.
    private static func step(_ connection: any SQLConnection) throws -> Bool {
        let place = try connection.first("SELECT owner, zone, record FROM delete_reference_upgrade") {
            (owner: try $0.int64(0), zone: try $0.int64(1), record: try $0.text(2))
        }
        guard let place else { return false }
        let found = try connection.rows(
            """
            SELECT owner, zone, name, deleted, delete_references, fields FROM record WHERE (owner, zone, name) > ($1, $2, $3)
            ORDER BY owner, zone, name LIMIT $4
            """, [.integer(place.owner), .integer(place.zone), .text(place.record), .integer(Int64(batch))], Stored.init)
        for record in found { try record.enter(connection) }
        guard found.count == batch, let last = found.last else {
            try connection.execute("DELETE FROM delete_reference_upgrade")
            return false
        }
        try connection.execute(
            "UPDATE delete_reference_upgrade SET owner = $1, zone = $2, record = $3", last.key)
        return true
    }

    private struct Stored {
        let key: [SQLValue]
        /// Deleted, or saved since.
        let isDone: Bool
        let fields: [UInt8]

        init(_ row: any SQLRow) throws {
            key = [.integer(try row.int64(0)), .integer(try row.int64(1)), .text(try row.text(2))]
            isDone = try row.bool(3) || row.int64(4) > 0
            fields = try row.bytes(5)
        }

        func enter(_ connection: any SQLConnection) throws {
            guard !isDone else { return }
            let references = try PlainFields.values(fields).flatMap { DeleteReference.all(in: $0.value, field: $0.key) }
            guard !references.isEmpty else { return }
            for reference in references {
                try connection.execute(
                    """
                    INSERT INTO delete_reference (owner, zone, target, source, field) VALUES ($1, $2, $4, $3, $5)
                    ON CONFLICT (owner, zone, target, source, field) DO NOTHING
                    """, key + [.text(reference.target), .text(reference.field)])
            }
            try connection.execute(
                "UPDATE record SET delete_references = $4 WHERE owner = $1 AND zone = $2 AND name = $3",
                key + [.integer(Int64(references.count))])
        }
    }
}

extension Migration {
    /// How far the upgrade came; no row when it is done.
    static let deleteReferenceUpgrade = Migration(
        name: "delete-reference-upgrade",
        sql: """
            CREATE TABLE delete_reference_upgrade (
                singleton BIGINT NOT NULL PRIMARY KEY,
                owner BIGINT NOT NULL,
                zone BIGINT NOT NULL,
                record TEXT NOT NULL
            );
            \(DeleteReferenceUpgrade.restart)
            """)
}
