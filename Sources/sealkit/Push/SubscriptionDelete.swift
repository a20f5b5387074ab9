import ArgumentParser
import SealKit

struct SubscriptionDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Be told no more.",
        discussion: "  sealkit subscription delete everything")

    @Argument(help: "The subscription's id.")
    var id: String

    @OptionGroup var location: SubscriptionDatabaseOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await location.database(client).deleteSubscription(withID: id)
        try output.result("deleted \(id.escaped)", json: ["deleted": .string(id)])
    }
}
