import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit
@testable import SealServer
@testable import SealService

/// A write with the scope that it is signed for.
struct PlacedWrite: Sendable {
    var write: Write
    let scope: TestZone
    /// The scope that the record leaves.
    var former: TestZone?
    /// What the record names as its share.
    var share: String?

    init(_ write: Write, in scope: TestZone, from former: TestZone? = nil, share: String? = nil) {
        (self.write, self.scope, self.former, self.share) = (write, scope, former, share)
    }
}

extension Person {
    /// The scope of a share that is still to be opened.
    func newShare(
        _ name: String, root: String, in zone: TestZone, following: Roster? = nil, incarnations: Incarnations? = nil
    ) throws -> (scope: TestZone, opening: Sealkit_V1_ShareOpening) {
        var random = SystemRandom()
        let scope = Scope(
            container: TestClient.container, environment: environment, owner: user, zoneName: zone.name,
            shareRecordName: name)
        let next = Incarnations(zone: zone.roster.incarnations.zone, scope: (following?.incarnations.scope ?? 0) + 1)
        let draft = try author.open(
            scope, following: following, encryptionScope: .perRecord, incarnations: incarnations ?? next,
            rootRecordName: root,
            identity: chain, time: 1, random: &random)
        guard let key = draft.epochKey else { throw TestFailure("no epoch") }
        var roster = try following ?? Roster(opening: draft.entry, scope: scope)
        if following != nil { try roster.append(draft.entry) }
        let opening = Sealkit_V1_ShareOpening.with {
            $0.shareRecordName = name
            $0.open = draft.entry.wire
            $0.grant = draft.grants[0].wire
        }
        return (TestZone(name: zone.name, owner: user, roster: roster, key: key), opening)
    }

    func closing(_ share: TestZone) -> Sealkit_V1_ShareClosing {
        .with {
            $0.shareRecordName = share.roster.scope.shareRecordName
            $0.close = author.plain(.close, on: share.roster, time: 2).entry.wire
        }
    }

    /// One signed batch over several scopes of a zone.
    func request(
        _ writes: [PlacedWrite], opening openings: [Sealkit_V1_ShareOpening] = [],
        closing closings: [Sealkit_V1_ShareClosing] = [],
        change: (inout Statement) -> Void = { _ in }
    ) throws -> (request: Sealkit_V1_ModifyRecordsRequest, sealed: [SealedRecord]) {
        var random = SystemRandom()
        let drafts = writes.map { placed in
            let (write, zone) = (placed.write, placed.scope)
            var statement = Statement(
                kind: write.kind, container: TestClient.container, environment: environment, owner: zone.owner,
                zoneName: zone.name, zoneIncarnation: zone.roster.incarnations.zone, recordName: write.name,
                recordType: write.type, creator: write.creator ?? user, author: user, clientTime: 1,
                revision: write.revision, previous: write.previous, scopeID: zone.roster.scopeID,
                scopeIncarnation: zone.roster.incarnations.scope, epoch: zone.key.context.epoch,
                formerScope: placed.former.map {
                    .init(scopeID: $0.roster.scopeID, incarnation: $0.roster.incarnations.scope)
                },
                wrappedKey: [], rosterSequence: zone.roster.sequence, rosterHead: zone.roster.head,
                checkpoint: Checkpoint.none,
                parent: write.parent,
                share: placed.share, salt: ID16(random: &random), fieldsDigest: .zero)
            change(&statement)
            return RecordDraft(statement: statement, recordKey: nil, fields: write.fields, taking: write.taken)
        }
        let keys = Dictionary(writes.map { ($0.scope.roster.scopeID, $0.scope.key) }) { first, _ in first }.map(\.value)
        guard let first = keys.first, let zone = writes.first?.scope else { throw TestFailure("nothing to write") }
        let (sealed, signature) = try RecordSealer.seal(
            drafts, epochKey: first, others: Array(keys.dropFirst()), signingKey: self.keys.signingKey, random: &random)
        var request = Sealkit_V1_ModifyRecordsRequest()
        request.operationID = Data(randomBytes(16))
        request.zone = zone.id(for: self)
        request.atomic = true
        request.signature = Data(signature)
        request.openings = openings
        request.closings = closings
        request.records = zip(writes, sealed).map { placed, record in
            .with {
                $0.recordName = placed.write.name
                $0.recordType = placed.write.type
                $0.changeTag = placed.write.tag
                $0.statement = Data(record.statementBytes)
                $0.fields = record.fields.compactMap { name, content, _ in
                    guard case .stored(let field) = content else { return nil }
                    return WireField.stored(field, blob: placed.write.blobs[name]).wire(name: name)
                }
            }
        }
        return (request, sealed)
    }

    @discardableResult
    func save(
        _ writes: [PlacedWrite], opening openings: [Sealkit_V1_ShareOpening] = [],
        closing closings: [Sealkit_V1_ShareClosing] = []
    ) async throws -> [SavedRecord] {
        let (request, sealed) = try request(writes, opening: openings, closing: closings)
        let zone = writes[0].scope
        return zip(try await send(request, to: zone), sealed).map { result, sealed in
            SavedRecord(
                name: result.recordName, tag: result.record.changeTag, revision: sealed.statement.revision,
                hash: sealed.hash, creator: sealed.statement.creator, result: result)
        }
    }

    /// The share's record, and its root on its way from the zone's scope into the share's.
    /// As `saveCovering` of one scope.
    func saveCovering(_ writes: [PlacedWrite]) async throws -> [SavedRecord] {
        var writes = writes
        while true {
            let saved = try await save(writes)
            let named = saved.indices.filter { saved[$0].result.hasTaken }
            guard !named.isEmpty else { return saved }
            for index in named { writes[index].write.taken = try saved[index].result.taken.covered() }
        }
    }

    func sharing(_ root: SavedRecord, as name: String, in zone: TestZone, _ share: TestZone) -> [PlacedWrite] {
        var record = Write(name, "title")
        record.type = Names.shareType
        return [
            PlacedWrite(record, in: share), PlacedWrite(Write(after: root), in: share, from: zone, share: name),
        ]
    }

    /// Shares a saved record's hierarchy, with nobody yet.
    func makeShare(
        of root: SavedRecord, _ name: String = "share", in zone: TestZone
    ) async throws -> (share: TestZone, record: SavedRecord, root: SavedRecord) {
        var (share, opening) = try newShare(name, root: root.name, in: zone)
        let saved = try await save(sharing(root, as: name, in: zone, share), opening: [opening])
        for record in saved { if let code = record.result.code { throw TestFailure("not shared: \(code)") } }
        try await append(try next(on: share, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &share)
        return (share, saved[0], saved[1])
    }

    func unsettled(in zone: TestZone) async throws -> Sealkit_V1_UnsettledRecordsResponse {
        try await client.call(
            path("shares/unsettled"), Sealkit_V1_UnsettledRecordsRequest.with { $0.zone = zone.id(for: self) },
            as: Sealkit_V1_UnsettledRecordsResponse.self)
    }

    func shares(in zone: TestZone, after: String = "") async throws -> [Sealkit_V1_OpenShare] {
        let request = Sealkit_V1_LookupSharesRequest.with {
            $0.zone = zone.id(for: self)
            $0.after = after
        }
        return try await client.call(
            path("shares/lookup", shared: zone.owner != user), request,
            as: Sealkit_V1_LookupSharesResponse.self
        ).shares
    }
}
