package import SealPrimitives
import SealStatements
package import SealStorage
import SealWire
import Synchronization

/// Challenges for logging in: good for two minutes, for one login key, once.
///
/// A challenge carries its own expiry and MAC, so asking for challenges costs the server no memory however many come;
/// all servers of a database make them by one key. Those that came back rightly signed are spent: a row says so to all
/// of them, over restarts too. This process remembers its own as well, in two pools: anybody can make login keys that
/// have no account, and neither memory nor rows are theirs to fill.
package final class LoginChallenges: Sendable {
    package static let lifetime: Int64 = 120_000_000
    /// By which the clocks of two servers may differ.
    private static let clockTolerance: Int64 = 60_000_000
    private static let nonceBytes = 16
    /// Of the nonce: says which start of a server made it.
    private static let startBytes = 8
    private static let byteCount = nonceBytes + 8 + 32
    /// Who signed a challenge.
    package enum Holder: Hashable, Sendable {
        /// A login key that has an account, or is given one now, which is counted by client address.
        case account
        /// Any other key.
        case stranger
    }

    /// How many spent challenges are remembered, of this process's own requests.
    package struct Capacity: Sendable {
        /// Two minutes of more logins than one machine can check.
        package var accounts = 1_000_000
        package var strangers = 100_000
    }

    private let key: SecretBytes
    private let start: [UInt8]
    private let capacity: Capacity
    private let spent = Mutex<[Holder: [[UInt8]: Int64]]>([:])

    /// - Parameters:
    ///   - key: the same for all servers of a database.
    ///   - start: of this start alone, eight random bytes.
    package init(key: SecretBytes, start: [UInt8], capacity: Capacity = Capacity()) {
        self.key = key
        self.start = start
        self.capacity = capacity
    }

    /// - Parameter nonce: eight random bytes.
    package func make(
        for loginKey: VerificationKey, now: Int64, nonce: [UInt8]
    ) -> (challenge: [UInt8], expires: Int64) {
        let expires = now + Self.lifetime
        var challenge = start + nonce
        challenge.appendLittleEndian(expires)
        return (challenge + mac(challenge, loginKey), expires)
    }

    /// Whether a server of this database made the challenge for that key, not long ago.
    package func isGood(_ challenge: [UInt8], for loginKey: VerificationKey, now: Int64) -> Bool {
        guard challenge.count == Self.byteCount else { return false }
        let stated = Array(challenge.prefix(Self.nonceBytes + 8))
        guard constantTimeEqual(Array(challenge.suffix(32)), mac(stated, loginKey)) else { return false }
        var reader = CanonicalReader(Array(stated.suffix(8)))
        guard let expires = try? reader.number(Int64.self) else { return false }
        return expires > now && expires <= now + Self.lifetime + Self.clockTolerance
    }

    /// Whether this process made the challenge: it remembers whether it was used.
    package func isOwn(_ challenge: [UInt8]) -> Bool { challenge.prefix(Self.startBytes).elementsEqual(start) }

    /// Uses the challenge up in a transaction.
    /// - Returns: false when it was used before, by whichever server.
    package static func spend(_ challenge: [UInt8], now: Int64, in connection: any SQLConnection) throws -> Bool {
        // For as long as any server may take it for good, whatever their clocks are.
        let expires = now + lifetime + 3 * clockTolerance
        return try connection.execute(
            "INSERT INTO spent_challenge (challenge, expires) VALUES ($1, $2) ON CONFLICT (challenge) DO NOTHING",
            [.blob(name(of: challenge)), .integer(expires)]) == 1
    }

    /// What a transaction is at home in that uses up a challenge and does nothing else.
    static func home(of challenge: [UInt8]) -> Home { .entry(name(of: challenge)) }

    private static func name(of challenge: [UInt8]) -> [UInt8] { Array(challenge.prefix(nonceBytes + 8)) }

    /// Forgets some that nobody takes any more.
    /// - Returns: whether there may be more.
    @discardableResult
    package static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.dropSome(of: "spent_challenge", key: "challenge", where: "expires <= $1", [.integer(now)])
            >= droppedAtOnce
    }

    /// Uses the challenge up as far as this process knows; false when it was used before.
    package func spend(_ challenge: [UInt8], by holder: Holder, now: Int64) throws(ServerError) -> Bool {
        enum Outcome { case first, repeated, full }
        let most = holder == .account ? capacity.accounts : capacity.strangers
        let outcome: Outcome = spent.withLock { spent in
            // Whoever it was then: a key may have got its account meanwhile.
            guard spent.values.allSatisfy({ $0[challenge] == nil }) else { return .repeated }
            return Self.remember(
                challenge, until: now + Self.lifetime, in: &spent[holder, default: [:]], most: most, now: now)
                ? .first : .full
        }
        guard outcome != .full else {
            throw ServerError(
                .serviceUnavailable, "Too many people log in at once.", remedy: "Try again.", retryAfter: 30)
        }
        return outcome == .first
    }

    private static func remember(
        _ challenge: [UInt8], until: Int64, in pool: inout [[UInt8]: Int64], most: Int, now: Int64
    ) -> Bool {
        // Swept now and then, not on each login.
        if pool.count >= most || (pool.count >= 1024 && pool.count.nonzeroBitCount == 1) {
            pool = pool.filter { $0.value > now }
        }
        guard pool.count < most else { return false }
        pool[challenge] = until
        return true
    }

    private func mac(_ stated: [UInt8], _ loginKey: VerificationKey) -> [UInt8] {
        ServerHash.keyed(key, .challenge, stated, loginKey.bytes)
    }
}
