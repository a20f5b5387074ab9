import SealStatements
import SealWire
import SwiftProtobuf

/// A user's subscription in one database, as it is stored.
package struct SubscriptionRow: Sendable {
    /// CloudKit's numbers.
    package enum Kind: Int64, Sendable {
        case query = 1
        case zone = 2
        case database = 3
    }

    package enum Database: Int64, Sendable {
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

    /// What a query subscription fires on.
    struct FiresOn: OptionSet, Sendable {
        let rawValue: Int64
        static let creation = FiresOn(rawValue: 1)
        static let update = FiresOn(rawValue: 2)
        static let deletion = FiresOn(rawValue: 4)
        static let once = FiresOn(rawValue: 8)
        static let events: FiresOn = [.creation, .update, .deletion]
        static let all: FiresOn = [.events, .once]
    }
}
