public import Foundation

extension Container {
    /// What an import of an archive has done.
    public struct DataImport: Sendable {
        public internal(set) var zones = 0
        /// Records that were saved.
        public internal(set) var records = 0
        /// Records that were there already, and the same.
        public internal(set) var unchanged = 0
        /// Records that were there already, and others than in the archive: they were left as they are.
        public internal(set) var different: [Record.ID] = []
        /// Zones of others in the archive: theirs are not this account's to make.
        public internal(set) var skipped: [String] = []
    }

    /// Saves what `exportData` wrote, of this account or another one, here or on another server, into the private database's zones
    /// of the same names.
    ///
    /// Records come with their names, types, fields, references, parents and assets; the exporter's user name becomes this
    /// account's. What does not come along is what a server and signatures say: dates, creators, change tags; and shares, whose
    /// participants are in the archive for information: invite them anew. Nothing that is there is changed, so that an import which
    /// was cut short is simply repeated.
    ///
    /// Nothing is saved of a zone whose files do not have the sums in the manifest. The sums show damage: whoever can write the
    /// archive can write others. Import what you trust.
    /// - Parameter progress: records saved so far.
    /// - Throws: `invalidArguments` for what is not an archive, leads out of its folder or has fields that no record can have;
    ///   `incompatibleVersion`; `integrityFailure` for what has another sum; `referenceViolation` for children whose parents are
    ///   missing; what saving throws. What was saved until then stays.
    public func importData(
        from folder: URL, progress: (@Sendable (_ records: Int) -> Void)? = nil
    ) async throws(SealKitError) -> DataImport {
        let reader = ArchiveReader(folder: folder)
        let manifest = try reader.manifest()
        var done = DataImport()
        for entry in manifest.zones {
            guard entry.database == Database.Scope.private.pathComponent else {
                done.skipped.append(entry.zoneName)
                continue
            }
            let before = done.records
            var importer = DataImporter(
                database: privateDatabase, entry: entry, reader: reader, formerUser: manifest.user
            ) { progress?(before + $0) }
            try await importer.run()
            done.zones += 1
            done.records += importer.result.records
            done.unchanged += importer.result.unchanged
            done.different += importer.result.different
        }
        return done
    }
}
