import ArgumentParser
import SealKit

struct WatchCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what the account's subscriptions tell, as it happens.",
        discussion: """
            Changes by this command's own session are left out, those of all other devices are not. A notification says that \
            something changed, not what: `sealkit record list` fetches it.

              sealkit subscription create everything
              sealkit watch --json
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("Go on after this notification, as it was printed.", valueName: "id"))
    var after: String?

    func run(_ client: Client) async throws {
        for try await notification in client.container.notifications(after: after) {
            switch notification.content {
            case .ready:
                try output.result("watching", json: Self.json("ready", notification))
            case .reset:
                try output.result("more happened than is kept: fetch all changes", json: Self.json("reset", notification))
            case .fired(let fired):
                try output.result(
                    Self.text(fired), bare: fired.recordID?.recordName ?? fired.zoneID.description,
                    json: Self.json("notification", notification).merging(NotificationText.json(fired)) { $1 })
            }
        }
        // A stream whose task is cancelled ends as one that is over.
        try Task.checkCancellation()
    }

    private static func json(_ event: String, _ notification: Container.Notification) -> [String: JSONValue] {
        ["event": .string(event), "id": JSONValue(notification.id)]
    }

    private static func text(_ fired: Container.Notification.Fired) -> String { NotificationText.text(fired) }
}
