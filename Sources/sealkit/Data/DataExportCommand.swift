import ArgumentParser
import Foundation
import SealKit

struct DataExportCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write this account's data into a folder in an open format, decrypted.",
        discussion: """
            Of one container in one environment (--container, --environment), which the result names: an account that is used by \
            several apps is exported once for each.

            All zones of its private database, with records, files, and who shares them, and what this account has made in the \
            container's public database (as far as the server gives it out: what it withholds there nobody can notice); with \
            --shared also the zones of others, with --zone nothing but those. The folder is NOT ENCRYPTED: whoever reads it reads \
            everything. It holds no keys and no share's URL. The format is in Vectors/FILES.md, "Data archive".

            It appears whole or not at all, also when the command is cancelled. Killed (SIGKILL, a power cut), it leaves \
            FOLDER.part-XXXXXXXX behind, which the next export to FOLDER removes.

            Exits with 76 when records did not verify or open, when the server hides records that this device knows or, in the public \
            database, when some may not be read: all others are there, and those are named, here and in zone.json.

              sealkit data export ./archive
              sealkit data export ./archive --zone Notes
            """)

    @Argument(help: ArgumentHelp("The folder to make.", valueName: "folder"), completion: .directory)
    var folder: String

    @Option(
        name: .customLong("zone"), help: ArgumentHelp("Only this zone; may be given several times.", valueName: "name"))
    var zones: [String] = []

    @Flag(help: "Also the zones that others share with this account.")
    var shared = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if shared, !zones.isEmpty {
            throw ValidationError("Zones by name are this account's own: give --zone or --shared.")
        }
    }

    func run(_ client: Client) async throws {
        let export: Container.DataExport
        do {
            export = try await client.container.exportData(
                to: URL(fileURLWithPath: folder),
                zoneIDs: zones.isEmpty ? nil : zones.map { RecordZone.ID(zoneName: $0) },
                includingShared: shared)
        } catch {
            guard [.internalError, .constraintViolation].contains(error.code) else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
        }
        output.noteRemoved(export.removedParts, besides: folder)
        let failures = FailedRecords(export.failures)
        failures.show(global)
        output.note("\(folder) is not encrypted: keep it where nobody else reads it")
        try output.result(
            "\(folder): \(export.zones.counted("zone")), \(export.records.counted("record")), "
                + "\(export.assets.counted("file")) of \(global.containerIdentifier), \(global.environment.rawValue)",
            bare: folder,
            json: [
                "folder": .string(folder), "container": .string(global.containerIdentifier),
                "environment": .string(global.environment.rawValue), "zones": .integer(Int64(export.zones)),
                "records": .integer(Int64(export.records)),
                "assets": .integer(Int64(export.assets)), "unreadable": .integer(Int64(export.unreadable)),
                "failures": failures.json,
                "removedParts": .integer(Int64(export.removedParts)),
            ])
        guard export.unreadable == 0 else {
            output.note(
                "\(export.unreadable) records did not verify or open, are hidden or may not be read, and are not in it")
            throw ExitCode(ExitStatus.integrity.rawValue)
        }
    }
}
