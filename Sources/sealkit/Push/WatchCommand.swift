import ArgumentParser
import SealKit

struct WatchCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what the account's subscriptions tell, as it happens.",
        discussion: """
            While the server is away it waits, and says so on standard error.

            Changes by this command's own session are left out, those of all other devices are not. A notification says that \
            something changed, not what: `sealkit record list` fetches it.

              sealkit subscription create everything
              sealkit subscription create shares --shared
              sealkit watch --json
            """)

    @OptionGroup var global: GlobalOptions

    @Option(help: ArgumentHelp("Go on after this notification: its id, which --json prints.", valueName: "id"))
    var after: String?

    func run(_ client: Client) async throws {
        let output = output
        let notifications = client.container.notifications(after: after) { away in
            if let away {
                Self.remark(
                    "the server is away; waiting for it: \(away.said)",
                    json: ["event": .string("away"), "reason": .string(away.said)], output)
            } else {
                Self.remark("the server is back", json: ["event": .string("back")], output)
            }
        }
        var remark: Task<Void, Never>?
        defer { remark?.cancel() }
        for try await notification in notifications {
            switch notification.content {
            case .ready:
                try output.result("watching", json: Self.json("ready", notification))
            case .reset:
                try output.result(
                    "more happened than is kept: fetch all changes", json: Self.json("reset", notification))
            case .fired(let fired):
                try output.result(
                    Self.text(fired), bare: NotificationText.bare(fired),
                    json: Self.json("notification", notification).merging(NotificationText.json(fired)) { $1 })
            }
            // Beside what comes: no notification waits for what only explains why there is none.
            if remark == nil { remark = Task { await tellIfNothingIsWatched(client) } }
        }
        // A stream whose task is cancelled ends as one that is over.
        try Task.checkCancellation()
    }

    /// Whether there is anything to tell of cannot always be asked; the stream then says why.
    private func tellIfNothingIsWatched(_ client: Client) async {
        let container = client.container
        async let own = container.privateDatabase.allSubscriptions()
        async let shared = container.sharedDatabase.allSubscriptions()
        async let common = container.publicDatabase.allSubscriptions()
        guard let all = try? await [own, shared, common], all.allSatisfy(\.isEmpty) else { return }
        Self.remark(
            "there is nothing to watch until the account has a subscription: sealkit subscription create everything; "
                + "with --shared for what others share",
            json: ["event": .string("nothing")], output)
    }

    /// On standard error: what standard output has is notifications.
    private static func remark(_ text: String, json: [String: JSONValue], _ output: Output) {
        if output.isJSON { Output.standardError(JSONValue.object(json).line) } else { output.note(text.escaped) }
    }

    private static func json(_ event: String, _ notification: Container.Notification) -> [String: JSONValue] {
        ["event": .string(event), "id": JSONValue(notification.id)]
    }

    private static func text(_ fired: Container.Notification.Fired) -> String { NotificationText.text(fired) }
}
