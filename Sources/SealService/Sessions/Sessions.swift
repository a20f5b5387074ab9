import SealPrimitives
package import SealStorage
import SealWire
import Synchronization

/// Session tokens: made at login, checked on each request, ended at logout or by time.
///
/// The tokens are 32 random bytes; the database has their hashes only. Sessions that were found good are remembered for
/// some seconds, so that a busy client does not cost a database read a request. Where the database cannot be written, a
/// device that it knows gets a session of this process alone (`ProvisionalSession`).
package final class Sessions: Sendable {
    /// Thirty days.
    package static let lifetime: Int64 = 30 * 86_400_000_000
    /// Each process of a device has one of its own. The oldest ends when one more begins.
    package static let mostPerDevice = 20
    /// A device counts as seen at its logins, and in between at most that often.
    private static let sightingInterval: Int64 = 3_600_000_000
    private static let rememberedFor: Int64 = 10_000_000
    private static let mostRemembered = 20_000
    /// By which the clocks of two servers may differ.
    private static let clockTolerance: Int64 = 60_000_000

    fileprivate struct Remembered {
        let session: Session
        let until: Int64
    }

    fileprivate struct Cache {
        var sessions: [[UInt8]: Remembered] = [:]
        /// By the hash of their token, as those in the database are.
        var provisional: [[UInt8]: ProvisionalSession] = [:]
        /// Goes up when sessions end: a row that was read before that is not remembered after it.
        var generation: UInt64 = 0
    }

    private let cache = Mutex(Cache())
    private let peers: Peers

    /// - Parameter peers: the processes that may end sessions.
    package init(among peers: Peers) { self.peers = peers }

    package struct Issued: Sendable {
        package let token: String
        package let expires: Int64
    }

    package static func hash(_ token: [UInt8]) -> [UInt8] { ServerHash.digest(.sessionToken, token) }

    /// Forgets some that have expired.
    /// - Returns: whether there may be more.
    package static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.dropSome(of: "session", key: "token_hash", where: "expires <= $1", [.integer(now)])
            >= droppedAtOnce
    }

    /// Begins a session, in the caller's transaction.
    package static func issue(
        account: Int64, device: Int64, now: Int64, randomToken: [UInt8], in connection: any SQLConnection
    ) throws -> Issued {
        // Those that began while a clock was ahead go first, or they would end each new one as the oldest.
        let ended = try connection.execute(
            """
            DELETE FROM session WHERE device = $1 AND token_hash NOT IN
                (SELECT token_hash FROM session WHERE device = $1
                ORDER BY CASE WHEN created > $3 THEN 1 ELSE 0 END, created DESC LIMIT $2)
            """, [.integer(device), .integer(Int64(mostPerDevice - 1)), .integer(now + clockTolerance)])
        if ended > 0 { connection.announce(.sessions(account: account)) }
        try connection.execute(
            "INSERT INTO session (token_hash, account, device, created, expires) VALUES ($1, $2, $3, $4, $5)",
            [.blob(hash(randomToken)), .integer(account), .integer(device), .integer(now), .integer(now + lifetime)])
        return Issued(token: Base64URL.encode(randomToken), expires: now + lifetime)
    }

    /// Whether every request comes to this process: another one refuses a session that this one alone has, and its
    /// device would log in again and again.
    package var mayBeProvisional: Bool { peers.isAlone }

    /// Begins a session without the database, which cannot be written.
    /// - Throws: `storageFull` where there are too many.
    package func issueProvisional(
        account: Int64, device: Int64, now: Int64, randomToken: [UInt8]
    ) throws(ServerError) -> Issued {
        let expires = now + ProvisionalSession.lifetime
        let session = ProvisionalSession(account: account, device: device, expires: expires)
        let hasRoom = cache.withLock { cache in
            let own = cache.provisional.filter { $0.value.account == account }
            if own.count >= ProvisionalSession.mostPerAccount,
                let first = own.min(by: { $0.value.expires < $1.value.expires })
            {
                cache.endProvisional(first.key)
            }
            if cache.provisional.count >= ProvisionalSession.most {
                for (hash, old) in cache.provisional where old.expires <= now { cache.endProvisional(hash) }
            }
            guard cache.provisional.count < ProvisionalSession.most else { return false }
            cache.provisional[Self.hash(randomToken)] = session
            return true
        }
        guard hasRoom else { throw ServerError.storageFull }
        return Issued(token: Base64URL.encode(randomToken), expires: expires)
    }

    /// The session that the token stands for; nil when there is none, or none any more.
    /// - Parameter beforeAsking: called before the database is asked about a token that was not found good before.
    package func find(
        _ token: Substring, now: Int64, in database: any SQLDatabase,
        beforeAsking: () throws(ServerError) -> Void
    ) async throws -> Session? {
        guard token.utf8.count == 43, let bytes = try? Base64URL.decode(token) else { return nil }
        let hash = Self.hash(bytes)
        let (remembered, provisional, generation) = cache.withLock {
            ($0.sessions[hash], $0.provisional[hash], $0.generation)
        }
        // Where another server's announcements are not heard, it may have ended the session.
        if let remembered, remembered.until > now, peers.areHeard { return remembered.session.asOf(generation) }
        if remembered == nil { try beforeAsking() }
        // Looked up by hash: what a comparison's time could tell about a hash is of no use to find a token.
        let row = try await database.read { connection in
            guard let provisional else { return try Self.row(hash, in: connection) }
            return try Self.row(hash, provisional, in: connection)
        }
        guard var row, row.session.expires > now else {
            cache.withLock { $0.endProvisional(hash) }
            return nil
        }
        row.session.generation = generation
        let session = row.session
        if now - row.lastSeen >= Self.sightingInterval { note(session, now: now, in: database) }
        cache.withLock { cache in
            guard cache.generation == generation else { return }
            if cache.sessions.count >= Self.mostRemembered { cache.sessions.removeAll(keepingCapacity: true) }
            cache.sessions[hash] = Remembered(session: session, until: min(now + Self.rememberedFor, session.expires))
        }
        return session
    }

    private typealias Found = (session: Session, lastSeen: Int64)

    private static func row(_ hash: [UInt8], in connection: any SQLConnection) throws -> Found? {
        try connection.first(
            """
            SELECT session.account, session.expires, session.device, account.device_revision, device.last_seen
            FROM session JOIN account ON account.id = session.account JOIN device ON device.id = session.device
            WHERE token_hash = $1
            """, [.blob(hash)]
        ) { row in
            (
                session: Session(
                    accountID: try row.int64("account"), tokenHash: hash, device: try row.int64("device"),
                    deviceRevision: try row.int64("device_revision"), expires: try row.int64("expires")),
                lastSeen: try row.int64("last_seen")
            )
        }
    }

    /// As long as its device is one of the account's: that is what the database knows of it.
    private static func row(
        _ hash: [UInt8], _ provisional: ProvisionalSession, in connection: any SQLConnection
    ) throws -> Found? {
        try connection.first(
            """
            SELECT account.device_revision, device.last_seen
            FROM device JOIN account ON account.id = device.account
            WHERE device.id = $1 AND device.account = $2 AND device.revoked = 0 AND account.suspended IS NULL
            """, [.integer(provisional.device), .integer(provisional.account)]
        ) { row in
            (
                session: Session(
                    accountID: provisional.account, tokenHash: hash, device: provisional.device,
                    deviceRevision: try row.int64("device_revision"), expires: provisional.expires,
                    provisional: provisional),
                lastSeen: try row.int64("last_seen")
            )
        }
    }

    /// Beside the request, which does not wait for it; should it fail, the next hour's does it.
    private func note(_ session: Session, now: Int64, in database: any SQLDatabase) {
        guard let device = session.device else { return }
        Task.detached(priority: .background) {
            try? await database.write(at: .account(session.accountID)) { try Devices.saw(device, now: now, in: $0) }
        }
    }

    // MARK: While a request is under way

    /// Goes up whenever a session, of whichever account, may have ended: before that is answered, in every case.
    package var generation: UInt64 { cache.withLock(\.generation) }

    /// Whether the session is certain to be in force, without asking the database: none has ended since it was looked
    /// up. What another server ends is heard of a little later, so that beside one nothing is certain.
    package func isUnchanged(_ session: Session, now: Int64) -> Bool {
        session.expires > now && session.generation == generation && peers.isAlone
    }

    /// For requests that come by the thousand: asks the database only where some session has ended since this one was
    /// looked up. One that ends in the same commit, or in another connection's that has not been answered yet, counts
    /// as ending after it.
    /// - Throws: `sessionExpired` once the session has ended.
    package func recheck(_ session: Session, now: Int64, in connection: any SQLConnection) throws {
        guard !isUnchanged(session, now: now) else { return }
        try Self.check(session, now: now, in: connection)
    }

    /// - Throws: `sessionExpired` once the session has ended; `notAuthenticated` for a server-to-server key that was
    ///   revoked.
    package static func check(_ session: Session, now: Int64, in connection: any SQLConnection) throws {
        guard session.device != nil else { return try ServerKeys.check(session, in: connection) }
        guard try isInForce(session, now: now, in: connection) else { throw ServerError.endedSession }
    }

    /// Whether the session has neither ended nor expired, asked of the database.
    package static func isInForce(_ session: Session, now: Int64, in connection: any SQLConnection) throws -> Bool {
        guard let provisional = session.provisional else {
            return try connection.exists(
                "SELECT 1 FROM session WHERE token_hash = $1 AND expires > $2",
                [.blob(session.tokenHash), .integer(now)])
        }
        return try provisional.isInForce(now: now) && row(session.tokenHash, provisional, in: connection) != nil
    }

    /// Ends one session: at once, on every route.
    package func end(_ session: Session, in database: any SQLDatabase) async throws {
        guard session.provisional == nil else {
            return cache.withLock { $0.endProvisional(session.tokenHash) }
        }
        try await database.write(at: .account(session.accountID)) { connection in
            try connection.execute("DELETE FROM session WHERE token_hash = $1", [.blob(session.tokenHash)])
            connection.announce(.sessions(account: session.accountID))
        }
        forget(account: session.accountID)
    }

    /// Ends all of an account's, in the caller's transaction: `forget(account:)` has to follow it.
    static func endAll(of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM session WHERE account = $1", [.integer(account)])
        connection.announce(.sessions(account: account))
    }

    /// Forgets what is remembered of an account's sessions: some were ended in the database, or its devices are others
    /// now.
    package func forget(account: Int64) {
        cache.withLock { cache in
            cache.generation += 1
            cache.sessions = cache.sessions.filter { $0.value.session.accountID != account }
            // Which of them was meant does not show here; the others log in again.
            for (hash, session) in cache.provisional where session.account == account { cache.endProvisional(hash) }
        }
    }

    /// Forgets what is remembered of all of them: some may have been ended by another server.
    package func forgetAll() {
        cache.withLock { cache in
            cache.generation += 1
            cache.sessions.removeAll(keepingCapacity: true)
        }
    }
}

extension Sessions.Cache {
    fileprivate mutating func endProvisional(_ hash: [UInt8]) {
        sessions.removeValue(forKey: hash)
        // Tokens that were never given out end nothing.
        guard let ended = provisional.removeValue(forKey: hash) else { return }
        ended.end()
        generation += 1
    }
}

extension Session {
    fileprivate func asOf(_ generation: UInt64) -> Session {
        var session = self
        session.generation = generation
        return session
    }
}

extension Sessions.Issued: CustomStringConvertible, CustomReflectable {
    /// The token shows nowhere.
    package var description: String { "Sessions.Issued" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
