import SealQuery
import SealWire
import SwiftProtobuf

extension Database {
    func wire(_ subscription: any Subscription) throws(SealKitError) -> Sealkit_V1_Subscription {
        var wire = Sealkit_V1_Subscription()
        wire.subscriptionID = subscription.subscriptionID
        wire.kind = UInt32(subscription.subscriptionType.rawValue)
        if let info = subscription.notificationInfo { wire.notificationInfo = info.wire }
        wire.webhook = subscription.webhook ?? ""
        switch subscription {
        case let subscription as DatabaseSubscription:
            wire.recordType = subscription.recordType ?? ""
        case let subscription as RecordZoneSubscription:
            wire.zone = try zoneScope(subscription.zoneID).zoneIDOnWire
            wire.recordType = subscription.recordType ?? ""
        case let subscription as QuerySubscription:
            if let zone = subscription.zoneID { wire.zone = try zoneScope(zone).zoneIDOnWire }
            wire.recordType = subscription.recordType
            wire.filterBy = Query(recordType: subscription.recordType, predicate: subscription.predicate).wire.filterBy
            wire.firesOn = subscription.querySubscriptionOptions.rawValue
        default:
            throw SealKitError(
                .invalidArguments, "a subscription of a type that SealKit does not know",
                remedy: "use DatabaseSubscription, RecordZoneSubscription or QuerySubscription")
        }
        return wire
    }

    /// - Throws: `incompatibleVersion` for a kind or predicate that this version does not know.
    func subscription(_ wire: Sealkit_V1_Subscription) throws(SealKitError) -> any Subscription {
        let info = wire.hasNotificationInfo ? NotificationInfo(wire.notificationInfo) : nil
        let webhook = wire.webhook.isEmpty ? nil : wire.webhook
        let recordType = wire.recordType.isEmpty ? nil : wire.recordType
        switch SubscriptionType(rawValue: Int(wire.kind)) {
        case .database:
            var subscription = DatabaseSubscription(subscriptionID: wire.subscriptionID)
            subscription.recordType = recordType
            (subscription.notificationInfo, subscription.webhook) = (info, webhook)
            return subscription
        case .recordZone:
            var subscription = RecordZoneSubscription(zoneID: zoneID(wire.zone), subscriptionID: wire.subscriptionID)
            subscription.recordType = recordType
            (subscription.notificationInfo, subscription.webhook) = (info, webhook)
            return subscription
        case .query:
            let query: Query
            do {
                query = try Query(
                    .with {
                        $0.recordType = wire.recordType
                        $0.filterBy = wire.filterBy
                    })
            } catch {
                throw SealKitError(
                    .incompatibleVersion, "the subscription has a predicate that this version does not read",
                    remedy: "update SealKit")
            }
            var subscription = QuerySubscription(
                recordType: query.recordType, predicate: query.predicate, subscriptionID: wire.subscriptionID,
                options: QuerySubscription.Options(rawValue: wire.firesOn))
            subscription.zoneID = wire.hasZone ? zoneID(wire.zone) : nil
            (subscription.notificationInfo, subscription.webhook) = (info, webhook)
            return subscription
        case nil:
            throw SealKitError(
                .incompatibleVersion, "the subscription is of a kind that this version does not know",
                remedy: "update SealKit")
        }
    }
}
