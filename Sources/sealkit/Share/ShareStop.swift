import ArgumentParser
import SealKit

struct ShareStop: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop sharing a zone: everybody is put out, and its records stay yours. The URL is the same when it is shared again.",
        discussion: "  sealkit share stop Notes")

    @Argument(help: "The zone.")
    var zone: String

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let database = client.container.privateDatabase
        let share = try await client.ownShare(zone, shared)
        try await database.deleteRecord(withID: share.recordID)
        output.result("\(shared.record?.escaped ?? zone.escaped) is shared with nobody any more", json: ["zone": .string(zone)])
    }
}
