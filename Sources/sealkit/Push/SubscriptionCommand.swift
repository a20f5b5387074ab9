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
    @Flag(help: "In the shared database: zones that others share. The same as --database shared.")
    var shared = false

    @Option(help: "The private, shared or public database. Default: private; of list, all.")
    var database: Name?

    enum Name: String, ExpressibleByArgument, CaseIterable {
        case `private`, shared, `public`
    }

    func validate() throws {
        guard !shared || database == nil || database == .shared else {
            throw ValidationError("Give --shared or --database, not both.")
        }
    }

    /// Nil where none was named.
    var given: Name? { database ?? (shared ? .shared : nil) }

    func database(_ client: Client) -> Database { (given ?? .private).database(client) }
}

extension SubscriptionDatabaseOption.Name {
    func database(_ client: Client) -> Database {
        switch self {
        case .private: client.container.privateDatabase
        case .shared: client.container.sharedDatabase
        case .public: client.container.publicDatabase
        }
    }
}
