import SealQuery
import SealStatements
package import SealStorage

/// Makes the indexes that `IndexBuilds` notes, some records at a time, each in a transaction with how far it came: a
/// crash repeats nothing and leaves nothing out.
package enum IndexBuilder {
    private static let batch = 200

    /// Some records of the first index that is noted.
    /// - Returns: whether there is more to do.
    package static func step(_ schemas: SchemaStore, in connection: any SQLConnection) throws -> Bool {
        let found = try connection.first(
            "SELECT field, container, environment, type, owner, zone, record FROM index_build ORDER BY field LIMIT 1",
            [],
            IndexBuilds.Build.init)
        guard let build = found else { return false }
        let schema = try schemas.schema(build.container, build.environment, in: connection)
        try advance(build, schema.indexed[build.type], connection)
        return true
    }

    private static func advance(_ build: IndexBuilds.Build, _ type: IndexedType?, _ connection: any SQLConnection)
        throws
    {
        var done = 0
        var last = build.record
        if let zone = try zone(build, connection) {
            try connection.run(
                """
                SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND name > $3 AND deleted = 0
                ORDER BY name LIMIT $4
                """, zone.key + [.text(build.record), .integer(Int64(batch))]
            ) { row in
                let record = try StoredRecord(row)
                if let type, record.type == type.name {
                    try RecordIndex(zone: zone, connection: connection)
                        .add(try Query.Subject(record, type), at: record.position, type, build.field)
                }
                last = record.name
                done += 1
                return true
            }
            if done == batch {
                try keep(build, owner: zone.owner, zone: zone.number, record: last, connection)
                return
            }
        }
        let next = try connection.first(
            """
            SELECT \(ZoneRow.columns) FROM zone z WHERE (z.owner, z.zone) > ($1, $2) AND z.container = $3 AND z.environment = $4
            ORDER BY z.owner, z.zone LIMIT 1
            """,
            [
                .integer(build.owner), .integer(build.zone), .text(build.container),
                .integer(Int64(build.environment.rawValue)),
            ],
            ZoneRow.init)
        guard let next else {
            try connection.execute("DELETE FROM index_build WHERE field = $1", [.integer(build.field)])
            return
        }
        // What is there may be of another schema.
        try connection.execute(
            "DELETE FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3", next.key + [.integer(build.field)]
        )
        try keep(build, owner: next.owner, zone: next.number, record: "", connection)
    }

    private static func zone(_ build: IndexBuilds.Build, _ connection: any SQLConnection) throws -> ZoneRow? {
        try connection.first(
            "SELECT \(ZoneRow.columns) FROM zone z WHERE z.owner = $1 AND z.zone = $2",
            [.integer(build.owner), .integer(build.zone)], ZoneRow.init)
    }

    private static func keep(
        _ build: IndexBuilds.Build, owner: Int64, zone: Int64, record: String, _ connection: any SQLConnection
    ) throws {
        try connection.execute(
            "UPDATE index_build SET owner = $2, zone = $3, record = $4 WHERE field = $1",
            [.integer(build.field), .integer(owner), .integer(zone), .text(record)])
    }
}
