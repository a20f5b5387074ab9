import SealPrimitives
import SealWire
import Synchronization

/// Session tokens: made at login, checked on each request, ended at logout or by time.
///
/// The tokens are 32 random bytes; the database has their hashes only. Sessions that were found good are remembered for
/// some seconds, so that a busy client does not cost a database read a request.
final class Sessions: Sendable {
    /// Thirty days.
    static let lifetime: Int64 = 30 * 86_400_000_000
    /// More devices than anyone has: the oldest session ends when one more begins.
    static let mostPerAccount = 100
    private static let rememberedFor: Int64 = 10_000_000
    private static let mostRemembered = 20_000

    private struct Remembered {
        let session: Session
        let until: Int64
    }

    private struct Cache {
        var sessions: [[UInt8]: Remembered] = [:]
        /// Goes up when sessions end: a row that was read before that is not remembered after it.
        var generation: UInt64 = 0
    }

    private let cache = Mutex(Cache())

    struct Issued: Sendable {
        let token: String
        let expires: Int64
    }

    static func hash(_ token: [UInt8]) -> [UInt8] { ServerHash.digest(.sessionToken, token) }

    /// Begins a session, in the caller's transaction.
    static func issue(
        account: Int64, deviceName: String, now: Int64, randomToken: [UInt8], in connection: any SQLConnection
    ) throws -> Issued {
        try connection.execute("DELETE FROM session WHERE expires <= $1", [.integer(now)])
        try connection.execute(
            """
            DELETE FROM session WHERE account = $1 AND token_hash NOT IN
                (SELECT token_hash FROM session WHERE account = $1 ORDER BY created DESC LIMIT $2)
            """, [.integer(account), .integer(Int64(mostPerAccount - 1))])
        connection.announce(.sessions(account: account))
        try connection.execute(
            "INSERT INTO session (token_hash, account, device_name, created, expires) VALUES ($1, $2, $3, $4, $5)",
            [.blob(hash(randomToken)), .integer(account), .text(deviceName), .integer(now), .integer(now + lifetime)])
        return Issued(token: Base64URL.encode(randomToken), expires: now + lifetime)
    }

    /// The session that the token stands for; nil when there is none, or none any more.
    func find(_ token: some StringProtocol, _ services: Services) async throws -> Session? {
        guard token.utf8.count == 43, let bytes = try? Base64URL.decode(token) else { return nil }
        let hash = Self.hash(bytes)
        let now = services.clock()
        let (remembered, generation) = cache.withLock { ($0.sessions[hash], $0.generation) }
        if let remembered, remembered.until > now { return remembered.session }
        // Looked up by hash: what a comparison's time could tell about a hash is of no use to find a token.
        let row = try await services.database.read { connection in
            try connection.first("SELECT account, expires FROM session WHERE token_hash = $1", [.blob(hash)]) {
                (account: try $0.int64(0), expires: try $0.int64(1))
            }
        }
        guard let row, row.expires > now else { return nil }
        let session = Session(accountID: row.account, tokenHash: hash)
        cache.withLock { cache in
            guard cache.generation == generation else { return }
            if cache.sessions.count >= Self.mostRemembered { cache.sessions.removeAll(keepingCapacity: true) }
            cache.sessions[hash] = Remembered(session: session, until: min(now + Self.rememberedFor, row.expires))
        }
        return session
    }

    /// - Throws: `sessionExpired` once the session has ended.
    static func check(_ session: Session, now: Int64, in connection: any SQLConnection) throws {
        guard try isInForce(session, now: now, in: connection) else {
            throw ServerError(.sessionExpired, "The session has ended or expired.", remedy: "Log in again.")
        }
    }

    /// Whether the session has neither ended nor expired, asked of the database.
    static func isInForce(_ session: Session, now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM session WHERE token_hash = $1 AND expires > $2", [.blob(session.tokenHash), .integer(now)])
    }

    /// Ends one session: at once, on every route.
    func end(_ session: Session, _ services: Services) async throws {
        try await services.database.write { connection in
            try connection.execute("DELETE FROM session WHERE token_hash = $1", [.blob(session.tokenHash)])
            connection.announce(.sessions(account: session.accountID))
        }
        forget { $0 == session }
    }

    /// Ends all of an account's, in the caller's transaction: `forget(account:)` has to follow it.
    static func endAll(of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM session WHERE account = $1", [.integer(account)])
        connection.announce(.sessions(account: account))
    }

    /// Forgets what is remembered of an account's sessions; to be called when they were ended in the database.
    func forget(account: Int64) { forget { $0.accountID == account } }

    private func forget(_ isEnded: (Session) -> Bool) {
        cache.withLock { cache in
            cache.generation += 1
            cache.sessions = cache.sessions.filter { !isEnded($0.value.session) }
        }
    }
}

extension Sessions.Issued: CustomStringConvertible, CustomReflectable {
    /// The token shows nowhere.
    var description: String { "Sessions.Issued" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
