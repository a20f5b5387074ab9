package import SealPrimitives
package import SealStorage

/// What the servers of a database count together: the buckets of limits that guard against guesses, and against what
/// fills databases, as rows. Whom they count, they name by hashes.
///
/// Where there is one server they are not asked: its own buckets, in memory, say the same.
package struct SharedLimits: Sendable {
    private let key: SecretBytes
    private let peers: Peers

    /// Microseconds that the clocks of two servers may differ by: more than they ever should.
    private static let clockTolerance: Int64 = 3_600_000_000

    package init(key: SecretBytes, among peers: Peers) {
        self.key = key
        self.peers = peers
    }

    /// Whether anybody else counts.
    package var areNeeded: Bool { !peers.isAlone }

    /// The part of a limit that is this server's, of those that each counts for itself.
    package func part(of rule: RateLimiter.Rule) -> RateLimiter.Rule { rule.part(of: peers.count) }

    /// What a transaction that counts is at home in.
    package func home(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) -> Home {
        .entry(hash(kind, subject))
    }

    /// Takes `amount` from the subject's bucket, in a transaction that has `home`, or all that the subject changes, to
    /// itself.
    /// - Throws: `requestRateLimited`; what is refused is not counted.
    package func count(
        _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int, rule: RateLimiter.Rule, now: Int64,
        in connection: any SQLConnection
    ) throws {
        let row: [SQLValue] = [.text(kind.rawValue), .blob(hash(kind, subject))]
        let known = try connection.first("SELECT level, time FROM shared_limit WHERE kind = $1 AND subject = $2", row) {
            TokenBucket(level: try $0.int64("level"), time: try $0.int64("time"))
        }
        var bucket = known ?? TokenBucket(rule, now: now)
        // After a clock was set back by more than servers' clocks differ, nobody knows how long ago that was.
        if bucket.time > now + Self.clockTolerance { bucket = TokenBucket(rule, now: now) }
        // By the clock that is ahead: else two that differ would fill it each time that they take turns.
        let time = max(now, bucket.time)
        if let wait = bucket.take(amount, rule, now: time) {
            throw ServerError.rateLimited(until: time + wait, now: now)
        }
        try connection.execute(
            """
            INSERT INTO shared_limit (kind, subject, level, time, full_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (kind, subject) DO UPDATE
                SET level = excluded.level, time = excluded.time, full_at = excluded.full_at
            """,
            row + [.integer(bucket.level), .integer(bucket.time), .integer(bucket.fullTime(rule))])
    }

    /// Forgets some that are full again.
    /// - Returns: whether there may be more.
    package static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.dropSome(
            of: "shared_limit", key: "kind, subject", where: "full_at <= $1", [.integer(now - clockTolerance)])
            >= droppedAtOnce
    }

    private func hash(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) -> [UInt8] {
        let pieces: [[UInt8]] =
            switch subject {
            case .account(let account): [[1], ServerBytes.of(account)]
            case .client(let bytes): [[2], bytes]
            case .author(let owner, let zone, let caller):
                [[3], ServerBytes.of(owner), ServerBytes.of(zone), ServerBytes.of(caller)]
            }
        return ServerHash.keyed(key, .limitSubject, [Array(kind.rawValue.utf8)] + pieces)
    }
}
