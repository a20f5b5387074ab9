/// A database's engine itself, with what it is watched by.
package protocol EngineDatabase: SQLDatabase, AnyObject {
    /// How many wait for the writer.
    var waitingWrites: Int { get }

    /// Runs a transaction before any other one, each time after the connection that writes was opened again: it may be
    /// to another server then, which has another history. The first time is its caller's.
    func whenReopened(_ body: @escaping @Sendable (any SQLConnection) throws -> Void)

    var reads: ReadCounts { get }

    var damage: DatabaseDamage { get }

    /// The processes that serve it beside this one.
    var peers: Peers { get }

    /// Makes this process one of those that serve the database: others see it from now on, and each hears what the
    /// others announce.
    /// - Throws: `unavailable`.
    func join() async throws
}
