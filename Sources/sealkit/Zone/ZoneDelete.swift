import ArgumentParser
import SealKit

struct ZoneDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a zone with all its records and its share.",
        discussion: "  sealkit zone delete Notes")

    @Argument(help: "The zone's name.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await client.container.privateDatabase.deleteRecordZone(withID: RecordZone.ID(zoneName: name))
        output.result("deleted \(name.escaped)", json: ["deleted": .string(name)])
    }
}
