import ArgumentParser
import SealKit

struct ZoneDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a zone with all its records and its share.",
        discussion: """
              sealkit zone delete Notes
              sealkit zone delete Notes --purge --yes

            Nothing brings it back: it asks for the zone's name, unless --yes is given. With --purge, apps on other devices are told \
            to delete their copies and not to upload them again.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @Flag(help: "Have the data gone from every device too.")
    var purge = false

    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = (client.container.privateDatabase, RecordZone.ID(zoneName: name))
        if !confirmation.yes {
            // One that is not there is told before anything is asked.
            let zone = try await database.recordZone(for: zoneID)
            try confirmation.confirm(
                "This deletes the zone \(name.escaped) with all its records\(zone.isShared ? ", for everybody whom it is shared with" : ""), for ever",
                typing: name)
        }
        try await database.deleteRecordZone(withID: zoneID, reason: purge ? .purged : .deleted)
        try output.result("deleted \(name.escaped)", json: ["deleted": .string(name)])
    }
}
