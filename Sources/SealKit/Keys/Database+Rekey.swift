import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

extension Database {
    /// What `rekey(_:progress:)` did.
    public struct RekeyResult: Sendable {
        /// Records that were sealed again by this call.
        public internal(set) var rekeyed = 0
        /// Records that somebody else wrote, or deleted, before this call came to them.
        public internal(set) var writtenByOthers = 0
        /// Records that stay under an older key, and why.
        public internal(set) var failures: [Record.ID: SealKitError] = [:]
    }

    /// Seals again what nobody has written since a zone's newest key was opened, each record under a fresh key of its
    /// own.
    ///
    /// Hierarchies in the zone that are shared by themselves have keys of their own, and are done too.
    ///
    /// After somebody was removed, or a key got lost, what is written is out of reach at once; what was there before is
    /// not, for whoever kept the old keys, until it is written again. This writes it again: values, change tags and
    /// dates stay, the bytes of assets too, whose keys are sealed again. Records that others write meanwhile are
    /// theirs.
    ///
    /// It goes in batches, and nothing has to be kept of how far it came: cancel the task to pause, call again to go
    /// on, after the program was ended as well.
    ///
    /// - Parameter zoneID: of the zone.
    /// - Parameter progress: after each batch: how many records are done of how many. The second number is the server's
    ///   count, and grows when another key is opened meanwhile.
    /// - Returns: what was done, with the records that could not be: the share's own record is its owner's and
    ///   administrators', and what somebody signed so that it does not open has no values to seal again: save over it,
    ///   or delete it.
    /// - Throws: `permissionFailure` for whoever may only read; `operationCancelled`; `zoneNotFound`; `badDatabase` in
    ///   the public database; `serverRejectedRequest` where the zone's feed cannot be read up to the newest key, before
    ///   which nothing is sealed. What was sealed before it failed stays so.
    @discardableResult
    public func rekey(
        _ zoneID: RecordZone.ID, progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
    ) async throws(SealKitError) -> RekeyResult {
        try requireKeys()
        try await core.requireAccount(for: scope)
        var run = RekeyRun(database: self, zoneID: zoneID, progress: progress)
        var (isMember, mayWrite) = (false, false)
        // Each hierarchy that is shared by itself has keys of its own.
        for scope in try await keyScopes(of: zoneID) {
            let keeper = core.keeper(of: scope)
            guard var view = try await present(keeper), view.isMember else { continue }
            isMember = true
            guard view.roster.permission(of: view.user) == .readWrite else { continue }
            mayWrite = true
            if isKeyDue(in: view) { view = try await rotate(keeper) }
            while true {
                try await run.pass(keeper)
                let newer = try await keeper.refresh()
                // Another key was opened on the way: what was done first is under an older one again.
                guard newer.roster.currentEpoch.context != view.roster.currentEpoch.context else { break }
                view = newer
            }
        }
        guard isMember else { throw Database.notInZone(zoneID) }
        guard mayWrite else {
            throw SealKitError(
                .permissionFailure, "this account may read the zone \(zoneID), not write to it", remedy: "ask its owner"
            )
        }
        return run.result
    }

    /// The zone's own scope and those of the hierarchical shares in it that this device knows, once it has read the
    /// feed. A zone that is encrypted per zone has none (R-SCOPE-2), whatever somebody has opened.
    private func keyScopes(of zoneID: RecordZone.ID) async throws(SealKitError) -> [SealStatements.Scope] {
        let ground = try await zoneGround(zoneID)
        for view in ground.views.values where view.isMember { try await catchUp(zoneID, view.roster) }
        let isPerZone = ground.own?.roster.encryptionScope == .perZone
        let shares = try await isPerZone ? [] : core.trust.shares(of: ground.zone.id)
        return Set(ground.views.values.map(\.scope) + shares.map { ground.zone.ofShare($0) })
            .sorted { $0.shareRecordName < $1.shareRecordName }
    }

    /// nil for a share that this account takes no part in any more.
    private func present(_ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView? {
        do { return try await keeper.refresh() } catch let error where error.code == .unknownItem { return nil }
    }

    /// Reads the zone's feed from where the app has read it to: from then on a statement that was written under an
    /// older key and kept back until now is refused. Without that, whoever seals blindly would give what a removed
    /// participant and the server slip in the newest key, and a member's signature.
    /// - Throws: `serverRejectedRequest` where that does not come up to the key in force.
    fileprivate func catchUp(_ zoneID: RecordZone.ID, _ roster: Roster) async throws(SealKitError) {
        // Where the app has gone far on meanwhile, a reading from its former place counts for nothing.
        for _ in 0..<3 {
            let known = try await howFar(roster)
            if let epoch = known?.caughtUpEpoch, epoch >= roster.currentEpoch.number { return }
            do {
                try await readOn(zoneID, from: known?.token)
            } catch let error where error.code == .changeTokenExpired && known != nil {
                try await readOn(zoneID, from: nil)
            }
        }
        if let epoch = try await howFar(roster)?.caughtUpEpoch, epoch >= roster.currentEpoch.number { return }
        throw SealKitError(
            .serverRejectedRequest,
            "the feed of the zone \(zoneID) was read to its end, and not up to the key that is in force",
            remedy: "nothing is sealed again before that; call again, and distrust a server that keeps doing so")
    }

    private func howFar(_ roster: Roster) async throws(SealKitError) -> (token: Data, caughtUpEpoch: UInt32?)? {
        try await core.trust.feed(
            zone: roster.scope.ofZone.id, incarnation: roster.incarnations.zone,
            ScopePlace(roster.scopeID, roster.incarnations.scope))
    }

    private func readOn(_ zoneID: RecordZone.ID, from start: Data?) async throws(SealKitError) {
        var token = start.map { ServerChangeToken(bytes: $0, zone: (try? zoneScope(zoneID))?.id.hex) }
        let reader = FeedReader(isWhole: start == nil)
        var failures = 0
        while true {
            if Task.isCancelled { throw .cancelled }
            let page = try await page(
                zoneID, ZoneChangesConfiguration(previousServerChangeToken: token, desiredKeys: []), reader)
            let changes = try await changes(in: page, marking: false)
            token = changes.changeToken
            failures += changes.modifications.count { if case .failure = $0.result { true } else { false } }
            guard failures <= Database.mostUnreadable else { throw Database.endless(zoneID) }
            guard !changes.moreComing else { continue }
            return try await core.trust.noteCaughtUp(
                zone: page.ground.place.scope, incarnation: page.ground.place.incarnation, from: start,
                to: changes.changeToken.bytes, caughtUp: page.ground.caughtUp(by: page.response))
        }
    }
}

/// One call's way through the records.
private struct RekeyRun {
    let database: Database
    let zoneID: RecordZone.ID
    let progress: (@Sendable (Int, Int) -> Void)?
    var result = Database.RekeyResult()
    private var total = 0

    init(database: Database, zoneID: RecordZone.ID, progress: (@Sendable (Int, Int) -> Void)?) {
        self.database = database
        self.zoneID = zoneID
        self.progress = progress
    }

    private var done: Int { result.rekeyed + result.writtenByOthers + result.failures.count }

    /// From the oldest record to the newest that is under an older key. What is done comes after those; what fails is
    /// passed.
    mutating func pass(_ keeper: ZoneKeeper) async throws(SealKitError) {
        var place = Database.StalePlace(isCounting: true)
        while true {
            if Task.isCancelled { throw .cancelled }
            let page = try await patiently { () throws(SealKitError) in
                try await database.stale(keeper, zoneID, place, desiredKeys: nil) { roster throws(SealKitError) in
                    try await database.catchUp(zoneID, roster)
                }
            }
            if place.isCounting { total = done + page.count }
            guard !page.outcomes.isEmpty else { return }
            // A server that goes in circles must not keep a client busy for ever.
            var listing = OrderedListing(after: place.after)
            do throws(ClientError) { try listing.take(page.outcomes.map(\.position), isMoreComing: false) } catch {
                throw SealKitError(
                    .serverRejectedRequest,
                    "the server names records of the zone \(zoneID) that are to be sealed again out of their order",
                    remedy: "try again; distrust a server that keeps doing so")
            }
            try await seal(page)
            place = Database.StalePlace(after: listing.last)
            progress?(done, max(total, done))
        }
    }

    private mutating func seal(_ page: Database.StalePage) async throws(SealKitError) {
        let roster = page.view.roster
        let mayAdminister = roster.members[page.view.user]?.mayAdminister ?? false
        var records: [Record] = []
        for (_, recordID, outcome) in page.outcomes {
            switch outcome {
            case .failure(let error): result.failures[recordID] = error
            case .success(.unopened(let there)): result.failures[recordID] = there.error
            case .success(.deletion): continue
            case .success(.record(let record)):
                // What an earlier life of a share has left is its owner's to move, and gets a key by that.
                guard let statement = record.base?.statement, statement.incarnations == roster.incarnations,
                    statement.epoch != roster.currentEpoch.number || statement.isKeyCarried
                else { continue }
                if record.recordType == Share.recordType, !mayAdminister {
                    result.failures[record.recordID] = SealKitError(
                        .permissionFailure, "the share's record is its owner's and administrators' to write")
                } else {
                    records.append(record)
                }
            }
        }
        for (id, saved) in try await sealed(records) {
            switch saved {
            case .success: result.rekeyed += 1
            case .failure(let error) where [.serverRecordChanged, .unknownItem].contains(error.code):
                result.writtenByOthers += 1
            case .failure(let error): result.failures[id] = error
            }
        }
    }

    /// By halves, where all together are more than the server takes at once.
    private func sealed(
        _ records: [Record]
    ) async throws(SealKitError) -> [Record.ID: Result<Record, SealKitError>] {
        guard !records.isEmpty else { return [:] }
        do throws(SealKitError) {
            return try await patiently { () throws(SealKitError) in
                var batch = ZoneBatch(
                    database: database, zoneID: zoneID, savePolicy: .ifServerRecordUnchanged, isAtomic: false,
                    progress: .nobody
                )
                batch.isRekeying = true
                try await batch.run(saving: records, deleting: [])
                return batch.saveResults
            }
        } catch {
            guard error.code == .limitExceeded, records.count > 1 else { throw error }
            let half = records.count / 2
            let first = try await sealed(Array(records[..<half]))
            return try await sealed(Array(records[half...])).merging(first) { $1 }
        }
    }

    /// Long work waits as long as the server asks for.
    private func patiently<T>(_ body: () async throws(SealKitError) -> T) async throws(SealKitError) -> T {
        while true {
            do throws(SealKitError) { return try await body() } catch {
                guard error.isThrottle, let seconds = error.retryAfter else { throw error }
                do { try await database.core.account.client.pacing.sleep(.seconds(seconds)) } catch { throw .cancelled }
            }
        }
    }
}
