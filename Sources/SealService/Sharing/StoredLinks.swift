package import Foundation
package import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// The server's half of share URLs, and who may take a placeholder's seat.
package enum StoredLinks {
    package struct Row: Sendable {
        /// What the link is for.
        package let scope: ScopeRow
        /// Nil for the share-wide URL.
        package let invitationID: ID16?
        package let preview: Data
    }

    static let keptSecretBytes = 256

    /// The link of a routing id, with its scope, if that and its zone are open.
    package static func find(_ routingID: Data, in connection: any SQLConnection) throws -> Row? {
        guard routingID.count == ID16.byteCount else { return nil }
        return try connection.first(
            """
            SELECT \(ZoneRow.columns), l.invitation, l.preview, \(Shares.columns) FROM link l
            JOIN zone z ON z.owner = l.owner AND z.zone = l.zone
            LEFT JOIN share s ON s.owner = l.owner AND s.zone = l.zone AND s.share = l.share
            WHERE l.routing = $1 AND z.closed = 0 AND (l.share = 0 OR s.closed = 0)
            """, [.data(routingID)]
        ) { row in
            let invitation = try row.bytes("invitation")
            let zone = try ZoneRow(row)
            return Row(
                scope: try row.isNull("share") ? ScopeRow(zone) : ScopeRow(of: zone, row),
                invitationID: invitation.isEmpty ? nil : try ID16(invitation),
                preview: try row.data("preview"))
        }
    }

    /// The share-wide link, and the one-time ones that the caller made. A kept secret opens for its maker alone.
    package static func all(
        of scope: ScopeRow, for caller: Caller, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_Link] {
        try connection.rows(
            """
            SELECT routing, invitation, kept_secret, preview, maker FROM link
            WHERE owner = $1 AND zone = $2 AND share = $3 AND (maker = $4 OR length(invitation) = 0)
            ORDER BY invitation, routing
            """, scope.key + [.integer(caller.id)]
        ) { row in
            var link = Sealkit_V1_Link()
            link.routingID = try row.data("routing")
            link.invitationID = try row.data("invitation")
            if try row.int64("maker") == caller.id { link.keptSecret = try row.data("kept_secret") }
            link.preview = try row.data("preview")
            return link
        }
    }

    /// Seals a link's preview anew: the share-wide one's by any administrator, another's by its maker; and the kept
    /// secret, by its maker alone.
    /// - Throws: `unknownItem` for a routing id that is none of these.
    package static func update(
        _ link: Sealkit_V1_Link, by caller: Caller, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        let updated = try connection.execute(
            """
            UPDATE link SET preview = $5
            WHERE routing = $4 AND owner = $1 AND zone = $2 AND share = $3 AND (maker = $6 OR length(invitation) = 0)
            """, scope.key + [.data(link.routingID), .data(link.preview), .integer(caller.id)])
        guard updated == 1 else {
            throw ServerError(
                .unknownItem, "A link is none of this share's, or somebody else made it.",
                remedy: "Fetch the share's links and name those.")
        }
        guard !link.keptSecret.isEmpty else { return }
        try connection.execute(
            """
            UPDATE link SET kept_secret = $5
            WHERE routing = $4 AND owner = $1 AND zone = $2 AND share = $3 AND maker = $6
            """, scope.key + [.data(link.routingID), .data(link.keptSecret), .integer(caller.id)])
    }

    /// Whether an invitation has a URL of its own.
    static func hasOwn(_ invitation: ID16, scope: ScopeRow, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM link WHERE owner = $1 AND zone = $2 AND share = $3 AND invitation = $4",
            scope.key + [.blob(invitation.bytes)])
    }

    /// Shape alone; whether its invitation is open is judged against the roster.
    /// - Throws: `invalidArguments`, `limitExceeded`.
    package static func check(_ link: Sealkit_V1_Link) throws(ServerError) {
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
    package static func store(
        _ link: Sealkit_V1_Link, by caller: Caller, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        let isTaken = try connection.exists("SELECT 1 FROM link WHERE routing = $1", [.data(link.routingID)])
        guard !isTaken else {
            throw ServerError(
                .invalidArguments, "The routing id is in use.", remedy: "Make 16 random bytes for each new link.")
        }
        // A new share-wide link takes the place of the old one; a one-time link's keys stand in the roster and stay.
        let sql =
            link.invitationID.isEmpty
            ? """
            INSERT INTO link (owner, zone, share, invitation, routing, kept_secret, preview, maker)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (owner, zone, share, invitation) DO UPDATE SET routing = excluded.routing,
                kept_secret = excluded.kept_secret, preview = excluded.preview, maker = excluded.maker
            """
            : """
            INSERT INTO link (owner, zone, share, invitation, routing, kept_secret, preview, maker)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (owner, zone, share, invitation) DO NOTHING
            """
        let stored = try connection.execute(
            sql,
            scope.key + [
                .data(link.invitationID), .data(link.routingID), .data(link.keptSecret), .data(link.preview),
                .integer(caller.id),
            ])
        guard stored == 1 else {
            throw ServerError(
                .invalidArguments, "The invitation has its one-time link already.",
                remedy: "Revoke the invitation and make a new one.")
        }
    }

    static func storeAddress(
        _ hash: [UInt8], of invitation: ID16, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO placeholder_address (owner, zone, share, invitation, address_hash) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (owner, zone, share, invitation) DO UPDATE SET address_hash = excluded.address_hash
            """, scope.key + [.blob(invitation.bytes), .blob(hash)])
    }

    package static func addressHash(
        of invitation: ID16, scope: ScopeRow, in connection: any SQLConnection
    ) throws -> [UInt8]? {
        try connection.first(
            "SELECT address_hash FROM placeholder_address WHERE owner = $1 AND zone = $2 AND share = $3 AND invitation = $4",
            scope.key + [.blob(invitation.bytes)]
        ) { try $0.bytes("address_hash") }
    }

    /// All that are waited for, by their invitations.
    static func addressHashes(scope: ScopeRow, in connection: any SQLConnection) throws -> [ID16: [UInt8]] {
        let rows = try connection.rows(
            "SELECT invitation, address_hash FROM placeholder_address WHERE owner = $1 AND zone = $2 AND share = $3",
            scope.key
        ) { (try ID16(try $0.bytes("invitation")), try $0.bytes("address_hash")) }
        return Dictionary(rows) { $1 }
    }

    /// The invitation is over: its link and address go.
    package static func remove(_ invitation: ID16, scope: ScopeRow, in connection: any SQLConnection) throws {
        let key = scope.key + [.blob(invitation.bytes)]
        try connection.execute(
            "DELETE FROM link WHERE owner = $1 AND zone = $2 AND share = $3 AND invitation = $4", key)
        try removeAddress(of: invitation, scope: scope, in: connection)
    }

    static func removeAddress(of invitation: ID16, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM placeholder_address WHERE owner = $1 AND zone = $2 AND share = $3 AND invitation = $4",
            scope.key + [.blob(invitation.bytes)])
    }

    /// Those of one scope.
    package static func removeAll(of scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM link WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
        try connection.execute(
            "DELETE FROM placeholder_address WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }
}
