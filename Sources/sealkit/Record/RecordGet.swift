import ArgumentParser
import Foundation
import SealKit

struct RecordGet: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show a record. It is verified first: its author, its place, every field.",
        discussion: """
              sealkit record get first --zone Notes
              sealkit record get first --zone Notes --value text > first.txt

            Files are named, and stay on the server until they are fetched: sealkit record asset

            A version that is older than what this device has seen is refused. --restoring shows it all the same, verified but for \
            its age, for a server that was restored from a backup: save it with sealkit record save --restoring --update, and it \
            counts again.
            """)

    @Argument(help: "The record's name.")
    var name: String

    @OptionGroup var zone: PlaceOptions

    @Option(
        help: ArgumentHelp(
            "Print this field's value alone: into a file or pipe as it is, at a terminal escaped.", valueName: "key"))
    var value: String?

    @Flag(help: "The version that a restored server has, though this device has seen a later one.")
    var restoring = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        let id = Record.ID(recordName: name, zoneID: zoneID)
        let record = try await restoring ? database.restoredRecord(for: id) : database.record(for: id)
        guard let value else {
            try output.result(
                RecordText.text(record), bare: RecordText.text(record), json: ["record": RecordText.json(record)])
            return
        }
        guard let found = record.encryptedValues.value(value) ?? record.plainValue(value) else {
            throw SealKitError(
                .unknownItem, "the record has no value \(value)", remedy: "files are fetched by sealkit record asset")
        }
        let bytes = RecordText.bytes(found)
        if isatty(STDOUT_FILENO) == 1 {
            try Output.standardOutput(
                String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                    .map { String($0).escaped }.joined(separator: "\n"))
        } else {
            try StandardStream.output.write(bytes)
        }
    }
}
