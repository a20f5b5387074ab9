package import SealPrimitives
package import SealStatements
package import SealStorage

/// Signs verification tokens.
package struct TokenIssuer: Sendable {
    package let keys: TokenKeys
    package let origin: ServerOrigin
    private let peers: Peers

    /// - Parameter peers: the servers that have to know what it signs with.
    package init(keys: TokenKeys, origin: ServerOrigin, peers: Peers) {
        self.keys = keys
        self.peers = peers
        self.origin = origin
    }

    /// - Parameters:
    ///   - routingID: empty when no share was asked about.
    ///   - invitationID: the seat; nil when the address was not invited.
    ///   - randomID: 16 random bytes.
    package func issue(
        container: String, user: UserID, addressHash: [UInt8], routingID: [UInt8], invitationID: ID16?, now: Int64,
        randomID: [UInt8]
    ) throws -> String {
        let claims = TokenClaims(
            iss: origin.value, aud: container, sub: user.recordName, adr: Hex.encode(addressHash),
            shr: Base64URL.encode(routingID), par: invitationID?.hex ?? "", issued: now, jti: Base64URL.encode(randomID)
        )
        let key = keys.signing(beside: peers, now: now)
        return PasetoPublic.sign(
            try claims.encoded(), footer: try TokenFooter(kid: key.id).encoded(), key: key.signingKey)
    }
}
