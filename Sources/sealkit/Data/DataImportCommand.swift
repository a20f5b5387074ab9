import ArgumentParser
import Foundation
import SealKit

struct DataImportCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Save an archive of sealkit data export into this account's zones.",
        discussion: """
            Nothing that is there is changed: an import that was cut short is simply run again. Dates, authors and shares do not \
            come along; invite people anew.

              sealkit data import ./archive --account elsewhere
            """)

    @Argument(help: ArgumentHelp("The archive.", valueName: "folder"))
    var folder: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let done = try await client.container.importData(from: URL(fileURLWithPath: folder))
        for id in done.different { output.note("left as it is: \(id.description.escaped)") }
        for zone in done.skipped { output.note("not imported, since it is somebody else's: \(zone.escaped)") }
        output.result(
            "\(done.records) records saved, \(done.unchanged) were there, \(done.different.count) are others there and were left",
            bare: "\(done.records)",
            json: [
                "records": .integer(Int64(done.records)), "unchanged": .integer(Int64(done.unchanged)),
                "different": .array(done.different.map { .string($0.description) }),
                "skipped": .array(done.skipped.map(JSONValue.string)),
            ])
    }
}
