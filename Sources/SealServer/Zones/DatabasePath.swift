import Foundation
import Hummingbird
import SealStatements
import SealWire

/// Which database a request is about: `/database/1/{container}/{environment}/{public|private|shared}`.
struct DatabasePath: Sendable, Hashable {
    let container: String
    let environment: SealStatements.Environment
    let database: Database
    /// The zones of others that the caller is a participant of.
    var isShared: Bool { database == .shared }

    enum Database: String, Sendable, Hashable {
        case `public`, `private`, shared
    }

    init(container: String, environment: SealStatements.Environment, database: Database) {
        self.container = container
        self.environment = environment
        self.database = database
    }

    /// The container and environment that a path names.
    /// - Throws: `badContainer`, `invalidArguments`.
    static func place(
        _ context: SealRequestContext
    ) throws(ServerError) -> (container: String, environment: SealStatements.Environment) {
        (try container(context), try environment(context))
    }

    /// - Throws: `badContainer`, `badDatabase`, `invalidArguments`.
    init(_ context: SealRequestContext) throws(ServerError) {
        let (container, environment) = try Self.place(context)
        guard let database = Database(rawValue: context.parameters.get("database") ?? "") else {
            throw ServerError(.badDatabase, "The path does not name a database.", remedy: "Use public, private or shared.")
        }
        self.init(container: container, environment: environment, database: database)
    }

    static func container(_ context: SealRequestContext) throws(ServerError) -> String {
        guard let container = PercentEncoding.decode(context.parameters.get("container") ?? ""), Names.isContainer(container)
        else {
            throw ServerError(
                .badContainer, "The path does not name a container.",
                remedy: "A container's name has letters, digits, dots and hyphens, up to 255.")
        }
        return container
    }

    static func environment(_ context: SealRequestContext) throws(ServerError) -> SealStatements.Environment {
        guard let environment = SealStatements.Environment(name: context.parameters.get("environment") ?? "") else {
            throw ServerError(
                .invalidArguments, "The path does not name an environment.", remedy: "Use development or production.")
        }
        return environment
    }

    /// For calls that need rosters.
    func requireNotPublic() throws(ServerError) {
        guard database != .public else {
            throw ServerError(
                .badDatabase, "The public database has one zone, no rosters and no change feed.",
                remedy: "Use the private or the shared database; look records of the public one up, or query them.")
        }
    }

    /// For calls that only the private database takes.
    func requirePrivate() throws(ServerError) {
        guard database == .private else {
            throw ServerError(
                .badDatabase, "This is not possible in the \(database.rawValue) database.", remedy: "Use the private database.")
        }
    }

    /// For calls that only the public database takes.
    func requirePublic() throws(ServerError) {
        guard database == .public else {
            throw ServerError(
                .badDatabase, "This is for public databases, not for the \(database.rawValue) one.",
                remedy: "Use the public database's path.")
        }
    }
}

/// Percent-encoding in a path's parts: zone names hold any printable ASCII, slashes included.
enum PercentEncoding {
    /// Nil for a broken escape or anything that is not UTF-8.
    static func decode(_ text: String) -> String? {
        guard text.utf8.contains(0x25) else { return text }
        return text.removingPercentEncoding
    }
}
