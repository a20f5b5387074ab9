import ArgumentParser
import Foundation
import SealKit

struct ExportCommand: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a zone's records as they are stored and sealed, for another implementation to check.",
        discussion: """
            The folder gets the signed roster, this account's grants, the records' statements and sealed fields, and the sealed \
            bytes of their files. Nothing in it is secret; Vectors/verify.py opens it with the key file. Of the public database: the \
            records that are named, and who signed them.

            Records that their authors signed such that they do not open are left out and named, and so are those whose files are not \
            what was signed for; the exit code is then \(ExitStatus.integrity.rawValue).

              sealkit export --raw ./notes --zone Notes
              sealkit export --raw ./first --zone Notes --record first
              sealkit export --raw ./places --database public --record berlin
            """)

    @Option(help: ArgumentHelp("The folder to make.", valueName: "folder"), completion: .directory)
    var raw: String

    @Option(
        name: .customLong("record"),
        help: ArgumentHelp("Only this record; may be given several times.", valueName: "name"))
    var records: [String] = []

    @OptionGroup var zone: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if zone.database == .public, records.isEmpty {
            throw ValidationError(
                "Name the records with --record: the public database has no feed to read all of them from.")
        }
    }

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        let export: Database.RawExport
        do {
            export = try await database.exportRaw(
                zoneID, recordNames: records.isEmpty ? nil : records, to: URL(fileURLWithPath: raw))
        } catch {
            guard [.internalError, .constraintViolation].contains(error.code) else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
        }
        output.noteRemoved(export.removedParts, besides: raw)
        let failures = FailedRecords(export.failures)
        failures.show(global)
        try output.result(
            "\(raw): \(export.records.counted("record")), \(export.assets.counted("file")), "
                + export.entries.counted("roster entry", "roster entries"),
            json: [
                "folder": .string(raw), "records": .integer(Int64(export.records)),
                "assets": .integer(Int64(export.assets)),
                "entries": .integer(Int64(export.entries)), "failures": failures.json,
            ])
        guard failures.isEmpty else { throw ExitCode(ExitStatus.integrity.rawValue) }
    }
}
