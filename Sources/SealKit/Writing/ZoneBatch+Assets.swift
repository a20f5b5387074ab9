import SealStatements

/// New assets of a batch, which are sent before its records.
extension ZoneBatch {
    private func uploads(to scope: Scope) -> AssetUploads {
        AssetUploads(
            database: database, zoneID: zoneID, scope: scope, journal: journal?.uploads, progress: progress)
    }

    /// Sends the new assets of a batch; a record whose asset cannot be sent fails.
    mutating func uploadAssets(of records: [Record], _ scope: Scope) async throws(SealKitError) -> [Record] {
        let uploads = self.uploads(to: scope)
        var complete = records
        uploads.takeFinished(&complete)
        let (_, failures) = try await uploads.uploadNew(in: &complete, stopsAtFailure: isAtomic)
        return passing(complete) { record throws(SealKitError) in
            if let error = failures[record.recordID] { throw error }
        }
    }
}
