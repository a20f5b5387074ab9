/// A session that writes. It is used by its writer's thread, and by the one that opens the database before that.
final class PostgresWriter: PooledEngine, @unchecked Sendable {
    private let session: PostgresSession
    private let closeOthers: @Sendable () throws -> Void

    /// - Parameter prepare: makes a new connection one that may write, of the era that its server has.
    init(
        _ address: PostgresAddress, _ era: PostgresEra, _ metrics: ServerMetrics,
        prepare: @escaping @Sendable (PostgresSession) throws -> Void,
        closingAlso closeOthers: @escaping @Sendable () throws -> Void
    ) {
        session = PostgresSession(.writer, address, of: era) { session in
            try prepare(session)
            metrics.count(.connects, "writer")
        }
        self.closeOthers = closeOthers
    }

    var isConnected: Bool { session.isConnected }
    func connect() throws { try session.connectAgain() }

    func withConnection<T>(
        announcing announcements: PendingAnnouncements?, until deadline: WriteDeadline?,
        _ body: (PostgresConnection) throws -> T
    ) throws -> T {
        try body(PostgresConnection(session, announcements: announcements, deadline: deadline))
    }

    func close() throws {
        session.close()
        try closeOthers()
    }
}
