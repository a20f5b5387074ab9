package import SealStatements
package import SealStorage
import Synchronization

/// The schemas that requests are judged by, read once and remembered.
///
/// A schema is remembered under its version, which is random and new with every change. So nothing here has to be told
/// of changes: the caller's own transaction says which version holds in it, and a version whose transaction was taken
/// back is never asked for again.
package final class SchemaStore: Sendable {
    private struct Key: Hashable {
        let container: String
        let environment: Environment
    }

    /// More containers than a server has; the memory that hostile ones take stays bounded.
    private static let mostRemembered = 1_000

    private let cache = Mutex<[Key: StoredSchema]>([:])

    package init() {}

    /// The schema as the connection's snapshot or transaction sees it. Costs one look-up when it is remembered.
    package func schema(
        _ container: String, _ environment: Environment, in connection: any SQLConnection
    ) throws -> StoredSchema {
        guard let version = try SchemaTables.version(container, environment, in: connection) else {
            return StoredSchema(container: container, environment: environment)
        }
        let key = Key(container: container, environment: environment)
        if let known = cache.withLock({ $0[key] }), known.version == version { return known }
        let loaded = try SchemaTables.load(container, environment, in: connection)
        cache.withLock { cache in
            if cache.count >= Self.mostRemembered { cache.removeAll(keepingCapacity: true) }
            cache[key] = loaded
        }
        return loaded
    }

    /// What is remembered, whatever holds now.
    package func remembered(_ container: String, _ environment: Environment) -> StoredSchema? {
        cache.withLock { $0[Key(container: container, environment: environment)] }
    }
}
