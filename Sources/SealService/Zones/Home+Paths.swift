import SealStatements
import SealStorage

extension Home {
    /// Of the container that a database is of, in its environment.
    static func container(_ path: DatabasePath) -> Home {
        .container(path.container, environment: Int64(path.environment.rawValue))
    }
}
