package import SealStorage

/// How many codes go out. Kept in the database: a restart must not turn the server into a way of filling mailboxes.
///
/// What somebody else asks for must not keep an address from being verified, nor a share's invitees from joining. So
/// whoever asks again is held back first, and part of what an address or a share may have is for those who have not
/// asked yet.
package struct SendingLimits: Sendable {
    package enum Kind: Int64, Sendable, CaseIterable {
        case address = 1
        case account = 2
        case share = 3
        case client = 4
        /// Everybody's mail together; everybody's text messages.
        case allMail = 5
        case allPhones = 6
        // Who has asked, for one address or share.
        case accountAndAddress = 7
        case clientAndAddress = 8
        case accountAndShare = 9
        case clientAndShare = 10

        /// By these it shows whether an account has asked for a subject of this kind, and whether anybody has from a
        /// client address.
        fileprivate var askers: (account: Kind, client: Kind)? {
            switch self {
            case .address: (.accountAndAddress, .clientAndAddress)
            case .share: (.accountAndShare, .clientAndShare)
            default: nil
            }
        }
    }

    package struct Rule: Sendable {
        package let kind: Kind
        package let count: Int
        /// Microseconds.
        package let window: Int64
        /// Of `count`: for accounts that have not asked for this subject in the window; and of that, for those that
        /// come from client addresses that have not either, since accounts can be made.
        package var kept = 0
        var keptElsewhere = 0
    }

    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 60 * minute
    private static let day: Int64 = 24 * hour

    package var rules: [Rule]

    package init(_ limits: ServerLimits = ServerLimits()) {
        rules = [
            Rule(kind: .accountAndAddress, count: 3, window: 15 * Self.minute),
            Rule(kind: .accountAndAddress, count: 10, window: Self.day),
            Rule(kind: .address, count: 6, window: 15 * Self.minute, kept: 3, keptElsewhere: 1),
            Rule(kind: .address, count: 20, window: Self.day, kept: 10, keptElsewhere: 4),
            Rule(kind: .account, count: 20, window: Self.hour),
            Rule(kind: .share, count: 20, window: Self.hour, kept: 10, keptElsewhere: 5),
            Rule(kind: .client, count: 30, window: Self.hour),
            Rule(kind: .allMail, count: limits.mailPerHour, window: Self.hour),
            Rule(kind: .allPhones, count: limits.textsPerHour, window: Self.hour),
        ].filter { $0.count > 0 }
    }

    /// How many the rule with the shortest window of this kind takes, and that with the longest; 0 where there is none.
    package func shortest(_ kind: Kind) -> Int {
        rules.filter { $0.kind == kind }.min { $0.window < $1.window }?.count ?? 0
    }
    package func longest(_ kind: Kind) -> Int {
        rules.filter { $0.kind == kind }.max { $0.window < $1.window }?.count ?? 0
    }

    package struct Subject: Sendable, Hashable {
        package let kind: Kind
        package let hash: [UInt8]

        package init(kind: Kind, hash: [UInt8]) {
            self.kind = kind
            self.hash = hash
        }
    }

    /// Counts one message against every subject, in the caller's transaction; or counts nothing, and gives the subjects
    /// that have had enough, each with the time until the oldest message that counts is old enough.
    package func count(_ subjects: [Subject], now: Int64, in connection: any SQLConnection) throws -> [Subject: Int64] {
        // After a clock was set back, what lies ahead of it happened now, or it would count for longer than its window.
        try connection.execute("UPDATE verification_sent SET sent = $1 WHERE sent > $1", [.integer(now)])
        var blocked: [Subject: Int64] = [:]
        for rule in rules {
            for subject in subjects where subject.kind == rule.kind {
                // The message that has to become old before one more may go: the count-th newest.
                if let blocking = try sent(rule.count, to: subject, since: now - rule.window, in: connection) {
                    blocked[subject] = max(blocked[subject] ?? 0, blocking + rule.window)
                }
                guard rule.kept > 0, let kinds = rule.kind.askers else { continue }
                // All are looked up, whatever is known already: the same statements for every address.
                for asker in subjects where asker.kind == kinds.account || asker.kind == kinds.client {
                    let kept = asker.kind == kinds.account ? rule.kept : rule.keptElsewhere
                    let rest = try sent(rule.count - kept, to: subject, since: now - rule.window, in: connection)
                    let asked = try sent(1, to: asker, since: now - rule.window, in: connection)
                    if let rest, asked != nil { blocked[asker] = max(blocked[asker] ?? 0, rest + rule.window) }
                }
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

    /// When the `place`-th newest message to the subject was sent; nil where there are fewer since then.
    private func sent(_ place: Int, to subject: Subject, since: Int64, in connection: any SQLConnection) throws
        -> Int64?
    {
        try connection.first(
            """
            SELECT sent FROM verification_sent WHERE kind = $1 AND subject = $2 AND sent > $3
            ORDER BY sent DESC LIMIT 1 OFFSET $4
            """, [.integer(subject.kind.rawValue), .blob(subject.hash), .integer(since), .integer(Int64(place - 1))]
        ) { try $0.int64("sent") }
    }
}
