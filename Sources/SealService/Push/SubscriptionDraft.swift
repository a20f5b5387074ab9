import Foundation
import SealPrimitives
package import SealQuery
import SealStatements
package import SealWire
import SwiftProtobuf

/// A subscription that is to be saved, checked as far as that is possible without the database.
package struct SubscriptionDraft: Sendable {
    package let message: Sealkit_V1_Subscription
    package let kind: SubscriptionRow.Kind
    let firesOn: SubscriptionRow.FiresOn
    /// The fields that its predicate asks for.
    package let keys: Set<String>

    package var id: String { message.subscriptionID }

    /// - Throws: `badDatabase` where the database does not take the kind; `invalidArguments`, `limitExceeded`.
    package init(
        _ message: Sealkit_V1_Subscription, in database: DatabasePath.Database, webhooks: WebhookTargets
    ) throws(ServerError) {
        try Self.check(id: message.subscriptionID)
        guard let kind = SubscriptionRow.Kind(rawValue: Int64(message.kind)) else {
            throw ServerError(
                .invalidArguments, "The subscription's kind is unknown.",
                remedy: "Use 1 (query), 2 (recordZone) or 3 (database).")
        }
        guard Self.isAllowed(kind, in: database) else {
            throw ServerError(
                .badDatabase, "The \(database.rawValue) database does not take subscriptions of this kind.",
                remedy: """
                    The public database takes query subscriptions, the private one query, zone and database subscriptions, \
                    the shared one database subscriptions.
                    """)
        }
        try Self.checkZone(message, kind)
        keys = try Self.checkQuery(message, kind)
        try Self.check(message.notificationInfo, kind)
        if !message.webhook.isEmpty { try webhooks.check(message.webhook) }
        // The parts have limits of their own, but many conditions with long lists: all of it is read at every save.
        guard let size = try? message.serializedData().count, size <= PushLimits.subscriptionBytes else {
            throw ServerError(
                .limitExceeded, "The subscription takes more than \(PushLimits.subscriptionBytes) bytes.",
                remedy: "Use fewer conditions and shorter lists of values.")
        }
        self.message = message
        self.kind = kind
        firesOn = SubscriptionRow.FiresOn(rawValue: Int64(message.firesOn))
    }

    package static func check(id: String) throws(ServerError) {
        guard Names.isPlain(id) else {
            throw ServerError(
                .invalidArguments, "The subscription's id is not allowed.",
                remedy: "Use 1 to 255 printable ASCII characters.")
        }
    }

    /// CloudKit's table.
    private static func isAllowed(_ kind: SubscriptionRow.Kind, in database: DatabasePath.Database) -> Bool {
        switch database {
        case .public: kind == .query
        case .private: true
        case .shared: kind == .database
        }
    }

    private static func checkZone(_ message: Sealkit_V1_Subscription, _ kind: SubscriptionRow.Kind) throws(ServerError)
    {
        switch kind {
        case .zone where !message.hasZone:
            throw ServerError(.invalidArguments, "A zone subscription names its zone.", remedy: "Set the zone's id.")
        case .database where message.hasZone:
            throw ServerError(
                .invalidArguments, "A database subscription is for all zones.",
                remedy: "Leave the zone out, or make a zone subscription.")
        default: break
        }
    }

    /// Returns the predicate's fields.
    private static func checkQuery(
        _ message: Sealkit_V1_Subscription, _ kind: SubscriptionRow.Kind
    ) throws(ServerError) -> Set<String> {
        guard message.recordType.isEmpty || Names.isRecordType(message.recordType) else {
            throw ServerError(
                .invalidArguments, "The record type's name is not allowed.",
                remedy: "Use letters, digits and underscores, beginning with a letter.")
        }
        guard kind == .query else {
            guard message.firesOn == 0, message.filterBy.isEmpty else {
                throw ServerError(
                    .invalidArguments, "Only query subscriptions have a predicate and choose what they fire on.",
                    remedy: "Leave both out.")
            }
            return []
        }
        guard !message.recordType.isEmpty else {
            throw ServerError(
                .invalidArguments, "A query subscription names a record type.", remedy: "Set the record type.")
        }
        let query: Query
        do {
            query = try message.query()
        } catch {
            throw ServerError(.invalidArguments, "The subscription's predicate: \(error.reason).", remedy: error.remedy)
        }
        let firesOn = SubscriptionRow.FiresOn(rawValue: Int64(message.firesOn))
        guard firesOn.isSubset(of: .all), !firesOn.isDisjoint(with: .events) else {
            throw ServerError(
                .invalidArguments, "The query subscription fires on nothing, or on something unknown.",
                remedy: "Add up 1 (creation), 2 (update) and 4 (deletion), and 8 to fire once.")
        }
        return Set(query.predicate.conditions.compactMap(\.test.key))
    }

    private static func check(_ info: Sealkit_V1_NotificationInfo, _ kind: SubscriptionRow.Kind) throws(ServerError) {
        guard let size = try? info.serializedData().count, size <= PushLimits.infoBytes else {
            throw ServerError(
                .limitExceeded, "The notification info takes more than \(PushLimits.infoBytes) bytes.",
                remedy: "Use shorter texts, or localization keys.")
        }
        let keys = info.desiredKeys
        guard kind == .query || keys.isEmpty else {
            throw ServerError(
                .invalidArguments, "Only query subscriptions have desired keys.", remedy: "Leave the desired keys out.")
        }
        guard keys.count <= PushLimits.desiredKeys, Set(keys).count == keys.count, keys.allSatisfy(Names.isIdentifier)
        else {
            throw ServerError(
                .invalidArguments, "The desired keys are not up to \(PushLimits.desiredKeys) different field names.",
                remedy: "Name at most \(PushLimits.desiredKeys) fields, each once.")
        }
    }
}

extension Sealkit_V1_Subscription {
    /// The query of a query subscription.
    package func query() throws(QueryError) -> Query {
        try Query(
            .with {
                $0.recordType = recordType
                $0.filterBy = filterBy
            })
    }
}
