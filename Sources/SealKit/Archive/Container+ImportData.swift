public import Foundation
import SealStatements

extension Container {
    /// What an import of an archive has done.
    public struct DataImport: Sendable {
        /// How many zones were made or found.
        public internal(set) var zones = 0
        /// Records that were saved.
        public internal(set) var records = 0
        /// Records that were there already, and the same.
        public internal(set) var unchanged = 0
        /// Records that were there already, and others than in the archive: they were left as they are.
        public internal(set) var different: [Record.ID] = []
        /// The same in the public database; so is what somebody else has made there under the name, and what this
        /// account may not read there.
        public internal(set) var differentPublic: [Record.ID] = []
        /// What of the archive was not imported.
        public internal(set) var skipped: [Skipped] = []
    }

    /// A zone of an archive that an import left out: somebody else's, which is not this account's to make, or what the
    /// exporter had made in the public database, without `includingPublic`.
    public struct Skipped: Sendable, Hashable {
        /// Which database of the archive it is in.
        public let database: Database.Scope
        /// The zone's name.
        public let zoneName: String
        /// How many records it has in the archive.
        public let records: Int
    }

    /// Saves what `exportData` wrote, of this account or another one, here or on another server, into the private
    /// database's zones of the same names.
    ///
    /// Records come with their names, types, fields, references, parents and assets; the exporter's user name becomes
    /// this account's. What does not come along is what a server and signatures say: dates, creators, change tags; and
    /// shares, whose participants are in the archive for information: invite them anew. Nothing that is there is
    /// changed, so that an import which was cut short is simply repeated.
    ///
    /// What the exporter had made in the public database comes last, and only when asked for, since whoever imports it
    /// publishes it, under the own name. Records there whose names are taken by others are `differentPublic`.
    /// References are saved as they are: none is refused because there is no such record, as in no database.
    ///
    /// Nothing is saved before `zone.json` and `records.jsonl` of all zones that are to be imported have the sums in
    /// the manifest; each is held against its sum again when its zone's turn comes. Lines are read when their batch is
    /// saved, and an asset's sum is checked when its record is: those files may be as large as all data. The sums show
    /// damage: whoever can write the archive can write others. Import what you trust.
    /// - Parameters:
    ///   - folder: what `exportData(to:)` has made.
    ///   - includingPublic: also into this container's public database, where everybody may read it.
    ///   - progress: records saved so far.
    /// - Throws: `invalidArguments` for what is not an archive, leads out of its folder or has fields that no record
    ///   can have; `incompatibleVersion`; `badContainer`, before anything is saved, for public records of another
    ///   container or environment; `integrityFailure` for what has another sum; `referenceViolation` for children whose
    ///   parents are missing; what saving throws, with the record: `permissionFailure` where the public database does
    ///   not let this account make records of its type. What was saved until then stays.
    public func importData(
        from folder: URL, includingPublic: Bool = false, progress: (@Sendable (_ records: Int) -> Void)? = nil
    ) async throws(SealKitError) -> DataImport {
        let reader = ArchiveReader(folder: folder)
        let manifest = try reader.manifest()
        if includingPublic { try checkPlace(of: manifest) }
        let isWanted = { (entry: ArchiveFormat.Manifest.Zone) in
            entry.database == .private || (includingPublic && entry.database == .public)
        }
        for entry in manifest.zones where isWanted(entry) { try reader.check(entry) }
        var done = DataImport()
        // What is public last: whatever fails there, one's own is saved by then.
        for isPublic in [false, true] {
            for entry in manifest.zones where (entry.database == .public) == isPublic {
                guard isWanted(entry) else {
                    done.skipped.append(
                        Skipped(database: entry.database.scope, zoneName: entry.zoneName, records: entry.records))
                    continue
                }
                let before = done.records
                var importer = DataImporter(
                    database: isPublic ? publicDatabase : privateDatabase, entry: entry, reader: reader,
                    formerUser: manifest.user
                ) { progress?(before + $0) }
                try await importer.run()
                done.zones += 1
                done.records += importer.result.records
                done.unchanged += importer.result.unchanged
                done.different += importer.result.different
                done.differentPublic += importer.result.differentPublic
            }
        }
        return done
    }

    /// What was public in one place is not to appear in another one by a slip.
    private func checkPlace(of manifest: ArchiveFormat.Manifest) throws(SealKitError) {
        guard manifest.zones.contains(where: { $0.database == .public }) else { return }
        guard manifest.container == containerIdentifier, manifest.environment == core.environment.name else {
            throw SealKitError(
                .badContainer,
                "the archive's public records are of the container \(manifest.container), \(manifest.environment)",
                remedy: "import into that container and environment, or leave the public records out")
        }
    }
}
