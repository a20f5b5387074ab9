import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

extension Database {
    /// A share by its record's id: what a root's `share` names.
    /// - Throws: `unknownItem` where there is no such share, or none any more.
    public func share(withID shareID: Record.ID) async throws(SealKitError) -> Share {
        if shareID.recordName == Share.recordName { return try await share(for: shareID.zoneID) }
        let keeper = try keeper(ofShare: shareID)
        let view: ZoneView
        do throws(SealKitError) {
            view = try await keeper.refresh()
        } catch let error where error.code == .zoneNotFound {
            throw Database.noShare(shareID)
        }
        guard view.isMember, let root = view.roster.rootRecordName else { throw Database.noShare(shareID) }
        let share = Share(rootRecordID: Record.ID(recordName: root, zoneID: shareID.zoneID), shareID: shareID)
        return try await filled(share, by: try await shareRecord(shareID), view, keeper)
    }

    /// A share by its root, as the root's statement names it: also where the root's own values do not open.
    /// - Throws: `unknownItem` where there is no such record, or where it is the root of no share; as `share(withID:)`.
    public func share(forRoot rootRecordID: Record.ID) async throws(SealKitError) -> Share {
        guard let found = try await look(up: [rootRecordID], desiredKeys: []).first?.1.get().present else {
            throw Database.unknown(rootRecordID)
        }
        guard let share = found.share else {
            throw SealKitError(
                .unknownItem, "the record \(rootRecordID.recordName) is not the root of a share",
                remedy: "share it with save(_:rootRecord:)")
        }
        return try await self.share(withID: Record.ID(recordName: share.recordName, zoneID: rootRecordID.zoneID))
    }

    private static func noShare(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .unknownItem, "there is no share \(id.recordName)", remedy: "save a Share with its root record first")
    }

    /// Saves a new hierarchical share with its root. A root that is shared already gives its share, with what is new in
    /// this one.
    ///
    /// What has the root as parent follows at once, in batches; until it is moved, participants do not see it.
    /// - Throws: `alreadyShared` when a record above or below the root is shared, or the zone as a whole; as
    ///   `modifyRecords`.
    @discardableResult
    public func save(
        _ share: Share, rootRecord: Record
    ) async throws(SealKitError) -> (share: Share, rootRecord: Record) {
        let results = try await modifyRecords(saving: [rootRecord], shares: [share])
        guard let root = results.saveResults[rootRecord.recordID], let saved = results.shareResults[share.recordID]
        else {
            throw SealKitError.lacking("the share or its root")
        }
        // The share's own failure says more than that of what was saved with it.
        let found = try saved.get()
        return (found, try root.get())
    }

    /// Saves records together with new hierarchical shares of some of them, each zone in one signed batch; shares that
    /// there are already, of whole zones too, take over what has changed.
    ///
    /// `atomically` is all of a zone or nothing: a share that there is already, and the first one of a whole zone,
    /// comes after the rest of the zone, and only where all of that has succeeded. Whoever is put out by it can still
    /// read what was saved: save what is not for them in a call after it, or in one that is not atomic. Where the
    /// share itself fails, what was saved before it stays.
    ///
    /// Otherwise a share that takes a right away from somebody comes first, and nothing of its zone is saved where that
    /// fails; any other one comes after the records. A new share is one with its root, and with what that belongs to,
    /// and what else there is of the zone follows.
    /// - Returns: a result for each record, share and deletion. A share's failure fails no record, but where its root
    ///   was to be saved with it, or where it was to come first. In the shared database a new share is `badDatabase`:
    ///   only its owner makes one.
    /// - Throws: as `modifyRecords(saving:deleting:)`.
    public func modifyRecords(
        saving: [Record], shares: [Share], deleting: [Record.ID] = [],
        savePolicy: SavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        progress: (@Sendable (_ sent: Int64, _ total: Int64) -> Void)? = nil,
        perRecordProgress: RecordProgress? = nil
    ) async throws(SealKitError) -> (
        saveResults: [Record.ID: Result<Record, SealKitError>], shareResults: [Record.ID: Result<Share, SealKitError>],
        deleteResults: [Record.ID: Result<Void, SealKitError>]
    ) {
        var results = SharingResults()
        let roots = Dictionary(saving.map { ($0.recordID, $0) }) { first, _ in first }
        var existing: [Existing] = []
        var new: [RecordZone.ID: [Share]] = [:]
        for share in shares {
            if let rootID = share.rootRecordID, let root = roots[rootID] {
                if let known = root.share {
                    existing.append((share, Record.ID(recordName: known.recordName, zoneID: rootID.zoneID)))
                } else if scope == .private {
                    new[share.zoneID, default: []].append(share)
                } else {
                    results.shares[share.recordID] = .failure(Database.notOwnersToShare)
                }
            } else {
                existing.append((share, share.recordID))
            }
        }
        for shares in new.values { try Database.checkCount(saving.count + deleting.count + 2 * shares.count) }
        let first = existing.filter { !atomically && $0.asked.takesRightAway }
        let last = existing.filter { atomically || !$0.asked.takesRightAway }
        // Nobody is put out by a call that is refused as a whole.
        if !first.isEmpty { try await requireRequest(saving, deleting) }
        var outcomes = ZoneOutcomes()
        let refused = await putOut(by: first, &results, &outcomes)
        results.refuse(saving, new, deleting, of: refused)
        new = new.filter { refused[$0.key] == nil }
        let zones = Set(new.keys).union(refused.keys)
        let rest = (
            saving: saving.filter { !zones.contains($0.recordID.zoneID) },
            deleting: deleting.filter { !zones.contains($0.zoneID) }
        )
        // Nothing is left that could be done.
        if rest.saving.isEmpty, rest.deleting.isEmpty, new.isEmpty, last.isEmpty, results.hasRecords {
            try outcomes.throwCommonFailure()
        }
        do throws(SealKitError) {
            let done = try await modifyRecords(
                saving: rest.saving, deleting: rest.deleting, savePolicy: savePolicy, atomically: atomically,
                progress: progress, perRecordProgress: perRecordProgress)
            results.add(done)
        } catch {
            guard !first.isEmpty else { throw error }
            outcomes.failed(error)
            try outcomes.throwCommonFailure()
            results.fail(rest.saving, rest.deleting, error)
        }
        for (zone, shares) in new {
            var batch = ZoneBatch(
                database: self, zoneID: zone, savePolicy: savePolicy, isAtomic: true,
                progress: UploadProgress(all: progress, perRecord: perRecordProgress))
            var records = saving.filter { $0.recordID.zoneID == zone }
            var gone = deleting.filter { $0.zoneID == zone }
            var others: (records: [Record], gone: [Record.ID]) = ([], [])
            if !atomically {
                let together = Share.rootsWithAncestors(of: shares, among: records)
                others = (records.filter { !together.contains($0.recordID.recordName) }, gone)
                records = records.filter { together.contains($0.recordID.recordName) }
                gone = []
            }
            do throws(SealKitError) {
                try await batch.run(sharing: shares, saving: records, deleting: gone)
                for share in shares {
                    results.shares[share.recordID] = await published(share, batch.saveResults[share.recordID])
                    batch.saveResults[share.recordID] = nil
                }
                results.add((batch.saveResults, batch.deleteResults))
            } catch {
                results.fail(records, gone, error)
                for share in shares { results.shares[share.recordID] = .failure(error) }
            }
            guard !others.records.isEmpty || !others.gone.isEmpty else { continue }
            do throws(SealKitError) {
                let done = try await modifyRecords(
                    saving: others.records, deleting: others.gone, savePolicy: savePolicy, atomically: false,
                    progress: progress, perRecordProgress: perRecordProgress)
                results.add(done)
            } catch {
                results.fail(others.records, others.gone, error)
            }
        }
        var failed = atomically ? results.failedZones : []
        for (asked, id) in last {
            // A share is one of its zone's items, which are changed all or not at all.
            guard !failed.contains(id.zoneID) else {
                results.shares[asked.recordID] = .failure(ZoneBatch.batchFailed)
                continue
            }
            let result = await merged(asked, into: id)
            results.shares[asked.recordID] = result
            if atomically, result.isFailure { failed.insert(id.zoneID) }
        }
        return (results.saves, results.shares, results.deletions)
    }

    /// A share that there is already, which another one of the same root may be for.
    private typealias Existing = (asked: Share, id: Record.ID)

    /// Saves shares that take a right away, before what is not for those who lose it.
    /// - Returns: why nothing is to be saved in a zone now: of those that one of the shares has failed in.
    private func putOut(
        by shares: [Existing], _ results: inout SharingResults, _ outcomes: inout ZoneOutcomes
    ) async -> [RecordZone.ID: SealKitError] {
        var refused: [RecordZone.ID: SealKitError] = [:]
        for (asked, id) in shares {
            let result = await merged(asked, into: id)
            results.shares[asked.recordID] = result
            switch result {
            case .success: outcomes.succeeded()
            case .failure(let error):
                outcomes.failed(error)
                // What is wrong with the share is nothing that is wrong with its zone's records.
                refused[id.zoneID] = error.concernsWholeRequest ? error : ZoneBatch.batchFailed
            }
        }
        return refused
    }

    private static var notOwnersToShare: SealKitError {
        SealKitError(.badDatabase, "only the owner shares records, in the private database", remedy: "ask the owner")
    }

    /// A share that was saved, as it is now: its URL and invitations came with its record. What takes a right away, or
    /// is not the roster's, follows.
    private func published(_ share: Share, _ result: Result<Record, SealKitError>?) async -> Result<Share, SealKitError>
    {
        switch result {
        case .success:
            do throws(SealKitError) { return .success(try await saveHierarchical(share)) } catch {
                return .failure(error)
            }
        case .failure(let error): return .failure(error)
        case nil: return .failure(.lacking("the share"))
        }
    }

    /// A share as it is, with what another one of the same root says.
    private func merged(_ asked: Share, into id: Record.ID) async -> Result<Share, SealKitError> {
        do throws(SealKitError) {
            guard asked.recordID != id else { return .success(try await save(asked)) }
            var share = try await self.share(withID: id)
            if !asked.title.isEmpty { share.title = asked.title }
            if !asked.shareType.isEmpty { share.shareType = asked.shareType }
            if let thumbnail = asked.thumbnailImageData { share.thumbnailImageData = thumbnail }
            for key in asked.fields.changed { share.fields.set(key, asked.fields.fields[key]) }
            for participant in asked.participants where participant.role != .owner { share.addParticipant(participant) }
            return .success(try await save(share))
        } catch {
            return .failure(error)
        }
    }

    /// Sends what has changed in a share that there is.
    /// - Throws: `invalidArguments` for one that is to be saved with its root.
    func saveHierarchical(_ share: Share) async throws(SealKitError) -> Share {
        let keeper = try keeper(ofShare: share.recordID)
        var known: ZoneView?
        do throws(SealKitError) { known = try await keeper.refresh() } catch
            where error.code == .unknownItem || error.code == .zoneNotFound
        {}
        guard let known, known.isMember, let root = known.roster.rootRecordName else {
            throw SealKitError(
                .invalidArguments, "the share \(share.recordID.recordName) is new, and its root is not saved with it",
                remedy: "use save(_:rootRecord:), or modifyRecords(saving:shares:) with the root among the records")
        }
        let new = Share(
            rootRecordID: Record.ID(recordName: root, zoneID: share.zoneID), shareID: share.recordID)
        return try await save(share, as: new, knowing: known, keeper)
    }
}

extension Share {
    /// The names of what new shares cannot do without: their roots, and those that are saved with them and that they
    /// belong to.
    /// - Parameters: of one zone.
    static func rootsWithAncestors(of shares: [Share], among records: [Record]) -> Set<String> {
        let parents = Dictionary(records.map { ($0.recordID.recordName, $0.parent?.recordName) }) { first, _ in first }
        var names: Set<String> = []
        for root in shares.compactMap(\.rootRecordID) {
            var next: String? = root.recordName
            while let name = next, names.insert(name).inserted { next = parents[name] ?? nil }
        }
        return names
    }
}

extension ZoneBatch {
    /// With new shares of some of the records.
    mutating func run(sharing shares: [Share], saving: [Record], deleting: [Record.ID]) async throws(SealKitError) {
        var ground = try await database.groundForWriting(zoneID)
        var records = saving
        for share in shares {
            guard let root = share.rootRecordID, root.zoneID == share.zoneID, share.recordID != root,
                let index = records.firstIndex(where: { $0.recordID == root })
            else {
                throw SealKitError(
                    .invalidArguments, "a share lies in its root's zone, beside it",
                    remedy: "make it with Share(rootRecord:)")
            }
            try share.requireShowable()
            try await sharing.open(share, root: root, database, &ground)
            records[index].share = Record.Reference(recordName: share.recordID.recordName)
            var record = Record(recordType: Share.recordType, recordID: share.recordID)
            try share.describe(&record)
            records.append(record)
        }
        try await run(saving: records, deleting: deleting)
    }
}
