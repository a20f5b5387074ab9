import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Records follow their parents from one scope into another. Their owner alone can sign that, so that the owner's
/// devices do it: in batches, each record by itself, and gone on with by whichever device comes next.
extension Database {
    /// Moves what is not where its parent is: after a record was shared, unshared, or given another parent.
    /// Participants do not see such records before. Saves do it by themselves; where one was cut off, or a participant
    /// has written in between, it is done by the next save after changes were fetched, by ``maintain(_:)``, or by this.
    ///
    /// Data is not sealed again: the key of each record is wrapped anew, and change tags and dates stay as they are.
    /// - Returns: how many records were moved.
    /// - Throws: `badDatabase` in the shared database; whatever keeps a batch from being sent; why a record does not
    ///   verify, once nothing else is left; why one does not open (`integrityFailure`), once there are so many of those
    ///   that the server names nothing else: what comes after them is not reached before they are deleted. What was
    ///   moved stays moved.
    @discardableResult
    public func settleShares(in zoneID: RecordZone.ID) async throws(SealKitError) -> Int {
        guard scope == .private else {
            throw SealKitError(
                .badDatabase, "only a zone's owner moves its records", remedy: "use the private database")
        }
        var moved = 0
        try await settleShares(in: zoneID, moved: &moved)
        return moved
    }

    /// - Parameter moved: how many were moved so far, also where the rest has failed.
    func settleShares(in zoneID: RecordZone.ID, moved: inout Int) async throws(SealKitError) {
        let zone = try zoneScope(zoneID).id
        var empty = 0
        while true {
            let page = try await unsettled(zoneID)
            // The server looks at so many records only before it answers.
            if page.isEmpty, page.isMoreComing, empty < Database.mostEmptyPages {
                empty += 1
                continue
            }
            guard !page.moves.isEmpty else {
                if let failure = page.failure { throw failure }
                core.unsettled.note(zone, false)
                return
            }
            let count = try await send(page.moves, page.ground)
            moved += count
            // Whoever else moves them, or keeps them from being moved, is done with by another call.
            guard count > 0, page.isMoreComing else {
                core.unsettled.note(zone, count == 0)
                return
            }
        }
    }

    /// Whether the server still names records that a share which has ended has left in it, or may.
    func mayHaveLeft(_ share: SealStatements.Scope) async throws(SealKitError) -> Bool {
        let request = Sealkit_V1_UnsettledRecordsRequest.with { $0.zone = share.ofZone.zoneIDOnWire }
        for _ in 0..<Database.mostEmptyPages {
            let page: Sealkit_V1_UnsettledRecordsResponse = try await core.call(
                scope, Endpoints.sharing.unsettledRecords, request)
            let isLeft = page.records.contains { left in
                (try? Statement(canonicalBytes: [UInt8](left.record.statement)))?.scopeID == share.id
            }
            if isLeft { return true }
            // Those of other shares it names again each time.
            guard page.moreComing else { return false }
        }
        return true
    }

    /// However often a server says that there may be more.
    private static let mostEmptyPages = 100

    /// Where that fails, what does not verify is kept for the user to see; all else the server goes on naming, and the
    /// next call moves it.
    func settleQuietly(_ zoneID: RecordZone.ID) async {
        do throws(SealKitError) {
            try await Upkeep.quietly { () throws(SealKitError) in try await settleShares(in: zoneID) }
        } catch {
            _ = await core.noted(error, zone: zoneID)
            // What does not verify would be asked for again in vain by every save; all else the next save tries again.
            if let zone = try? zoneScope(zoneID).id { core.unsettled.note(zone, !error.isViolation) }
        }
    }

    private struct Move {
        let record: Record
        let target: Digest
    }

    private func unsettled(
        _ zoneID: RecordZone.ID
    ) async throws(SealKitError) -> (
        moves: [Move], isEmpty: Bool, failure: SealKitError?, ground: ZoneGround, isMoreComing: Bool
    ) {
        let known = try await zoneGround(zoneID)
        let response: Sealkit_V1_UnsettledRecordsResponse = try await core.call(
            scope, Endpoints.sharing.unsettledRecords,
            Sealkit_V1_UnsettledRecordsRequest.with { $0.zone = known.zone.zoneIDOnWire })
        guard !response.records.isEmpty else { return ([], true, nil, known, response.moreComing) }
        let ground = try await known.settled(by: response.scopes, core)
        let records = try await read(
            response.records.map(\.record), zone: zoneID, desiredKeys: [], ground: .zone(ground))
        let parents = try await read(
            response.records.filter(\.hasParent).map(\.parent),
            zone: zoneID, desiredKeys: [], ground: .zone(ground))
        var next = parents.makeIterator()
        var moves: [Move] = []
        var isIn: Set<String> = []
        var failure: SealKitError?
        var unopened: [SealKitError] = []
        for (wire, outcome) in zip(response.records, records) {
            let parent = wire.hasParent ? next.next() : nil
            let record: Record
            switch outcome {
            case .success(.record(let found)): record = found
            case .success(.unopened(let there)):
                // It has no key to wrap anew: it stays where it is until somebody deletes it.
                unopened.append(there.error)
                continue
            case .success(.deletion): continue
            case .failure(let error):
                failure = failure ?? error
                continue
            }
            guard let statement = record.base?.statement else { continue }
            let target: Digest
            let above: Record?
            do throws(SealKitError) { above = try parent?.get().present } catch {
                failure = failure ?? error
                continue
            }
            if let above {
                guard let place = above.base?.statement, place.recordName == statement.parent,
                    let view = ground.view(of: place)
                else { continue }
                // Its parent is still to follow: in this very batch, or in the next.
                if view.roster.isClosed, !isIn.contains(place.recordName) { continue }
                target = view.roster.isClosed ? ground.zone.id : place.scopeID
            } else {
                target = ground.zone.id
            }
            guard target != statement.scopeID, ground[target] != nil else { continue }
            moves.append(Move(record: record, target: target))
            isIn.insert(statement.recordName)
        }
        // Those before it the server names again each time: what is behind a page of them is never named.
        if unopened.count >= Limits.itemsPerRequest { failure = failure ?? unopened.first }
        return (moves, false, failure, ground, response.moreComing)
    }

    /// - Returns: how many were taken.
    private func send(_ moves: [Move], _ start: ZoneGround) async throws(SealKitError) -> Int {
        var ground = start
        var keys: [Digest: EpochKey] = [:]
        for target in Set(moves.map(\.target)) {
            guard var view = ground[target] else { continue }
            if isKeyDue(in: view) {
                view = try await rotate(core.keeper(of: view.scope))
                ground.add(view)
            }
            keys[target] = try view.currentKey()
        }
        try await stateKeys(leaving: Set(moves.compactMap { $0.record.base?.statement.scopeID }), &ground)
        var drafts: [RecordDraft] = []
        for move in moves { drafts.append(try draft(move, ground)) }
        guard let key = keys[moves[0].target] else { return 0 }
        var random = SystemRandom()
        let (sealed, signature) = try verifying("the move") { () throws(SealError) in
            try RecordSealer.seal(
                drafts, epochKey: key, others: Array(keys.values), signingKey: core.identity().keys.signingKey,
                random: &random)
        }
        let items = moves.map { ZoneBatch.Item.save($0.record) }
        let signed = zip(items, sealed).map { SignedRecord($1, of: $0) }
        let batch = ZoneBatch(
            database: self, zoneID: moves[0].record.recordID.zoneID, savePolicy: .ifServerRecordUnchanged,
            isAtomic: false,
            progress: .nobody)
        let response = try await batch.send(
            items, signed, signature: signature, zone: ground.zone, known: RosterEnds(ground))
        var seen: [Sighting] = []
        for (record, result) in zip(signed, response.results) {
            guard result.stores(record.statement.recordName) else { continue }
            seen += Sighting.written(record.statement, hash: record.hash, taking: [])
        }
        try await noteOwn(seen, ground: .zone(ground))
        return seen.count
    }

    private func draft(_ move: Move, _ ground: ZoneGround) throws(SealKitError) -> RecordDraft {
        try verifying("record \(move.record.recordID.recordName)") { () throws(SealError) in
            guard let base = move.record.base, let key = base.recordKey, let from = ground.view(of: base.statement),
                let into = ground[move.target]
            else { throw .missingKey }
            var verifier = StatementVerifier(roster: from.roster)
            let verified = try verifier.verify(
                base.statement.canonicalBytes(), proof: base.proof, recordName: base.statement.recordName)
            return try RecordDraft(
                rewrapping: verified, fields: base.digests.listed, recordKey: key, into: into.roster, by: core.userID(),
                clientTime: currentTime())
        }
    }
}
