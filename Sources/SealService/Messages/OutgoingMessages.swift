package import SealPrimitives
import SealStorage

/// One message that waits.
package struct WaitingMessage: Sendable {
    package let id: ID16
    package let kind: Address.Kind
    package let message: CodeMessage
    /// How often it was tried in vain.
    package var attempts: Int
    /// When its code is of no use any more.
    package let expires: Int64
    /// What the code is for; empty where another process has stored it, for the row does not say it.
    package let container: String

    package init(
        id: ID16, kind: Address.Kind, message: CodeMessage, attempts: Int, expires: Int64, container: String
    ) {
        self.container = container
        self.id = id
        self.kind = kind
        self.message = message
        self.attempts = attempts
        self.expires = expires
    }
}

/// The rows of messages that wait, sealed with a key that is not on the database's disk: address and code lie there
/// only as long as they are being sent, or until the code has expired where that they were could not be noted, and show
/// neither in the database nor in its backups.
struct OutgoingMessages: Sendable {
    let key: SecretBytes
    /// The process that sends what it stores: `Peers.own`.
    let sender: Int64
    /// What this process can send.
    let kinds: Set<Address.Kind>

    func insert(_ waiting: WaitingMessage, in connection: any SQLConnection) throws {
        let sealed = waiting.message.sealed(
            under: key, associatedData: Self.place(waiting.id, waiting.kind.rawValue, waiting.expires))
        try connection.execute(
            "INSERT INTO outgoing_message (id, kind, sealed, attempts, expires, sender) VALUES ($1, $2, $3, 0, $4, $5)",
            [
                .blob(waiting.id.bytes), .text(waiting.kind.rawValue), .blob(sealed), .integer(waiting.expires),
                .integer(sender),
            ])
    }

    func countAttempt(_ id: ID16, in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE outgoing_message SET attempts = attempts + 1 WHERE id = $1", [.blob(id.bytes)])
    }

    /// False where another process has taken a message over, and may have sent it, since this one was not to be seen
    /// for a moment.
    func isOwn(_ id: ID16, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM outgoing_message WHERE id = $1 AND sender = $2", [.blob(id.bytes), .integer(sender)])
    }

    func delete(_ id: ID16, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM outgoing_message WHERE id = $1", [.blob(id.bytes)])
    }

    /// Those who stored something and are not there any more.
    private func gone(in connection: any SQLConnection) throws -> Set<Int64> {
        let others = try connection.rows(
            "SELECT DISTINCT sender, kind FROM outgoing_message WHERE sender <> $1", [.integer(sender)]
        ) { (sender: try $0.int64("sender"), kind: Address.Kind(rawValue: try $0.text("kind"))) }
        .filter { row in row.kind.map(kinds.contains) ?? true }.map(\.sender)
        guard !others.isEmpty else { return [] }
        let processes = try connection.processes()
        return Set(others).filter { !processes.contains($0) }
    }

    /// Whether something is there that is not sent any more, whoever stored it.
    static func haveExpired(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM outgoing_message WHERE expires <= $1 LIMIT 1", [.integer(now)])
    }

    /// Whether something waits that nobody sends.
    func areLeftOver(in connection: any SQLConnection) throws -> Bool { try !gone(in: connection).isEmpty }

    /// In one step.
    private static let takenAtOnce = 100

    /// What nobody sends any more becomes this process's, some at a time. What cannot be opened, has expired, or lives
    /// longer than any message does (a clock was set back since) goes.
    ///
    /// Whoever is thought gone and is not may count and remove its own meanwhile: it keeps what it has removed.
    /// - Returns: whether that was all, too.
    func takeOver(
        now: Int64, in connection: any SQLConnection
    ) throws -> (messages: [WaitingMessage], isAll: Bool) {
        let bounds: [SQLValue] = [.integer(now), .integer(now + CodeMessage.lifetime + CodeMessage.clockTolerance)]
        let dropped = try connection.dropSome(
            of: "outgoing_message", key: "id", where: "(expires <= $1 OR expires > $2)", bounds)
        var messages: [WaitingMessage] = []
        var room = Self.takenAtOnce
        for sender in try gone(in: connection).sorted() where room > 0 {
            let (found, count) = try takeOver(of: sender, atMost: room, expiringIn: bounds, in: connection)
            messages += found
            room -= count
        }
        return (messages, dropped < droppedAtOnce && room > 0)
    }

    private func takeOver(
        of gone: Int64, atMost limit: Int, expiringIn bounds: [SQLValue], in connection: any SQLConnection
    ) throws -> (messages: [WaitingMessage], count: Int) {
        let others = Address.Kind.allCases.filter { !kinds.contains($0) }
        let notOurs = others.indices.map { "$\($0 + 5)" }.joined(separator: ", ")
        let rows = try connection.rows(
            """
            SELECT id, kind, sealed, attempts, expires FROM outgoing_message
            WHERE sender = $3 AND expires > $1 AND expires <= $2\(others.isEmpty ? "" : " AND kind NOT IN (\(notOurs))")
            ORDER BY expires LIMIT $4
            """,
            bounds + [.integer(gone), .integer(Int64(limit))] + others.map { .text($0.rawValue) }
        ) { row in
            let (id, kind, expires) = (try ID16(row.bytes("id")), try row.text("kind"), try row.int64("expires"))
            let message = try? CodeMessage(
                opening: try row.bytes("sealed"), under: key, associatedData: Self.place(id, kind, expires))
            let attempts = Int(clamping: try row.int64("attempts"))
            let waiting = message.flatMap { message in
                Address.Kind(rawValue: kind).map {
                    WaitingMessage(
                        id: id, kind: $0, message: message, attempts: attempts, expires: expires, container: "")
                }
            }
            return (id: id, waiting: waiting)
        }
        var messages: [WaitingMessage] = []
        for (id, waiting) in rows {
            guard let waiting else {
                try delete(id, in: connection)
                continue
            }
            let taken = try connection.execute(
                "UPDATE outgoing_message SET sender = $1 WHERE id = $2 AND sender = $3",
                [.integer(sender), .blob(id.bytes), .integer(gone)])
            if taken > 0 { messages.append(waiting) }
        }
        return (messages, rows.count)
    }

    /// What a sealed message belongs to.
    private static func place(_ id: ID16, _ kind: String, _ expires: Int64) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.id(id)
        writer.string(kind)
        writer.number(expires)
        return writer.bytes
    }
}
