package import SealPrimitives
package import SealStorage

/// Which open invitation of a share an address may take. Sharing knows; verification writes it into the token.
package protocol PlaceholderSeats: Sendable {
    /// Nil when the address was not invited, or the routing id names no share.
    func invitationID(routingID: [UInt8], addressHash: [UInt8], in connection: any SQLConnection) throws -> ID16?
}
