import ArgumentParser
import Foundation
import SealKit

struct DataImportCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Save an archive of sealkit data export into this account's zones.",
        discussion: """
            Nothing that is there is changed: an import that was cut short is simply run again. Dates, authors and shares do not \
            come along; invite people anew. What the exporter had made in the container's public database is left out, unless \
            --public is given: then this account publishes it, under its own name.

              sealkit data import ./archive --account elsewhere
              sealkit data import ./archive --account elsewhere --public
            """)

    @Argument(help: ArgumentHelp("The archive.", valueName: "folder"), completion: .directory)
    var folder: String

    @Flag(
        name: .customLong("public"), help: "Also publish the archive's public records, where everybody may read them.")
    var includesPublic = false

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let done = try await client.container.importData(
            from: URL(fileURLWithPath: folder), includingPublic: includesPublic)
        for id in done.different { output.note("left as it is: \(id.description.escaped)") }
        for id in done.differentPublic { output.note("left as it is in the public database: \(id.recordName.escaped)") }
        for zone in done.skipped {
            switch zone.database {
            case .public:
                output.note(
                    "not imported, since they would be public: \(zone.records.counted("record")); import them with --public"
                )
            case .shared, .private: output.note("not imported, since it is somebody else's: \(zone.zoneName.escaped)")
            }
        }
        let left = done.different.count + done.differentPublic.count
        try output.result(
            "\(done.records.counted("record")) saved, \(done.unchanged) were there, \(left) are others there and were left",
            bare: "\(done.records)",
            json: [
                "records": .integer(Int64(done.records)), "unchanged": .integer(Int64(done.unchanged)),
                "different": .array(done.different.map { .string($0.description) }),
                "differentPublic": .array(done.differentPublic.map { .string($0.recordName) }),
                "skipped": .array(
                    done.skipped.map {
                        .object([
                            "database": .string("\($0.database)"), "zone": .string($0.zoneName),
                            "records": .integer(Int64($0.records)),
                        ])
                    }),
            ])
    }
}
