import SealPrimitives
import SealStatements
package import SealStorage
import SealWire
import SwiftProtobuf

/// What one user has made in a public database, whoever changed it since: by name, since there is no feed to go by.
package enum CreatedRecords {
    /// That the owner is a public database's is said once more, or the index, which has those alone, could not be used.
    package static let query = """
        SELECT \(StoredRecord.columns) FROM record
        WHERE owner = $1 AND owner < 0 AND zone = $2 AND creator = $3 AND deleted = 0 AND name > $4
        ORDER BY name LIMIT $5
        """

    /// - Parameter name: the page begins after it; empty for the first one.
    /// - Throws: `invalidArguments` for what is no record's name.
    package static func check(after name: String) throws(ServerError) {
        guard name.isEmpty || Names.isPlain(name) else {
            throw ServerError(
                .invalidArguments, "A record's name has 1 to \(Limits.nameBytes) printable ASCII characters.",
                remedy: "Go on after the last name of the answer before.")
        }
    }

    /// A serialized `CreatedRecordsResponse`, of what the session's user has made.
    /// - Throws: `zoneNotFound` in any database but the public one.
    package static func page(
        of session: Session, _ path: DatabasePath, _ schemas: SchemaStore, after name: String, limit: Int,
        _ connection: any SQLConnection
    ) throws -> [UInt8] {
        let creator = try Caller(session, container: path.container, in: connection).userID
        guard let rights = try PublicRights.of(session, path, schemas, in: connection) else {
            throw PublicZone.notFound
        }
        return try page(
            of: creator, in: PublicZone.find(path, in: connection), rights: rights, after: name, limit: limit,
            connection)
    }

    /// - Parameter rights: of the creator. What it may not read is named and refused, so that nobody takes a part for
    ///   the whole.
    private static func page(
        of creator: UserID, in zone: ZoneRow, rights: PublicRights, after name: String, limit: Int,
        _ connection: any SQLConnection
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: 64 * 1024)
        var authors = PublicAuthors()
        var count = 0
        var moreComing = false
        let values: [SQLValue] = zone.key + [.blob(creator.id.bytes), .text(name), .integer(Int64(limit + 1))]
        try connection.stream(query, values) { row in
            guard count < limit else {
                moreComing = true
                return false
            }
            let record = try StoredRecord(row)
            let statement = try Statement(canonicalBytes: record.statement)
            if let refusal = rights.refusalToRead(statement) {
                try writer.failed(record.name, refusal)
            } else {
                let bytes = try record.serialized(desired: nil)
                guard count == 0 || writer.bytes.count + bytes.count <= RecordFeed.pageBytes else {
                    moreComing = true
                    return false
                }
                writer.found(record.name, bytes)
                authors.add(statement)
            }
            count += 1
            return true
        }
        writer.number(2, moreComing ? 1 : 0)
        for chain in try authors.chains(in: zone.container, connection) { writer.blob(3, try chain.serializedBytes()) }
        return writer.bytes
    }
}
