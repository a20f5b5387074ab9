import Foundation
import SealPrimitives
import SealStatements
import SealWire

/// The server's half of share URLs, and who may take a placeholder's seat.
enum StoredLinks {
    struct Row: Sendable {
        let zone: ZoneRow
        /// Nil for the share-wide URL.
        let invitationID: ID16?
        let preview: Data
    }

    static let keptSecretBytes = 256

    /// The link of a routing id, with its zone, if that is open.
    static func find(_ routingID: Data, in connection: any SQLConnection) throws -> Row? {
        guard routingID.count == ID16.byteCount else { return nil }
        return try connection.first(
            """
            SELECT \(ZoneRow.columns), l.invitation, l.preview FROM link l
            JOIN zone z ON z.owner = l.owner AND z.zone = l.zone WHERE l.routing = $1 AND z.closed = 0
            """, [.data(routingID)]
        ) { row in
            let invitation = try row.bytes(ZoneRow.columnCount)
            return Row(
                zone: try ZoneRow(row), invitationID: invitation.isEmpty ? nil : try ID16(invitation),
                preview: try row.data(ZoneRow.columnCount + 1))
        }
    }

    static func all(of zone: ZoneRow, in connection: any SQLConnection) throws -> [Sealkit_V1_Link] {
        try connection.rows(
            """
            SELECT routing, invitation, kept_secret, preview FROM link WHERE owner = $1 AND zone = $2
            ORDER BY invitation, routing
            """, zone.key
        ) { row in
            var link = Sealkit_V1_Link()
            link.routingID = try row.data(0)
            link.invitationID = try row.data(1)
            link.keptSecret = try row.data(2)
            link.preview = try row.data(3)
            return link
        }
    }

    /// Shape alone; whether its invitation is open is judged against the roster.
    /// - Throws: `invalidArguments`, `limitExceeded`.
    static func check(_ link: Sealkit_V1_Link) throws(ServerError) {
        guard link.routingID.count == ID16.byteCount, [0, ID16.byteCount].contains(link.invitationID.count) else {
            throw ServerError(
                .invalidArguments, "A link's ids are not well formed.",
                remedy: "Send 16 random bytes as routing id; 16 bytes or none as invitation id.")
        }
        guard link.keptSecret.count <= keptSecretBytes, link.preview.count <= Limits.previewBytes else {
            throw ServerError(
                .limitExceeded, "A link's kept secret or preview is too long.",
                remedy: "At most \(keptSecretBytes) and \(Limits.previewBytes) bytes.")
        }
    }

    /// - Throws: `invalidArguments` for a routing id that is taken, or an invitation that has its link already.
    static func store(_ link: Sealkit_V1_Link, zone: ZoneRow, in connection: any SQLConnection) throws {
        let isTaken = try connection.exists("SELECT 1 FROM link WHERE routing = $1", [.data(link.routingID)])
        guard !isTaken else {
            throw ServerError(
                .invalidArguments, "The routing id is in use.", remedy: "Make 16 random bytes for each new link.")
        }
        // A new share-wide link takes the place of the old one; a one-time link's keys stand in the roster and stay.
        let sql =
            link.invitationID.isEmpty
            ? """
            INSERT INTO link (owner, zone, invitation, routing, kept_secret, preview) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (owner, zone, invitation) DO UPDATE
            SET routing = excluded.routing, kept_secret = excluded.kept_secret, preview = excluded.preview
            """
            : """
            INSERT INTO link (owner, zone, invitation, routing, kept_secret, preview) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (owner, zone, invitation) DO NOTHING
            """
        let stored = try connection.execute(
            sql,
            zone.key + [.data(link.invitationID), .data(link.routingID), .data(link.keptSecret), .data(link.preview)])
        guard stored == 1 else {
            throw ServerError(
                .invalidArguments, "The invitation has its one-time link already.",
                remedy: "Revoke the invitation and make a new one.")
        }
    }

    static func storeAddress(
        _ hash: [UInt8], of invitation: ID16, zone: ZoneRow, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO placeholder_address (owner, zone, invitation, address_hash) VALUES ($1, $2, $3, $4)
            ON CONFLICT (owner, zone, invitation) DO UPDATE SET address_hash = excluded.address_hash
            """, zone.key + [.blob(invitation.bytes), .blob(hash)])
    }

    static func addressHash(
        of invitation: ID16, zone: ZoneRow, in connection: any SQLConnection
    ) throws -> [UInt8]? {
        try connection.first(
            "SELECT address_hash FROM placeholder_address WHERE owner = $1 AND zone = $2 AND invitation = $3",
            zone.key + [.blob(invitation.bytes)]
        ) { try $0.bytes(0) }
    }

    /// The invitation is over: its link and address go.
    static func remove(_ invitation: ID16, zone: ZoneRow, in connection: any SQLConnection) throws {
        let key = zone.key + [.blob(invitation.bytes)]
        try connection.execute("DELETE FROM link WHERE owner = $1 AND zone = $2 AND invitation = $3", key)
        try connection.execute(
            "DELETE FROM placeholder_address WHERE owner = $1 AND zone = $2 AND invitation = $3", key)
    }

    static func removeAll(of zone: ZoneRow, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM link WHERE owner = $1 AND zone = $2", zone.key)
        try connection.execute("DELETE FROM placeholder_address WHERE owner = $1 AND zone = $2", zone.key)
    }
}
