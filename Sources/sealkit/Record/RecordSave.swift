import ArgumentParser
import Foundation
import SealKit

struct RecordSave: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save a record: plain fields, encrypted fields, files.",
        discussion: """
            --seal encrypts a value on this device before it leaves it; --set does not, and the server sees it. Files are \
            encrypted as well, except in the public database (--database public), where nothing is and everybody may read.

              sealkit record save --zone Notes --type Note --name first \\
                --seal title="Plans" --seal text=@- --seal due:date=2026-11-21 \\
                --set folder=work --asset scan=plans.pdf

            With --update and its --name an existing record is fetched and changed; the fields that are not named stay as they \
            are. If somebody else saves it in between, nothing is overwritten: the exit code is 79, and the server's version is shown.

            Of a server that was restored from a backup this device refuses what is older than it has seen, and saves nothing over \
            it. With --restoring it does: the record as it is given here, or with --update the server's older version with what is \
            given here changed.

            \(FieldArgument.help)
            """)

    @OptionGroup var zone: PlaceOptions

    @Option(help: "The record's name: printable ASCII, visible to the server. Default: a random UUID.")
    var name: String?

    @Option(help: "The record's type. Needed for a new record.")
    var type: String?

    @Option(
        name: .customLong("set"), help: ArgumentHelp("A plain field, visible to the server.", valueName: "key=value"))
    var plain: [String] = []

    @Option(help: ArgumentHelp("An encrypted field.", valueName: "key=value"))
    var seal: [String] = []

    @Option(help: ArgumentHelp("A file, encrypted except in the public database.", valueName: "key=path"))
    var asset: [String] = []

    @Option(help: ArgumentHelp("A field to remove; \(Self.parentKey) makes the record nobody's.", valueName: "key"))
    var unset: [String] = []

    @Option(help: ArgumentHelp("The record that this one belongs to; empty for none.", valueName: "name"))
    var parent: String?

    private static let parentKey = "parent"

    @Flag(help: "Change the record of that name where it exists.")
    var update = false

    @Flag(help: "As --update; and where what is there does not open, whoever made it so, save this in its place.")
    var overwrite = false

    @Flag(help: "Save what a restored server has lost, over the older version that it has.")
    var restoring = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard parent?.isEmpty ?? true || !unset.contains(Self.parentKey) else {
            throw ValidationError("--parent and --unset \(Self.parentKey) contradict each other.")
        }
        guard name != nil || !(update || overwrite || restoring) else {
            throw ValidationError("--update, --overwrite and --restoring need the record's --name.")
        }
        // The second reader would find it at its end, and what it saves would be empty.
        let readers = (plain + seal).count(where: FieldArgument.readsStandardInput)
        guard readers + (global.passphraseFd == STDIN_FILENO ? 1 : 0) < 2 else {
            throw ValidationError("Standard input is there for one value: give the others by @path.")
        }
        guard !restoring || !overwrite else { throw ValidationError("Say --restoring or --overwrite.") }
    }

    func run(_ client: Client) async throws {
        let (database, zoneID) = zone.resolve(client)
        var (record, policy) = try await start(database, zoneID)
        for text in plain {
            let field = try FieldArgument(text)
            record.setPlainValue(field.key, field.value)
        }
        for text in seal {
            let field = try FieldArgument(text)
            record.encryptedValues.setValue(field.key, field.value)
        }
        for text in asset {
            guard let equals = text.firstIndex(of: "=") else {
                throw SealKitError(.invalidArguments, "an asset without a file", remedy: "write --asset key=path")
            }
            record[String(text[..<equals])] = Asset(
                fileURL: URL(fileURLWithPath: String(text[text.index(after: equals)...])))
        }
        for key in unset where key != Self.parentKey { record.setPlainValue(key, nil) }
        if unset.contains(Self.parentKey) { record.parent = nil }
        if let parent { record.parent = parent.isEmpty ? nil : Record.Reference(recordName: parent) }

        let bar = ProgressBar("uploading", output)
        let results = try await database.modifyRecords(saving: [record], savePolicy: policy) { sent, total in
            bar.update(sent, of: total)
        }
        bar.finish()
        guard let result = results.saveResults[record.recordID] else {
            throw SealKitError.lacking("the record")
        }
        if case .failure(let error) = result, error.code == .serverRecordChanged {
            let (wasFetched, wasLookedFor) = (record.recordChangeTag != nil, update || overwrite)
            let name = record.recordID.recordName
            throw SealKitError(
                error.code,
                wasFetched
                    ? error.reason
                    : wasLookedFor
                        ? "somebody else has made a record of the name \(name) meanwhile"
                        : "there is a record of the name \(name) already",
                remedy: wasFetched || wasLookedFor
                    ? "look at what it has now, and save again" : "change it with --update, or choose another --name",
                serverRecord: error.serverRecord, clientRecord: error.clientRecord)
        }
        let saved = try result.get()
        try output.result(
            "saved \(saved.recordID.recordName.escaped)", bare: saved.recordID.recordName,
            json: ["saved": RecordText.json(saved)])
    }

    private func start(
        _ database: Database, _ zoneID: RecordZone.ID
    ) async throws(SealKitError) -> (Record, Database.SavePolicy) {
        var policy: Database.SavePolicy = restoring ? .restoring : .ifServerRecordUnchanged
        if update || overwrite, let name {
            let existing: Record?
            let id = Record.ID(recordName: name, zoneID: zoneID)
            do {
                existing = try await restoring ? database.restoredRecord(for: id) : database.record(for: id)
            } catch {
                // Where the server made it so, the save is refused as well.
                if overwrite, [.integrityFailure, .incompatibleVersion].contains(error.code) { policy = .allKeys }
                guard error.code == .unknownItem || policy == .allKeys else { throw error }
                existing = nil
            }
            if let existing {
                guard type == nil || type == existing.recordType else {
                    throw SealKitError(
                        .invalidArguments, "the record is of the type \(existing.recordType)",
                        remedy: "types do not change")
                }
                return (existing, policy)
            }
        }
        guard let type else {
            throw SealKitError(.invalidArguments, "a new record needs a type", remedy: "give --type")
        }
        let id = name.map { Record.ID(recordName: $0, zoneID: zoneID) } ?? Record.ID(zoneID: zoneID)
        return (Record(recordType: type, recordID: id), policy)
    }
}
