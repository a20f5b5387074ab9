/// A database as subscriptions to it are stored.
package enum SubscribedDatabase: Int64, Sendable {
    case `public` = 1
    case `private` = 2
    case shared = 3

    package init(_ database: DatabasePath.Database) {
        switch database {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        }
    }

    package var name: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}
