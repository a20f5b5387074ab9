import ArgumentParser
import SealKit

struct ZoneDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a zone with all its records and its share.",
        discussion: """
              sealkit zone delete Notes
              sealkit zone delete Notes --purge

            With --purge, apps on other devices are told to delete their copies and not to upload them again.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @Flag(help: "Have the data gone from every device too.")
    var purge = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await client.container.privateDatabase.deleteRecordZone(
            withID: RecordZone.ID(zoneName: name), reason: purge ? .purged : .deleted)
        output.result("deleted \(name.escaped)", json: ["deleted": .string(name)])
    }
}
