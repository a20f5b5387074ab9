import ArgumentParser
import SealKit

struct ShareStop: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract:
            "Stop sharing a zone: everybody is put out, and its records stay yours. The URL is the same when it is shared again.",
        discussion: """
            Whoever was in it has to be invited again: it asks for the name of what is shared, unless --yes is given.

              sealkit share stop Notes
              sealkit share stop Lists --record groceries --yes
            """)

    @Argument(help: "The zone.")
    var zone: String

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let database = client.container.privateDatabase
        let share = try await client.ownShare(zone, shared)
        let name = shared.record ?? zone
        let others = share.participants.count { $0.role != .owner }
        try confirmation.confirm(
            "This puts everybody out of \(name.escaped) (participants and invitations: \(others))", typing: name)
        try await database.deleteRecord(withID: share.recordID)
        try output.result(
            "\(shared.record?.escaped ?? zone.escaped) is shared with nobody any more", json: ["zone": .string(zone)])
    }
}
