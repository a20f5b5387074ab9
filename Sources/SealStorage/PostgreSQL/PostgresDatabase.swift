import Foundation
import Synchronization

/// The PostgreSQL implementation: one connection that writes, for groups of writes, and some that read.
///
/// Every write has the whole database to itself, as with SQLite: one process writes, which holds a lock in the database
/// for as long as it is connected, and each of its transactions one more.
package final class PostgresDatabase: EngineDatabase {
    private let writer: GroupWriter<PostgresWriter>
    private let readers: Readers
    private let opening: PostgresOpening

    /// How many read at once, where nothing else is said.
    private static let mostReaders = min(max(4, ProcessInfo.processInfo.activeProcessorCount * 2), 24)

    /// Connects, and brings the schema up to date.
    ///
    /// - Parameters:
    ///   - mostWaitingWrites: how many may wait for the writer before further ones are refused as `busy`.
    ///   - budget: of the writes that have a turn (`WriteTurn`).
    ///   - admit: looks at what is there before anything of it is changed.
    /// - Throws: `unavailable`, `unsuitable`, `unknownSchema`.
    package init(
        _ address: PostgresAddress, migrations: [Migration],
        mostWaitingWrites: Int = WriteBudget.defaultMostWaiting, budget: WriteBudget = WriteBudget(),
        admit: Admission? = nil
    ) throws {
        let (era, metrics) = (PostgresEra(), budget.metrics)
        let readers = Readers(most: Self.mostReaders) { try PostgresReader(address, era, metrics) }
        self.readers = readers
        let opening = PostgresOpening()
        self.opening = opening
        let engine = PostgresWriter(address, era, opening, metrics) { try readers.close() }
        writer = GroupWriter(engine: engine, mostWaiting: mostWaitingWrites, budget: budget)
        do {
            try writer.writeNow { [migrations] connection in
                try Migrator(migrations: migrations).migrate(connection, file: address.name, admit: admit)
            }
        } catch {
            // Another process may try.
            try writer.closeNow()
            throw error
        }
    }

    @discardableResult
    package func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        try await readers.read(body)
    }

    @discardableResult
    package func write<T: Sendable>(
        at home: Home, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        try await writer.write(body)
    }

    package func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) { writer.listen(listener) }

    package func whenReopened(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) { opening.set(body) }

    package func close() async throws { try await writer.close() }

    package var waitingWrites: Int { writer.waitingCount }
    package var reads: ReadCounts { readers.counts }

    /// For tests that open one and have nothing to wait for.
    func closeNow() throws { try writer.closeNow() }

    /// The server's number of the writer's connection, for tests that end it.
    func writerProcess() async throws -> Int64? {
        try await write(at: .everything) { connection in
            try connection.first("SELECT pg_backend_pid() AS pid") { try $0.int64("pid") }
        }
    }
}

/// The session that writes. It is used by the writer's thread, and by the one that opens the database before that.
final class PostgresWriter: WriterEngine, @unchecked Sendable {
    private let session: PostgresSession
    private let closeOthers: @Sendable () throws -> Void

    init(
        _ address: PostgresAddress, _ era: PostgresEra, _ opening: PostgresOpening, _ metrics: ServerMetrics,
        closingAlso closeOthers: @escaping @Sendable () throws -> Void
    ) {
        session = PostgresSession(.writer, address) { session in
            try PostgresServer.prepareWriter(session)
            try opening.run(on: session)
            metrics.count(.connects, "writer")
            era.begin()
        }
        self.closeOthers = closeOthers
    }

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

/// What is done with each new connection of the writer before anything else is.
final class PostgresOpening: Sendable {
    private let body = Mutex<(@Sendable (any SQLConnection) throws -> Void)?>(nil)

    func set(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) { self.body.withLock { $0 = body } }

    /// In a transaction of its own. Where that fails there is no connection.
    func run(on session: PostgresSession) throws {
        guard let body = body.withLock({ $0 }) else { return }
        session.begin(PostgresConnection.beginning)
        do {
            try body(PostgresConnection(session))
            try session.commit()
        } catch {
            session.rollBack()
            throw error
        }
    }
}

/// Counts the writer's connections. Another one may be to another server, since the one before has failed: who still
/// reads there would see less than was acknowledged.
final class PostgresEra: Sendable {
    private let number = Atomic(0)

    var current: Int { number.load(ordering: .acquiring) }
    func begin() { number.add(1, ordering: .releasing) }
}

/// A session that reads, used by the thread of its reader.
private final class PostgresReader: ReaderConnection, @unchecked Sendable {
    private let session: PostgresSession
    private let era: PostgresEra
    /// When it was connected.
    private var seen: Int

    /// Connects: where the database has no connection left it is no reader, and another one takes its reads.
    /// - Throws: `unavailable`.
    init(_ address: PostgresAddress, _ era: PostgresEra, _ metrics: ServerMetrics) throws {
        session = PostgresSession(.reader, address) { session in
            try PostgresServer.prepareReader(session)
            metrics.count(.connects, "reader")
        }
        self.era = era
        seen = era.current
        try session.connectAgain()
    }

    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        do { return try readOnce(body) } catch {
            // It had been idle, and the server was restarted meanwhile: nothing was written.
            guard session.mayBeginAnew else { throw error }
            return try readOnce(body)
        }
    }

    private func readOnce<T>(_ body: (any SQLConnection) throws -> T) throws -> T {
        let now = era.current
        if seen != now { session.close() }
        seen = now
        try session.connectAgain()
        session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { session.rollBack() }
        return try body(PostgresConnection(session))
    }

    func close() throws { session.close() }
}
