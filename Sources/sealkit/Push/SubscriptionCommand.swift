import ArgumentParser
import SealKit

struct SubscriptionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "What the account's devices are told of: `watch` prints it.",
        subcommands: [SubscriptionCreate.self, SubscriptionList.self, SubscriptionDelete.self])
}

/// Which database a subscription is in.
struct SubscriptionDatabaseOption: ParsableArguments {
    @Flag(help: "In the shared database: zones that others share.")
    var shared = false

    func database(_ client: Client) -> Database {
        shared ? client.container.sharedDatabase : client.container.privateDatabase
    }
}
