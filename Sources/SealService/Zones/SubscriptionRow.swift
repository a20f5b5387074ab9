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
