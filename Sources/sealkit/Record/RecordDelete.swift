import ArgumentParser
import SealKit

struct RecordDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a record. One that is not there is no error.",
        discussion: """
            Records that refer to it such that they are deleted along go with it.

              sealkit record delete first --zone Notes
            """)

    @Argument(help: "The record's name.")
    var name: String

    @OptionGroup var zone: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        try await database.deleteRecord(withID: Record.ID(recordName: name, zoneID: zoneID))
        try output.result("deleted \(name.escaped)", json: ["deleted": .string(name)])
    }
}
