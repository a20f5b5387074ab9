import ArgumentParser
import SealKit

struct SubscriptionList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the account's subscriptions.",
        discussion: "  sealkit subscription list --json")

    @OptionGroup var location: SubscriptionDatabaseOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        for subscription in try await location.database(client).allSubscriptions() {
            let kind: String
            var zone: RecordZone.ID?
            var type: String?
            switch subscription {
            case let subscription as QuerySubscription: (kind, zone, type) = ("query", subscription.zoneID, subscription.recordType)
            case let subscription as RecordZoneSubscription:
                (kind, zone, type) = ("zone", subscription.zoneID, subscription.recordType)
            case let subscription as DatabaseSubscription: (kind, type) = ("database", subscription.recordType)
            default: kind = "unknown"
            }
            let id = subscription.subscriptionID
            let details = [kind, zone?.description.escaped, type?.escaped].compactMap { $0 }.joined(separator: "  ")
            try output.result(
                "\(id.escaped.padded(to: 24))\(details)", bare: id.escaped,
                json: [
                    "subscription": .string(id), "kind": .string(kind), "zone": JSONValue(zone?.zoneName), "type": JSONValue(type),
                    "webhook": JSONValue(subscription.webhook),
                ])
        }
    }
}
