package import SealPrimitives
package import SealStorage

/// Which seat an address may take: for the verification of codes.
package struct SharingPlaceholderSeats: PlaceholderSeats {
    package init() {}

    /// With a one-time URL the seat it was made for; with the share-wide URL the seat that was made for the address, so
    /// that its owner can prove the address and is then told to ask for a URL of its own.
    package func invitationID(
        routingID: [UInt8], addressHash: [UInt8], in connection: any SQLConnection
    ) throws -> ID16? {
        let found = try connection.first(
            """
            SELECT a.invitation FROM link l
            JOIN zone z ON z.owner = l.owner AND z.zone = l.zone AND z.closed = 0
            LEFT JOIN share s ON s.owner = l.owner AND s.zone = l.zone AND s.share = l.share
            JOIN placeholder_address a ON a.owner = l.owner AND a.zone = l.zone AND a.share = l.share AND a.address_hash = $2
                AND (l.invitation = a.invitation OR length(l.invitation) = 0)
            WHERE l.routing = $1 AND (l.share = 0 OR s.closed = 0)
            """, [.blob(routingID), .blob(addressHash)]
        ) { try $0.bytes("invitation") }
        return try found.map { try ID16($0) }
    }
}
