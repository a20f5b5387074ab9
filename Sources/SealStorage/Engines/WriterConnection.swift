/// A connection that a `GroupRun` writes through, on its thread.
///
/// A transaction has several writes, each of which can be taken back without the others.
protocol WriterConnection: SQLConnection {
    /// - Parameter homes: what the transaction has to itself, for an engine that lets several write at the same time.
    func begin(at homes: Homes) throws

    /// - Parameter limit: microseconds that the write may take, where it is cut short at all.
    func beginWrite(limit: Int64?) throws
    func takeBackWrite() throws
    func endWrite() throws

    /// Returns once all of it is durable.
    func commit() throws

    /// Takes back what is still open, if anything is. Where this fails, the database does it by itself, and what led
    /// here is what has to be told.
    func rollBack()

    /// Whether the transaction is still there: engines end the whole of it by themselves for some failures.
    var isInTransaction: Bool { get }

    /// The failure of a statement after which the write can only be taken back, whatever its body made of it.
    var failure: StorageError? { get }

    /// Whether the whole transaction failed for what need not happen again: nothing of it was written, and all of it
    /// may be begun anew.
    var mayBeginAnew: Bool { get }
}

extension WriterConnection {
    /// One transaction with everything to itself, which is durable once this returns, and taken back whole where `body`
    /// throws.
    func transaction<T>(_ body: (Self) throws -> T) throws -> T {
        try begin(at: Homes(.everything))
        do {
            let result = try body(self)
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }
}

/// Where a `GroupRun` gets its connection.
protocol WriterEngine: Sendable {
    associatedtype Connection: WriterConnection

    /// - Parameters:
    ///   - announcements: of the connection's transactions.
    ///   - deadline: ends statements that are under way when it passes; nil where nothing is cut short.
    func withConnection<T>(
        announcing announcements: PendingAnnouncements?, until deadline: WriteDeadline?,
        _ body: (Connection) throws -> T
    ) throws -> T

    /// The last call.
    func close() throws
}

/// One of several, each with a connection of its own.
protocol PooledEngine: WriterEngine {
    /// Whether there is a connection, as far as anybody knows.
    var isConnected: Bool { get }

    /// Connects where it is not connected.
    /// - Throws: `unavailable`, `unsuitable`.
    func connect() throws
}
