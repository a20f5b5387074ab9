import ArgumentParser
import SealKit

struct ShareLeave: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave a share of somebody else's.",
        discussion: "  sealkit share leave Notes --owner _0123…")

    @Argument(help: "The zone.")
    var zone: String

    @Option(help: ArgumentHelp("The owner's user name, as zone list prints it.", valueName: "user"))
    var owner: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await client.container.sharedDatabase.leaveShare(of: RecordZone.ID(zoneName: zone, ownerName: owner))
        output.result("left \(zone.escaped)", json: ["left": .string(zone), "owner": .string(owner)])
    }
}
