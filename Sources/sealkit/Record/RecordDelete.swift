import ArgumentParser
import SealKit

struct RecordDelete: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a record. One that is not there is no error.",
        discussion: """
            Records that refer to it such that they are deleted along go with it.

              sealkit record delete first --zone Notes

            A server that was restored from a backup may show again what was deleted since; this device refuses it, and --restoring \
            deletes it again. It also gives up what such a server has nothing left of, and this device goes on missing.
            """)

    @Argument(help: "The record's name.")
    var name: String

    @OptionGroup var zone: PlaceOptions

    @Flag(help: "Delete again what a restored server has lost the deletion of, or all of.")
    var restoring = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        let id = Record.ID(recordName: name, zoneID: zoneID)
        if restoring {
            let results = try await database.modifyRecords(deleting: [id], savePolicy: .restoring).deleteResults
            guard let result = results[id] else {
                throw SealKitError.lacking("the record")
            }
            try result.get()
        } else {
            try await database.deleteRecord(withID: id)
        }
        try output.result("deleted \(name.escaped)", json: ["deleted": .string(name)])
    }
}
