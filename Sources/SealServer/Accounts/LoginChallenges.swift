import SealPrimitives
import SealStatements
import SealWire
import Synchronization

/// Challenges for logging in: good for two minutes, for one login key, once.
///
/// A challenge carries its own expiry and MAC, so asking for challenges costs the server no memory however many come. Only
/// those that came back rightly signed are remembered, until they would have expired.
final class LoginChallenges: Sendable {
    static let lifetime: Int64 = 120_000_000
    private static let nonceBytes = 16
    private static let byteCount = nonceBytes + 8 + 32
    /// Two minutes of more logins than one machine can check.
    private static let mostSpent = 1_000_000

    /// Of this process only: a restart makes all challenges void, so none is good twice.
    private let key: SecretBytes
    private let spent = Mutex<[[UInt8]: Int64]>([:])

    init(key: SecretBytes) { self.key = key }

    func make(for loginKey: VerificationKey, now: Int64, nonce: [UInt8]) -> (challenge: [UInt8], expires: Int64) {
        let expires = now + Self.lifetime
        var challenge = nonce
        challenge.appendLittleEndian(expires)
        return (challenge + mac(challenge, loginKey), expires)
    }

    /// Whether this server made the challenge for that key, not long ago.
    func isGood(_ challenge: [UInt8], for loginKey: VerificationKey, now: Int64) -> Bool {
        guard challenge.count == Self.byteCount else { return false }
        let stated = Array(challenge.prefix(Self.nonceBytes + 8))
        guard constantTimeEqual(Array(challenge.suffix(32)), mac(stated, loginKey)) else { return false }
        var reader = CanonicalReader(Array(stated.suffix(8)))
        guard let expires = try? reader.number(Int64.self) else { return false }
        return expires > now && expires <= now + Self.lifetime
    }

    /// Uses the challenge up; false when it was used before.
    func spend(_ challenge: [UInt8], now: Int64) throws(ServerError) -> Bool {
        enum Outcome { case first, repeated, full }
        let outcome: Outcome = spent.withLock { spent in
            guard spent[challenge] == nil else { return .repeated }
            // Swept now and then, not on each login.
            if spent.count >= 1024, spent.count.nonzeroBitCount == 1 || spent.count >= Self.mostSpent {
                spent = spent.filter { $0.value > now }
            }
            guard spent.count < Self.mostSpent else { return .full }
            spent[challenge] = now + Self.lifetime
            return .first
        }
        guard outcome != .full else {
            throw ServerError(.serviceUnavailable, "Too many people log in at once.", remedy: "Try again.", retryAfter: 30)
        }
        return outcome == .first
    }

    private func mac(_ stated: [UInt8], _ loginKey: VerificationKey) -> [UInt8] {
        ServerHash.keyed(key, .challenge, stated, loginKey.bytes)
    }
}
