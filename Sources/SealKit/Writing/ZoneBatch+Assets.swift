import SealPrimitives
import SealStatements

/// New assets of a batch, which are sent before its records, and those that the server has no more.
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
        let (sent, failures) = try await uploads.uploadNew(in: &complete, stopsAtFailure: isAtomic)
        sentBlobs.formUnion(sent)
        return passing(complete) { record throws(SealKitError) in
            if let error = failures[record.recordID] { throw error }
        }
    }

    /// What a record names that the server has no more, since another version took the place of the one that it is of,
    /// or nothing was saved with it for a day. Where the files are at hand they are sent again, once.
    /// - Parameter refusal: of the record.
    /// - Returns: the item as it goes again, or why it does not; nil where the refusal says that.
    mutating func withAssetsSentAgain(
        _ item: Item, after refusal: SealKitError
    ) async throws(SealKitError) -> Result<Item, SealKitError>? {
        guard refusal.code == .assetFileNotFound, case .save(var record) = item else { return nil }
        let missing = missingAssets(of: record)
        let isFirst = sentAgain.insert(record.recordID).inserted
        let atHand = missing.filter { $0.asset.isAtHand }
        guard isFirst, !atHand.isEmpty else {
            return missing.first { !$0.asset.isAtHand }.map { .failure(ZoneBatch.isGone($0.key, of: record)) }
        }
        database.core.unsavedUploads.forgetWhole(
            UnsavedUploads.Place(recordID: record.recordID, isPublic: database.scope == .public))
        for (key, asset) in atHand {
            var asset = asset
            asset.remote = nil
            record.set(key, .asset(asset))
        }
        var complete = [record]
        let (sent, failures) = try await self.uploads(to: try database.zoneScope(zoneID)).uploadNew(
            in: &complete, stopsAtFailure: true)
        sentBlobs.formUnion(sent)
        if let error = failures[record.recordID] { return .failure(error) }
        // What it is merged into from now on gets the same.
        if case .save(var draft)? = drafts[record.recordID.recordName] {
            for (key, asset) in atHand where draft.blob(of: key) == asset.remote?.blob {
                draft.fields[key] = complete[0].fields[key]
            }
            drafts[record.recordID.recordName] = .save(draft)
        }
        return .success(.save(complete[0]))
    }

    /// Those of a record that were not sent by this batch: without those that its last version is known to have, unless
    /// that leaves none.
    private func missingAssets(of record: Record) -> [(key: String, asset: Asset)] {
        var named: [(key: String, asset: Asset)] = []
        for (key, state) in record.fields {
            guard case .asset(let asset) = state, let remote = asset.remote, !sentBlobs.contains(remote.blob) else {
                continue
            }
            named.append((key, asset))
        }
        let unknown = named.filter { key, asset in
            guard case .asset(let known)? = record.base?.fields?[key] else { return true }
            return known.remote?.blob != asset.remote?.blob
        }
        return unknown.isEmpty ? named : unknown
    }

    private static func isGone(_ key: String, of record: Record) -> SealKitError {
        SealKitError(
            .assetNotAvailable,
            "the server has the asset \(key) of record \(record.recordID.recordName) no more, and its file is not at hand",
            remedy: "make a new Asset of the file, or take the server's record")
    }
}

extension Asset {
    /// Its file can be read, as far as its name tells.
    fileprivate var isAtHand: Bool {
        guard let fileURL else { return false }
        return (try? AssetFile.Version(of: fileURL)) != nil
    }
}

extension Record {
    fileprivate func blob(of key: String) -> String? {
        guard case .asset(let asset)? = fields[key] else { return nil }
        return asset.remote?.blob
    }
}
