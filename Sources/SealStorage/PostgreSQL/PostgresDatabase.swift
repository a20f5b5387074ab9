import Foundation

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
