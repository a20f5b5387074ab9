/// How many codes go out. Kept in the database: a restart must not turn the server into a way of filling mailboxes.
struct SendingLimits: Sendable {
    enum Kind: Int64, Sendable, CaseIterable {
        case address = 1
        case account = 2
        case share = 3
        case client = 4
    }

    struct Rule: Sendable {
        let kind: Kind
        let count: Int
        /// Microseconds.
        let window: Int64
    }

    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 60 * minute
    private static let day: Int64 = 24 * hour

    var rules: [Rule] = [
        Rule(kind: .address, count: 3, window: 15 * minute),
        Rule(kind: .address, count: 10, window: day),
        Rule(kind: .account, count: 20, window: hour),
        Rule(kind: .share, count: 20, window: hour),
        Rule(kind: .client, count: 30, window: hour),
    ]

    struct Subject: Sendable {
        let kind: Kind
        let hash: [UInt8]
    }

    /// Counts one message against every subject, in the caller's transaction.
    ///
    /// Throws `requestRateLimited` with the time until the oldest message that counts is old enough. Which rule it was is
    /// not said: that others ask for codes to an address is their business.
    func count(_ subjects: [Subject], now: Int64, in connection: any SQLConnection) throws {
        var until: Int64?
        for rule in rules {
            for subject in subjects where subject.kind == rule.kind {
                // The message that has to become old before one more may go: the count-th newest.
                let blocking = try connection.first(
                    """
                    SELECT sent FROM verification_sent WHERE kind = $1 AND subject = $2 AND sent > $3
                    ORDER BY sent DESC LIMIT 1 OFFSET $4
                    """,
                    [
                        .integer(rule.kind.rawValue), .blob(subject.hash), .integer(now - rule.window),
                        .integer(Int64(rule.count - 1)),
                    ]
                ) { try $0.int64(0) }
                if let blocking { until = max(until ?? 0, blocking + rule.window) }
            }
        }
        if let until { throw ServerError.rateLimited(until: until, now: now) }
        for subject in subjects {
            try connection.execute(
                "INSERT INTO verification_sent (kind, subject, sent) VALUES ($1, $2, $3)",
                [.integer(subject.kind.rawValue), .blob(subject.hash), .integer(now)])
        }
        let longest = rules.map(\.window).max() ?? 0
        try connection.execute("DELETE FROM verification_sent WHERE sent <= $1", [.integer(now - longest)])
    }
}
