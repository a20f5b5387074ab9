import Foundation

/// What a verification token says (PROTOCOL.md, "Verification tokens"). The names are PASETO's registered ones and
/// three of our own.
struct TokenClaims: Codable, Sendable, Equatable {
    static let lifetime: Int64 = 15 * 60_000_000

    /// The server's origin.
    var iss: String
    /// The container.
    var aud: String
    /// The user record name that proved the address.
    var sub: String
    /// The address's keyed hash, in hexadecimal digits.
    var adr: String
    /// The share's routing id in base64url; empty when the address was linked for no share.
    var shr: String
    /// The invitation whose seat the address may take, in hexadecimal digits; empty when it was not invited.
    var par: String
    var iat: String
    var nbf: String
    var exp: String
    /// Unique: what a server remembers of a spent token.
    var jti: String

    /// The canonical JSON that is signed: keys in order.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self))
    }

    init(
        iss: String, aud: String, sub: String, adr: String, shr: String, par: String, issued: Int64, jti: String
    ) {
        self.iss = iss
        self.aud = aud
        self.sub = sub
        self.adr = adr
        self.shr = shr
        self.par = par
        iat = Self.text(issued)
        nbf = iat
        exp = Self.text(issued + Self.lifetime)
        self.jti = jti
    }

    init(decoding bytes: [UInt8]) throws { self = try JSONDecoder().decode(TokenClaims.self, from: Data(bytes)) }

    /// Whether the token is good at this time. A clock that is set back by seconds does not undo what was just proven.
    func isInForce(at now: Int64) -> Bool {
        guard let start = Self.time(nbf), let end = Self.time(exp) else { return false }
        return start - PendingVerification.clockTolerance <= now && now < end
    }

    /// ISO 8601, whole seconds, UTC. Microseconds in, microseconds out.
    static func text(_ time: Int64) -> String {
        Date(timeIntervalSince1970: Double(time / 1_000_000)).formatted(.iso8601)
    }

    static func time(_ text: String) -> Int64? {
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        return Int64(date.timeIntervalSince1970) * 1_000_000
    }
}

/// Names the signing key.
struct TokenFooter: Codable, Sendable, Equatable {
    var kid: String

    func encoded() throws -> [UInt8] { [UInt8](try JSONEncoder().encode(self)) }
    init(kid: String) { self.kid = kid }
    init(decoding bytes: [UInt8]) throws { self = try JSONDecoder().decode(TokenFooter.self, from: Data(bytes)) }
}
