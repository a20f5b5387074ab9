/// Whose SQL a connection speaks. Statements are written once, in what both share; who has to ask which one it is says
/// why there is no other way.
package enum SQLDialect: Sendable {
    case sqlite, postgres

    /// As metrics name it.
    var engine: String {
        switch self {
        case .sqlite: "sqlite"
        case .postgres: "postgresql"
        }
    }
}
