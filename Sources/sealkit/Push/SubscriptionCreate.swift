import ArgumentParser
import SealKit
import SealQuery

struct SubscriptionCreate: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Have changes told: in the whole database, in one zone, or of records of one type.",
        discussion: """
            Without an option it tells of one's own zones, all of them. What others share is another database, with \
            subscriptions of its own: --shared.

              sealkit subscription create everything
              sealkit subscription create notes --zone Notes
              sealkit subscription create lists --type List
              sealkit subscription create new-notes --records-of Note --on creation --alert "A new note"
              sealkit subscription create shares --shared
              sealkit subscription create places --database public --records-of Place --where "city = 'Berlin'"

            A subscription under an id that exists takes its place. One for a record type that there is not is taken, and tells \
            from the type's first record on: a warning says so, should the type be mistyped.
            """)

    @Argument(help: "The subscription's id: 1 to 255 printable ASCII characters.")
    var id: String

    @OptionGroup var location: SubscriptionDatabaseOption

    @Option(help: "Only this zone of one's own.")
    var zone: String?

    @Option(help: "Only changes of records of this type, without saying which.")
    var type: String?

    @Option(help: ArgumentHelp("Tell of each record of this type.", valueName: "type"))
    var recordsOf: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "With --records-of: only those that fulfil this, like \"stars > 3\".", valueName: "predicate"))
    var predicate: String?

    @Option(help: "With --records-of: creation, update or deletion; repeat it for more. Default: all three.")
    var on: [Event] = []

    @Flag(help: "With --records-of: once, then the subscription goes.")
    var once = false

    @Option(help: "Text for notifications to show. The server reads it.")
    var alert: String?

    @Option(
        help: ArgumentHelp(
            "Send notifications to this URL as well; the server's operator has to allow its origin.", valueName: "url"))
    var webhook: String?

    @OptionGroup var global: GlobalOptions

    enum Event: String, ExpressibleByArgument, CaseIterable {
        case creation, update, deletion

        var option: QuerySubscription.Options {
            switch self {
            case .creation: .firesOnRecordCreation
            case .update: .firesOnRecordUpdate
            case .deletion: .firesOnRecordDeletion
            }
        }
    }

    func validate() throws {
        guard recordsOf == nil || type == nil else { throw ValidationError("Give --type or --records-of, not both.") }
        guard recordsOf != nil || (on.isEmpty && !once && predicate == nil) else {
            throw ValidationError("--where, --on and --once go with --records-of.")
        }
    }

    func run(_ client: Client) async throws {
        var subscription = try subscription()
        if let alert {
            var info = NotificationInfo()
            info.alertBody = alert
            subscription.notificationInfo = info
        }
        subscription.webhook = webhook
        try await location.database(client).save(subscription)
        try output.result("subscribed \(id.escaped)", json: ["subscription": .string(id)])
        await warnOfUnknownType(client)
        if subscription is DatabaseSubscription, (location.given ?? .private) == .private {
            output.note(
                "This tells of your own zones. For those that others share with you, make another one with --shared.")
        }
    }

    /// Beside the subscription: a query says whether the type is there.
    private func warnOfUnknownType(_ client: Client) async {
        guard let type = recordsOf ?? type else { return }
        do throws(SealKitError) {
            _ = try await location.database(client).records(
                matching: Query(recordType: type, predicate: .constant(true)),
                inZoneWith: zone.map { RecordZone.ID(zoneName: $0) }, desiredKeys: [], resultsLimit: 1)
        } catch let error where error.code == .unknownItem {
            output.note(
                "warning: there is no record type \(type.escaped) here yet; this tells nothing before its first record. "
                    + "Mind capitals, should another one be meant.")
        } catch {}
    }

    private func subscription() throws(SealKitError) -> any Subscription {
        let zoneID = zone.map { RecordZone.ID(zoneName: $0) }
        if let recordsOf {
            let events = (on.isEmpty ? Event.allCases : on).reduce(into: QuerySubscription.Options()) {
                $0.formUnion($1.option)
            }
            var query = QuerySubscription(
                recordType: recordsOf, predicate: try parsed(), subscriptionID: id,
                options: once ? events.union(.firesOnce) : events)
            query.zoneID = zoneID
            return query
        }
        if let zoneID {
            var subscription = RecordZoneSubscription(zoneID: zoneID, subscriptionID: id)
            subscription.recordType = type
            return subscription
        }
        var subscription = DatabaseSubscription(subscriptionID: id)
        subscription.recordType = type
        return subscription
    }

    private func parsed() throws(SealKitError) -> Query.Predicate {
        guard let predicate else { return .constant(true) }
        do {
            return try Query.Predicate(text: predicate, arguments: [])
        } catch {
            throw SealKitError(.invalidArguments, error.reason, remedy: error.remedy)
        }
    }
}
