/// How many codes go out. Kept in the database: a restart must not turn the server into a way of filling mailboxes.
struct SendingLimits: Sendable {
    enum Kind: Int64, Sendable, CaseIterable {
        case address = 1
        case account = 2
        case share = 3
        case client = 4
        /// Everybody's mail together; everybody's text messages.
        case allMail = 5
        case allPhones = 6
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

    var rules: [Rule]

    init(_ limits: ServerLimits = ServerLimits()) {
        rules = [
            Rule(kind: .address, count: 3, window: 15 * Self.minute),
            Rule(kind: .address, count: 10, window: Self.day),
            Rule(kind: .account, count: 20, window: Self.hour),
            Rule(kind: .share, count: 20, window: Self.hour),
            Rule(kind: .client, count: 30, window: Self.hour),
            Rule(kind: .allMail, count: limits.mailPerHour, window: Self.hour),
            Rule(kind: .allPhones, count: limits.textsPerHour, window: Self.hour),
        ].filter { $0.count > 0 }
    }

    /// How many the rule with the shortest window of this kind takes, and that with the longest; 0 where there is none.
    func shortest(_ kind: Kind) -> Int { rules.filter { $0.kind == kind }.min { $0.window < $1.window }?.count ?? 0 }
    func longest(_ kind: Kind) -> Int { rules.filter { $0.kind == kind }.max { $0.window < $1.window }?.count ?? 0 }

    struct Subject: Sendable, Hashable {
        let kind: Kind
        let hash: [UInt8]
    }

    /// Counts one message against every subject, in the caller's transaction; or counts nothing, and gives the subjects that
    /// have had enough, each with the time until the oldest message that counts is old enough.
    func count(_ subjects: [Subject], now: Int64, in connection: any SQLConnection) throws -> [Subject: Int64] {
        // After a clock was set back, what lies ahead of it happened now, or it would count for longer than its window.
        try connection.execute("UPDATE verification_sent SET sent = $1 WHERE sent > $1", [.integer(now)])
        var blocked: [Subject: Int64] = [:]
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
                if let blocking { blocked[subject] = max(blocked[subject] ?? 0, blocking + rule.window) }
            }
        }
        guard blocked.isEmpty else { return blocked }
        for subject in subjects {
            try connection.execute(
                "INSERT INTO verification_sent (kind, subject, sent) VALUES ($1, $2, $3)",
                [.integer(subject.kind.rawValue), .blob(subject.hash), .integer(now)])
        }
        let longest = rules.map(\.window).max() ?? 0
        try connection.dropSome(of: "verification_sent", key: "id", where: "sent <= $1", [.integer(now - longest)])
        return [:]
    }
}
