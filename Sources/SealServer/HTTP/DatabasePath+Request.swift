import Foundation
import Hummingbird
import SealService
import SealStatements
import SealWire

extension DatabasePath {
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
        guard let database = Database(rawValue: context.pathParameters["database"] ?? "") else {
            throw ServerError(
                .badDatabase, "The path does not name a database.", remedy: "Use public, private or shared.")
        }
        self.init(container: container, environment: environment, database: database)
    }

    static func container(_ context: SealRequestContext) throws(ServerError) -> String {
        guard let container = PercentEncoding.decode(context.pathParameters["container"] ?? ""),
            Names.isContainer(container)
        else {
            throw ServerError(
                .badContainer, "The path does not name a container.",
                remedy: "A container's name has letters, digits, dots and hyphens, up to 255.")
        }
        return container
    }

    static func environment(_ context: SealRequestContext) throws(ServerError) -> SealStatements.Environment {
        guard let environment = SealStatements.Environment(name: context.pathParameters["environment"] ?? "") else {
            throw ServerError(
                .invalidArguments, "The path does not name an environment.", remedy: "Use development or production.")
        }
        return environment
    }
}
