import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// The one zone of a container's public database. Its row is a zone's like any other, so that records, assets and
/// indexes are kept as everywhere; its owner is nobody's identity, but the negative of the database's own number.
package enum PublicZone {
    package static let notFound = ServerError(
        .zoneNotFound, "The public database has no zone but its default zone.",
        remedy: "Name the zone \(Names.defaultZone), or none, and no owner.")

    /// - Throws: `zoneNotFound` for any zone but the default one.
    package static func check(_ id: Sealkit_V1_ZoneID) throws(ServerError) {
        guard id.zoneName.isEmpty || id.zoneName == Names.defaultZone,
            id.ownerName.isEmpty || id.ownerName == UserID(.zero).recordName
        else { throw notFound }
    }

    /// The zone; where nobody has written yet, one that is empty.
    package static func find(_ path: DatabasePath, in connection: any SQLConnection) throws -> ZoneRow {
        try connection.first(
            """
            SELECT \(ZoneRow.columns) FROM public_database p JOIN zone z ON z.owner = -p.id AND z.zone = 1
            WHERE p.container = $1 AND p.environment = $2
            """, key(path), ZoneRow.init) ?? ZoneRow(unwritten: path)
    }

    /// The zone, made at the first write.
    package static func open(_ path: DatabasePath, in connection: any SQLConnection) throws -> ZoneRow {
        let known = try find(path, in: connection)
        guard known.owner == ZoneRow.nobody else { return known }
        let made = try connection.first(
            "INSERT INTO public_database (container, environment) VALUES ($1, $2) RETURNING id", key(path)
        ) { try $0.int64("id") }
        guard let made else { throw StorageError.failed(code: 0, message: "the public database's row was not made") }
        try connection.execute(
            """
            INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                participants, closed)
            VALUES ($1, 1, $2, $3, $4, $5, 0, $6, 0, $7, 0, 0)
            """,
            [.integer(-made)] + key(path) + [
                .text(known.ownerName.recordName), .text(known.name), .integer(Int64(known.incarnation)),
                .blob(known.head.bytes),
            ])
        return try find(path, in: connection)
    }

    private static func key(_ path: DatabasePath) -> [SQLValue] {
        [.text(path.container), .integer(Int64(path.environment.rawValue))]
    }
}

extension ZoneRow {
    /// Owns nothing: neither identities nor public databases are numbered so.
    static let nobody: Int64 = 0

    /// It is a public database's only zone.
    var isPublic: Bool { owner < ZoneRow.nobody }

    /// A public database's zone that no row was made for yet.
    fileprivate init(unwritten path: DatabasePath) {
        owner = ZoneRow.nobody
        number = 1
        container = path.container
        environment = path.environment
        ownerName = UserID(.zero)
        name = Names.defaultZone
        position = 0
        incarnation = EpochContext.publicDatabase.incarnations.zone
        own = ScopeRow.State(sequence: 0, head: .zero, participants: 0, isClosed: false)
        run = 0
        watch = []
    }
}
