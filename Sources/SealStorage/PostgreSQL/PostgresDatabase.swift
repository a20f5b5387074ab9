import Foundation
import Synchronization

/// The PostgreSQL implementation: some connections that write, for groups of writes, and some that read.
///
/// Every write has its home to itself, by locks in the database that its transaction holds (`PostgresHomes`), whichever
/// process it comes from. What processes on one database tell each other goes by `PostgresNotices`.
package final class PostgresDatabase: EngineDatabase {
    private let writer: HomeWriter<PostgresWriter>
    private let readers: Readers
    private let opening: PostgresOpening
    private let notices: PostgresNotices

    /// How many read at once, where nothing else is said.
    static let mostReaders = min(max(4, ProcessInfo.processInfo.activeProcessorCount * 2), 24)
    /// And how many write: their commits share the disk's time, which is most of what they wait for.
    package static let mostWriters = 8

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
        let opening = PostgresOpening()
        self.opening = opening
        let readers = Readers(most: Self.mostReaders) { try PostgresReader(address, era, metrics, opening) }
        self.readers = readers
        let notices = try PostgresNotices(address, era, metrics)
        self.notices = notices
        let server = PostgresServer(isAlone: false)
        let engines = (0..<Self.mostWriters).map { index in
            PostgresWriter(address, era, metrics) { session in
                try server.prepareWriter(session)
                // Before anything is written: a primary that has come back takes it.
                try PostgresServer.enter(era, session)
                if notices.isRunning { try PostgresServer.show(notices.peers.own, by: session) }
                // The first one has to be; others leave what readers may need.
                if index > 0 { try PostgresServer.requireRoom(Self.mostReaders - readers.counts.open, session) }
                try opening.run(on: session)
            } closingAlso: {
                if index == 0 { try readers.close() }
            }
        }
        writer = HomeWriter(engines: engines, mostWaiting: mostWaitingWrites, budget: budget)
        do {
            try writer.writeNow { [migrations] connection in
                try Migrator(migrations: migrations).migrate(connection, file: address.name, admit: admit)
            }
            opening.require { [migrations] connection in
                try Migrator(migrations: migrations).requireAll(connection, file: address.name)
                try admit?(connection, false)
            }
        } catch {
            // Another process may try.
            try writer.closeNow()
            throw error
        }
    }

    @discardableResult
    package func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        do { return try await readers.read(body) } catch {
            damage.note(error)
            throw error
        }
    }

    @discardableResult
    package func write<T: Sendable>(
        at home: Home, beside others: Set<Home>, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        do { return try await writer.write(at: home, beside: others, body) } catch {
            damage.note(error)
            throw error
        }
    }

    package func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        notices.listen(listener)
        writer.listen { [notices] announced in
            listener(announced)
            notices.send(announced)
        }
    }

    package var peers: Peers { notices.peers }

    package func join() async throws {
        try await notices.join()
        // It is there for as long as it can write, whatever becomes of the connection that tells and hears.
        let own = peers.own
        try await write(at: .everything) { [opening] connection in
            _ = try connection.exists(PostgresServer.showing(own))
            // Until now nobody saw it, and might have changed the database since it was looked at.
            try opening.look(at: connection)
        }
    }

    package func whenReopened(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) { opening.set(body) }

    package func close() async throws {
        // What was written last is told.
        do { try await writer.close() } catch {
            await notices.stop()
            throw error
        }
        await notices.stop()
    }

    package let damage = DatabaseDamage()
    package var waitingWrites: Int { writer.waitingCount }
    package var reads: ReadCounts { readers.counts }

    /// How many connections write, for tests.
    var writers: Int { writer.openCount }

    /// For tests that open one and have nothing to wait for.
    func closeNow() throws { try writer.closeNow() }

    /// The server's number of the connection that wrote last, for tests that end it.
    func writerProcess() async throws -> Int64? {
        try await write(at: .everything) { connection in
            try connection.first("SELECT pg_backend_pid() AS pid") { try $0.int64("pid") }
        }
    }
}

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

/// What is done with each new connection before anything else is.
///
/// While a process was cut off, others did not see it: the database may have been brought to another version, or moved
/// elsewhere, and what is written then where it was is lost.
final class PostgresOpening: Sendable {
    private struct State {
        var look: (@Sendable (any SQLConnection) throws -> Void)?
        var body: (@Sendable (any SQLConnection) throws -> Void)?
    }
    private let state = Mutex(State())

    /// - Parameter look: throws where the database is not what it was found to be at the start.
    func require(_ look: @escaping @Sendable (any SQLConnection) throws -> Void) { state.withLock { $0.look = look } }

    func set(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) { state.withLock { $0.body = body } }

    /// - Throws: `unavailable`; `unsuitable` for whatever the database is not.
    func look(at connection: any SQLConnection) throws {
        guard let look = state.withLock({ $0.look }) else { return }
        do { try look(connection) } catch {
            if case StorageError.unavailable = error { throw error }
            throw StorageError.unsuitable(message: "\(error)")
        }
    }

    /// By a connection that writes, which others see already: what it looks at stays as it is. Where this fails there
    /// is no connection.
    func run(on session: PostgresSession) throws {
        let connection = PostgresConnection(session)
        try look(at: connection)
        guard let body = state.withLock({ $0.body }) else { return }
        session.begin(PostgresHomes.begin(Homes(.everything)))
        do {
            try body(connection)
            try session.commit()
        } catch {
            session.rollBack()
            throw error
        }
    }
}

/// A session that reads, used by the thread of its reader.
private final class PostgresReader: ReaderConnection, @unchecked Sendable {
    private let session: PostgresSession

    /// Connects: where the database has no connection left it is no reader, and another one takes its reads.
    /// - Throws: `unavailable`, `unsuitable`.
    init(
        _ address: PostgresAddress, _ era: PostgresEra, _ metrics: ServerMetrics, _ opening: PostgresOpening
    ) throws {
        session = PostgresSession(.reader, address, of: era) { session in
            try PostgresServer.prepareReader(session)
            try opening.look(at: PostgresConnection(session))
            try PostgresServer.enter(era, session)
            metrics.count(.connects, "reader")
        }
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
        try session.connectAgain()
        session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { session.rollBack() }
        return try body(PostgresConnection(session))
    }

    func close() throws { session.close() }
}
