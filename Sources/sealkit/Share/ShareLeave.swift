import ArgumentParser
import SealKit

struct ShareLeave: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave a share of somebody else's.",
        discussion: """
              sealkit share leave Notes --owner _0123…
              sealkit share leave Lists --owner _0123… --record groceries
            """)

    @Argument(help: "The zone.")
    var zone: String

    @Option(
        help: ArgumentHelp(
            "The owner's user name, as zone list prints it, or the name that you have given it.", valueName: "user"))
    var owner: String

    @OptionGroup var shared: SharedRecordOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = (
            client.container.sharedDatabase, RecordZone.ID(zoneName: zone, ownerName: PeopleNames.recordName(owner))
        )
        if shared.record != nil {
            // In the shared database a share's deletion is the participant's leaving.
            try await database.deleteRecord(withID: try await client.share(of: zoneID, shared, in: database).recordID)
        } else {
            try await database.leaveShare(of: zoneID)
        }
        try output.result("left \(zone.escaped)", json: ["left": .string(zone), "owner": .string(owner)])
    }
}
