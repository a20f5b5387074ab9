public import Foundation
import SealCoding
import SealPrimitives
import SealStatements

extension Container {
    /// What an export of one's data wrote.
    public struct DataExport: Sendable {
        /// The public database counts as one.
        public internal(set) var zones = 0
        /// How many records were written.
        public internal(set) var records = 0
        /// How many files were written.
        public internal(set) var assets = 0
        /// Records that did not verify or open, whose files did not, that this device knows and the server hides or, in
        /// the public database, that their creator may not read, and why: they are named in their zone's `zone.json`,
        /// and are not in the archive.
        public internal(set) var failures: [Record.ID: SealKitError] = [:]
        /// How many these are.
        public internal(set) var unreadable = 0
        /// How many folders were removed that exports to the same place had left beside it, opened, when they were
        /// killed.
        public internal(set) var removedParts = 0
    }

    /// Writes this account's data, opened, into a folder in an open format (FILES.md, "Data archive"): all zones of the
    /// private database, what this user has made in the container's public database, and the zones that others share
    /// where asked for, with records, references, assets, and who shares them.
    ///
    /// The folder is **not encrypted**: its mode is 0700, and whoever reads it reads everything. It holds no key and no
    /// share's URL. Each zone is read by its change feed; what changes meanwhile is in it in its last version. Records
    /// and zones that this device knows and that the server leaves out are asked for, and are in it, or verifiably
    /// gone, or among the `unreadable`. Memory does not grow with the data, but for a few bytes a record.
    ///
    /// Of the public database come the records that this user created, the own `Users` record among them, each as it
    /// was when it was read; those of server-to-server keys are the keys' own. A zone's feed is held against its signed
    /// roster, and the public database has neither: **a server can withhold records of the public database, and nobody
    /// can notice.** Where there are none, it has no entry in the archive.
    /// - Parameters:
    ///   - includingShared: zones of others as well that this account takes part in.
    ///   - folder: made here, whole or not at all; it must not exist. Until it is whole it lies beside its place, as
    ///     `<folder>.part-` and eight characters: what a process that was killed has left there the next export
    ///     removes.
    ///   - zoneIDs: nil for all; where zones are named, nothing of the public database comes along.
    ///   - progress: records and assets so far, of all zones.
    /// - Throws: `constraintViolation` when the folder exists; `zoneNotFound`; `storageFull`, `internalError` where it
    ///   cannot be written; `networkFailure`; `rollback` for a zone that the server says is gone, without anything
    ///   signed that ended it; `integrityFailure`, `serverRejectedRequest` for a server that names records out of their
    ///   order, twice or without end; `operationCancelled`. Nothing is left then.
    public func exportData(
        to folder: URL, zoneIDs: [RecordZone.ID]? = nil, includingShared: Bool = false,
        progress: (@Sendable (_ records: Int, _ assets: Int) -> Void)? = nil
    ) async throws(SealKitError) -> DataExport {
        let writer = try ExportFolder(folder, isPrivate: true)
        do {
            var export = DataExport(removedParts: writer.removedParts)
            var manifest = ArchiveFormat.Manifest(
                server: core.account.server, container: containerIdentifier, environment: core.environment.name,
                user: try userRecordID().recordName, created: DateText.text(Date(microseconds: currentTime())),
                zones: [])
            try writer.makeFolder("zones")
            var places = try await zones(zoneIDs, includingShared: includingShared)
            if zoneIDs == nil { places.append((publicDatabase, .default)) }
            for (database, zoneID) in places {
                let before = export
                var exporter = DataExporter(
                    database: database, zoneID: zoneID, writer: writer, folder: "zones/\(manifest.zones.count + 1)"
                ) { progress?(before.records + $0, before.assets + $1) }
                let outcome = database.scope == .public ? try await exporter.runPublic() : try await exporter.run()
                guard let (entry, failures) = outcome else { continue }
                manifest.zones.append(entry)
                export.zones += 1
                export.records += entry.records
                export.assets += entry.assets
                export.failures.merge(failures) { $1 }
                export.unreadable += failures.count
            }
            try writer.finish(manifest, as: ArchiveFormat.manifest)
            return export
        } catch {
            writer.abandon()
            throw error
        }
    }

    private func zones(
        _ wanted: [RecordZone.ID]?, includingShared: Bool
    ) async throws(SealKitError) -> [(Database, RecordZone.ID)] {
        if let wanted {
            return wanted.map { zoneID in
                let isOwn = zoneID.isCurrentUsers || zoneID.ownerName == core.userID().recordName
                return (isOwn ? privateDatabase : sharedDatabase, zoneID)
            }
        }
        var zones = try await privateDatabase.madeRecordZones().map { (privateDatabase, $0.zoneID) }
        if includingShared { zones += try await sharedDatabase.madeRecordZones().map { (sharedDatabase, $0.zoneID) } }
        return zones
    }
}
