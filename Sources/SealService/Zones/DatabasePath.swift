package import SealStatements
import SealWire

/// Which database a request is about: `/database/1/{container}/{environment}/{public|private|shared}`.
package struct DatabasePath: Sendable, Hashable {
    package let container: String
    package let environment: SealStatements.Environment
    package let database: Database
    /// The zones of others that the caller is a participant of.
    package var isShared: Bool { database == .shared }

    package enum Database: String, Sendable, Hashable {
        case `public`, `private`, shared
    }

    package init(container: String, environment: SealStatements.Environment, database: Database) {
        self.container = container
        self.environment = environment
        self.database = database
    }

    /// For calls that need rosters.
    package func requireNotPublic() throws(ServerError) {
        guard database != .public else {
            throw ServerError(
                .badDatabase, "The public database has one zone, no rosters and no change feed.",
                remedy: "Use the private or the shared database; look records of the public one up, or query them.")
        }
    }

    /// For calls that only the private database takes.
    package func requirePrivate() throws(ServerError) {
        guard database == .private else {
            throw ServerError(
                .badDatabase, "This is not possible in the \(database.rawValue) database.",
                remedy: "Use the private database.")
        }
    }

    /// For calls that only the public database takes.
    package func requirePublic() throws(ServerError) {
        guard database == .public else {
            throw ServerError(
                .badDatabase, "This is for public databases, not for the \(database.rawValue) one.",
                remedy: "Use the public database's path.")
        }
    }
}
