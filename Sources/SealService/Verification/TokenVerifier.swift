package import SealPrimitives
package import SealStatements
package import SealStorage
import SealWire

/// Checks verification tokens, and makes sure that each is used once.
package struct TokenVerifier: Sendable {
    /// How long a spent token is remembered after its time: a clock that jumps forth and back gives none a second life.
    package static let memory: Int64 = 7 * 86_400_000_000

    package let keys: TokenKeys
    package let origin: ServerOrigin

    package init(keys: TokenKeys, origin: ServerOrigin) {
        self.keys = keys
        self.origin = origin
    }

    /// Spends a token in the caller's transaction: when that is taken back, so is this.
    ///
    /// Throws `verificationFailed`, whatever it is that is not right: signature, time, container, person, share, seat,
    /// address, or that it was spent before.
    package func spend(
        _ token: String, container: String, user: UserID, routingID: [UInt8], invitationID: ID16, addressHash: [UInt8],
        now: Int64, in connection: any SQLConnection
    ) throws {
        guard let claims = verified(token), claims.iss == origin.value, claims.aud == container,
            claims.sub == user.recordName, claims.shr == Base64URL.encode(routingID), claims.par == invitationID.hex,
            constantTimeEqual(Array(claims.adr.utf8), Array(Hex.encode(addressHash).utf8)), claims.isInForce(at: now),
            let expires = TokenClaims.time(claims.exp)
        else { throw ServerError.wrongProof }
        // Expired tokens are refused by their time.
        try connection.dropSome(
            of: "spent_token", key: "token_id", where: "expires <= $1", [.integer(now - Self.memory)])
        let inserted = try connection.execute(
            "INSERT INTO spent_token (token_id, expires) VALUES ($1, $2) ON CONFLICT (token_id) DO NOTHING",
            [.text(claims.jti), .integer(expires)])
        guard inserted == 1 else { throw ServerError.wrongProof }
    }

    private func verified(_ token: String) -> TokenClaims? {
        guard let footer = try? PasetoPublic.unverifiedFooter(token), let named = try? TokenFooter(decoding: footer),
            let key = keys.key(named.kid),
            let message = try? PasetoPublic.verify(token, footer: footer, key: key.signingKey.verificationKey)
        else { return nil }
        return try? TokenClaims(decoding: message)
    }
}

extension ServerError {
    /// One error for every cause: which it was would help only an attacker.
    package static let wrongProof = ServerError(
        .verificationFailed, "The code or token is wrong, used up or expired.",
        remedy: "Ask for a new code, and send it back within ten minutes from the identity that asked.")
}
