import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// All zones of this database that the account sees. In the private database the default zone is one of them, also
    /// where nothing has been saved in it.
    ///
    /// One that this device knows and the server leaves out is asked for, and is among them unless something signed
    /// shows that it is gone. That it was left out is one of `Container.violations()`.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func allRecordZones() async throws(SealKitError) -> [RecordZone] {
        let zones = try await madeRecordZones()
        guard scope == .private, !zones.contains(where: { $0.zoneID == .default }) else { return zones }
        return zones + [.default()]
    }

    /// Those that there is something in, or that were made.
    func madeRecordZones() async throws(SealKitError) -> [RecordZone] {
        var known = try await knownZones()
        let response: Sealkit_V1_LookupZonesResponse = try await core.call(
            scope, Endpoints.zones.lookup, Sealkit_V1_LookupZonesRequest())
        var zones: [RecordZone] = []
        for result in response.results {
            guard case .zone(let wire)? = result.outcome else { continue }
            known[zoneID(wire.zoneID)] = nil
            if let zone = try await verified(wire) { zones.append(zone) }
        }
        return try await zones + leftOut(known)
    }

    /// - Throws: `zoneNotFound`.
    public func recordZone(for zoneID: RecordZone.ID) async throws(SealKitError) -> RecordZone {
        try await recordZones(for: [zoneID])[zoneID].answered("the zone \(zoneID)")
    }

    /// - Returns: a result for each id; an absent zone is that id's `zoneNotFound`, one of another database its
    ///   `badDatabase`.
    /// - Throws: `notAuthenticated`; `limitExceeded` above 400 ids; whatever concerns the whole request.
    public func recordZones(
        for zoneIDs: [RecordZone.ID]
    ) async throws(SealKitError) -> [RecordZone.ID: Result<RecordZone, SealKitError>] {
        try await core.requireAccount(for: scope)
        var results: [RecordZone.ID: Result<RecordZone, SealKitError>] = [:]
        var ids: [RecordZone.ID] = []
        var scopes: [Sealkit_V1_ZoneID] = []
        for id in Set(zoneIDs) {
            do {
                scopes.append(try zoneScope(id).zoneIDOnWire)
                ids.append(id)
            } catch {
                results[id] = .failure(error)
            }
        }
        guard !ids.isEmpty else { return results }
        let known = try await core.trust.rosterEnds()
        let request = Sealkit_V1_LookupZonesRequest.with { $0.zones = scopes }
        let response: Sealkit_V1_LookupZonesResponse = try await core.call(scope, Endpoints.zones.lookup, request)
        guard response.results.count == ids.count else {
            throw SealKitError(
                .serverRejectedRequest, "the server answered \(response.results.count) of \(ids.count) zones")
        }
        for (id, result) in zip(ids, response.results) {
            do {
                results[id] = .success(try await zone(in: result, id))
            } catch {
                do {
                    if error.code == .zoneNotFound { try await confirmGone(id, known: known) }
                    results[id] = .failure(error)
                } catch { results[id] = .failure(error) }
            }
        }
        return results
    }

    /// A zone as the server names it, once its roster shows that this account is a member; nil when it shows that it is
    /// not, or not any more.
    func verified(_ wire: Sealkit_V1_Zone) async throws(SealKitError) -> RecordZone? {
        let id = zoneID(wire.zoneID)
        var zone = RecordZone(zoneID: id)
        zone.capabilities = RecordZone.Capabilities(rawValue: wire.capabilities)
        if scope == .shared, !wire.hasScope {
            zone.incarnation = try await incarnation(of: id, sharedBy: wire.shares)
            return zone.incarnation == nil ? nil : zone
        }
        let view = try await keeper(id).current(citedBy: [wire.scope], asked: 0)
        guard view.isMember else { return nil }
        return zone.described(by: view.roster)
    }

    /// The zone's newest life by the rosters of these hierarchical shares that show this account; nil where none does.
    private func incarnation(of id: RecordZone.ID, sharedBy heads: [Sealkit_V1_ScopeHead]) async throws(SealKitError)
        -> UInt32?
    {
        let zone = try zoneScope(id)
        var newest: UInt32?
        for head in heads {
            let view = try await core.keeper(of: zone.ofShare(try shareName(head))).current(citedBy: [head], asked: 0)
            if view.isMember { newest = max(newest ?? 0, view.roster.incarnations.zone) }
        }
        return newest
    }

    /// That a zone is gone is the server's word until its signed roster says so too: closed, or this account out of it.
    /// It may be there again by now, as a zone that was made since.
    /// - Parameter known: where its rosters ended when the server was asked.
    /// - Throws: `rollback` when this device knew the zone then, and nothing signed has ended it.
    func confirmGone(_ zoneID: RecordZone.ID, known: RosterEnds) async throws(SealKitError) {
        let zone = try zoneScope(zoneID)
        var hasEnded = try await hasEnded(zone, known: known)
        // An owner's shares end with the zone, whose own roster says so.
        if scope == .shared {
            for share in try await core.trust.shares(of: zone.id) where hasEnded {
                hasEnded = try await self.hasEnded(zone.ofShare(share), known: known)
            }
        }
        guard hasEnded else { throw await core.noted(Database.gone(zoneID), zone: zoneID) }
    }

    /// Whether a scope's roster shows its end, or that this account is out of it, now or since the server was asked.
    /// One that this device did not know then has none.
    private func hasEnded(
        _ scope: SealStatements.Scope, known: RosterEnds
    ) async throws(SealKitError) -> Bool {
        let keeper = core.keeper(of: scope)
        guard let then = known[scope], var roster = try await keeper.known() else { return true }
        do { roster = try await keeper.refresh().roster } catch
            where error.code == .zoneNotFound || error.code == .unknownItem
        {}
        let user = core.userID()
        return roster.isClosed || roster.members[user] == nil || roster.hasEnded(since: then, for: user)
    }

    /// Where a zone's rosters end that this device has.
    func rosterEnds(of zoneID: RecordZone.ID) async throws(SealKitError) -> RosterEnds {
        let zone = try zoneScope(zoneID)
        var scopes = [zone]
        if scope == .shared {
            for share in try await core.trust.shares(of: zone.id) { scopes.append(zone.ofShare(share)) }
        }
        var sequences: [Digest: UInt64] = [:]
        for scope in scopes { sequences[scope.id] = try await core.keeper(of: scope).known()?.sequence }
        return RosterEnds(sequences)
    }

    /// Makes a zone; one that exists is left as it is, with its records.
    /// - Throws: `invalidArguments` for what cannot name a zone, and where a zone that is encrypted per record, which
    ///   the default zone always is, was to be one that is encrypted per zone.
    @discardableResult
    public func save(_ zone: RecordZone) async throws(SealKitError) -> RecordZone {
        let results = try await modifyRecordZones(saving: [zone])
        return try results.saveResults[zone.zoneID].answered("the zone \(zone.zoneID)")
    }

    /// Deletes a zone with all its records and its share.
    ///
    /// - Parameter zoneID: of a zone of the private database.
    /// - Parameter reason: what the account's other devices are told (`DatabaseChanges.DeletionReason`): `purged` when
    ///   the user wants the data gone everywhere, `encryptedDataReset` when its keys are lost and devices shall upload
    ///   what they have anew. Participants are told that the zone is not shared any more, whatever the reason.
    /// - Throws: `zoneNotFound`; `invalidArguments` for the reason `unshared`.
    public func deleteRecordZone(
        withID zoneID: RecordZone.ID, reason: DatabaseChanges.DeletionReason = .deleted
    ) async throws(SealKitError) {
        guard reason != .unshared else {
            throw SealKitError(
                .invalidArguments, "a zone is not deleted because it is not shared", remedy: "delete its share instead")
        }
        let results = try await modifyRecordZones(saving: [], deleting: [zoneID], reason: reason)
        try results.deleteResults[zoneID]?.get()
    }

    /// - Throws: `badDatabase` in the shared database; whatever concerns the whole request.
    public func modifyRecordZones(
        saving: [RecordZone] = [], deleting: [RecordZone.ID] = []
    ) async throws(SealKitError) -> (
        saveResults: [RecordZone.ID: Result<RecordZone, SealKitError>],
        deleteResults: [RecordZone.ID: Result<Void, SealKitError>]
    ) {
        try await modifyRecordZones(saving: saving, deleting: deleting, reason: .deleted)
    }

    private func modifyRecordZones(
        saving: [RecordZone], deleting: [RecordZone.ID], reason: DatabaseChanges.DeletionReason
    ) async throws(SealKitError) -> (
        saveResults: [RecordZone.ID: Result<RecordZone, SealKitError>],
        deleteResults: [RecordZone.ID: Result<Void, SealKitError>]
    ) {
        guard scope == .private else {
            throw SealKitError(
                .badDatabase, "zones are made and deleted in the private database", remedy: "use it instead")
        }
        try await core.requireAccount(for: scope)
        var zones = ZoneOutcomes()
        var saveResults: [RecordZone.ID: Result<RecordZone, SealKitError>] = [:]
        for zone in saving {
            do {
                saveResults[zone.zoneID] = .success(try await create(zone))
                zones.succeeded()
            } catch {
                saveResults[zone.zoneID] = .failure(error)
                zones.failed(error)
            }
        }
        var deleteResults: [RecordZone.ID: Result<Void, SealKitError>] = [:]
        for zoneID in deleting {
            do {
                deleteResults[zoneID] = .success(try await close(zoneID, reason))
                zones.succeeded()
            } catch {
                deleteResults[zoneID] = .failure(error)
                zones.failed(error)
            }
        }
        try zones.throwCommonFailure()
        return (saveResults, deleteResults)
    }

    /// Opens the zone's scope: its roster's first entry, or the next incarnation of one that was deleted.
    private func create(_ wanted: RecordZone) async throws(SealKitError) -> RecordZone {
        let zone = try await made(wanted)
        // The other way round nothing is lost: whoever asked for no more than the default has more.
        guard wanted.encryptionScope == .perRecord || zone.encryptionScope == wanted.encryptionScope else {
            throw SealKitError(
                .invalidArguments, "the zone \(wanted.zoneID) is encrypted per record, and was made so",
                remedy: "make one of another name: the encryption scope of a zone cannot be changed")
        }
        return zone
    }

    private func made(_ wanted: RecordZone) async throws(SealKitError) -> RecordZone {
        let zoneID = wanted.zoneID
        let zoneScope = try zoneScope(zoneID)
        guard Names.isCustomZone(zoneID.zoneName) || zoneID.zoneName == Names.defaultZone else {
            throw SealKitError(
                .invalidArguments, "\"\(zoneID.zoneName)\" cannot name a zone",
                remedy: "use 1 to 255 printable ASCII characters, and no leading underscore")
        }
        guard wanted.encryptionScope == .perRecord || zoneID.zoneName != Names.defaultZone else {
            throw SealKitError(
                .invalidArguments, "the default zone is encrypted per record",
                remedy: "make a zone with a name of its own")
        }
        let keeper = core.keeper(of: zoneScope)
        let known = try await rosterEnds(of: zoneID)
        var existing: Roster?
        do {
            existing = try await keeper.refresh().roster
        } catch let error where error.code == .zoneNotFound {
            // A server that has lost a log that this device knows must not be given a second beginning of it.
            existing = try await keeper.known()
            if let existing, !existing.isClosed { try await confirmGone(zoneID, known: known) }
        }
        if let existing, !existing.isClosed { return try await recordZone(for: zoneID) }

        var random = SystemRandom()
        let draft = try verifying("the zone \(zoneID)") { () throws(SealError) in
            try core.author.open(
                zoneScope, following: existing, encryptionScope: wanted.encryptionScope.inRoster,
                identity: core.identity().chain, time: currentTime(), random: &random)
        }
        let request = Sealkit_V1_ModifyZonesRequest.with {
            $0.operationID = newOperationID()
            $0.saves = [Sealkit_V1_ZoneSave(zoneScope, draft)]
        }
        let response: Sealkit_V1_ModifyZonesResponse = try await core.call(scope, Endpoints.zones.modify, request)
        // Of a zone that was refused there is no log to refresh, which would be all that is told.
        if case .failure(let failure)? = response.results.first?.outcome { throw SealKitError(failure) }
        // Another device may have been faster: the server's log decides, and it is verified like any other.
        _ = try await keeper.refresh()
        return try await zone(in: response.results.first, zoneID)
    }

    private func close(_ zoneID: RecordZone.ID, _ reason: DatabaseChanges.DeletionReason) async throws(SealKitError) {
        try await whileRosterMoves { _ throws(SealKitError) in try await closeOnce(zoneID, reason) }
    }

    private func closeOnce(
        _ zoneID: RecordZone.ID, _ reason: DatabaseChanges.DeletionReason
    ) async throws(SealKitError) {
        let zoneScope = try zoneScope(zoneID)
        let keeper = core.keeper(of: zoneScope)
        let view = try await keeper.refresh()
        guard !view.roster.isClosed else {
            throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)")
        }
        let draft = core.author(on: view.roster).plain(.close, on: view.roster, time: currentTime())
        // With a zone end the shares in it, each by its own roster.
        let shares = try await endSurplus(of: try await openShares(in: zoneScope), in: zoneID)
        try await tellOfLostKeys(in: [view] + shares)
        let closings = shares.map { view in
            (scope: view.scope, draft: core.author(on: view.roster).plain(.close, on: view.roster, time: currentTime()))
        }
        let request = Sealkit_V1_ModifyZonesRequest.with {
            $0.operationID = newOperationID()
            $0.deletes = [
                .with {
                    $0.zoneID = zoneScope.zoneIDOnWire
                    $0.close = draft.entry.wire
                    $0.reason = UInt32(reason.rawValue)
                    $0.shares = closings.map { .init($0.scope, $0.draft) }
                }
            ]
        }
        let response: Sealkit_V1_ModifyZonesResponse = try await core.call(scope, Endpoints.zones.modify, request)
        if case .failure(let failure)? = response.results.first?.outcome { throw SealKitError(failure) }
        _ = try await keeper.adopt(draft)
        for closing in closings { _ = try await core.keeper(of: closing.scope).adopt(closing.draft) }
    }

    /// Ends those of a zone's shares that are too many for the request that deletes the zone.
    /// - Returns: the others.
    private func endSurplus(
        of shares: [ZoneView], in zoneID: RecordZone.ID
    ) async throws(SealKitError) -> ArraySlice<ZoneView> {
        let most = Limits.zonesPerRequest - 1
        for view in shares.dropFirst(most) {
            try await deleteRecord(withID: Record.ID(recordName: view.scope.shareRecordName, zoneID: zoneID))
        }
        return shares.prefix(most)
    }

    private func zone(in result: Sealkit_V1_ZoneResult?, _ zoneID: RecordZone.ID) async throws(SealKitError)
        -> RecordZone
    {
        switch result?.outcome {
        case .zone(let wire): if let zone = try await verified(wire) { return zone }
        case .failure(let failure): throw SealKitError(failure)
        case .deleted, nil: break
        }
        throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)")
    }
}

extension Database {
    /// A zone, or a share in it, of which this device knows that it is there.
    static func gone(_ zoneID: RecordZone.ID) -> SealKitError {
        SealKitError(
            .rollback, "the server says that the zone \(zoneID) is gone, and shows nothing signed that ended it",
            remedy: "hide it if you like, but keep what you have")
    }
}

extension Sealkit_V1_ZoneSave {
    /// - Parameter opening: with the owner's own grant.
    init(_ scope: SealStatements.Scope, _ opening: RosterAuthor<XWingHPKE>.Draft) {
        self = .with {
            $0.zoneID = scope.zoneIDOnWire
            $0.open = opening.entry.wire
            if let grant = opening.grants.first {
                $0.grant = grant.wire
            }
        }
    }
}
