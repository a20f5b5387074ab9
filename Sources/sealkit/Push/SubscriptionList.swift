import ArgumentParser
import SealKit

struct SubscriptionList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the account's subscriptions: of every database, or of the one that is named.",
        discussion: "  sealkit subscription list --json")

    @OptionGroup var location: SubscriptionDatabaseOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let databases = location.given.map { [$0] } ?? SubscriptionDatabaseOption.Name.allCases
        for name in databases {
            for subscription in try await name.database(client).allSubscriptions() { try show(subscription, in: name) }
        }
    }

    private func show(_ subscription: any Subscription, in database: SubscriptionDatabaseOption.Name)
        throws(SealKitError)
    {
        let kind: String
        var zone: RecordZone.ID?
        var type: String?
        switch subscription {
        case let subscription as QuerySubscription:
            (kind, zone, type) = ("query", subscription.zoneID, subscription.recordType)
        case let subscription as RecordZoneSubscription:
            (kind, zone, type) = ("zone", subscription.zoneID, subscription.recordType)
        case let subscription as DatabaseSubscription: (kind, type) = ("database", subscription.recordType)
        default: kind = "unknown"
        }
        let id = subscription.subscriptionID
        let details = [database.rawValue, kind, zone?.description.escaped, type?.escaped].compactMap { $0 }.joined(
            separator: "  ")
        try output.result(
            "\(id.escaped.padded(to: 24))\(details)", bare: id.escaped,
            json: [
                "subscription": .string(id), "database": .string(database.rawValue), "kind": .string(kind),
                "zone": JSONValue(zone?.zoneName), "type": JSONValue(type),
                "webhook": JSONValue(subscription.webhook),
            ])
    }
}
