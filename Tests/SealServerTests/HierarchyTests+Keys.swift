import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Records that came from one scope into another with their key: stale until they are sealed again, where somebody
/// beside the owner may have that key.
extension HierarchyTests {
    /// A move as the owner's devices make it: the record's key goes along.
    /// - Parameter former: the scope as it was while the record was written.
    private func carry(
        _ name: String, of anna: Person, from former: TestZone, to scope: TestZone, in zone: TestZone
    ) async throws -> SavedRecord {
        let record = try await anna.lookup([name], in: zone, keys: []).results[0].record
        var verifier = StatementVerifier(roster: former.roster)
        let verified = try verifier.verify(
            [UInt8](record.statement), proof: try StatementProof(record.proof), recordName: name)
        let fields = try record.fields.map { FieldDigest(name: $0.name, digest: try Digest($0.omitted)) }
        let draft = try RecordDraft(
            rewrapping: verified, fields: fields, recordKey: RecordOpener(verified, epochKey: former.key).recordKey,
            into: scope.roster,
            by: anna.user, clientTime: 1)
        var random = SystemRandom()
        let (sealed, signature) = try RecordSealer.seal(
            [draft], epochKey: scope.key, signingKey: anna.keys.signingKey, random: &random)
        var request = Sealkit_V1_ModifyRecordsRequest()
        request.operationID = Data(randomBytes(16))
        request.zone = zone.id(for: anna)
        request.signature = Data(signature)
        request.records = [
            .with {
                $0.recordName = name
                $0.recordType = record.recordType
                $0.changeTag = record.changeTag
                $0.statement = Data(sealed[0].statementBytes)
                $0.fields = record.fields
            }
        ]
        let result = try await anna.send(request, to: zone)[0]
        return SavedRecord(
            name: name, tag: result.record.changeTag, revision: sealed[0].statement.revision, hash: sealed[0].hash,
            creator: sealed[0].statement.creator, result: result)
    }

    /// The share ends, and its root is the zone's again; the item is still to follow.
    private func end(_ shared: Shared) async throws -> SavedRecord {
        let (anna, share) = (shared.anna, shared.share)
        var gone = Write(after: shared.record, kind: .delete)
        gone.type = Names.shareType
        let root = Self.move(shared.root, from: share, to: shared.zone, parent: nil)
        let done = try await anna.save([PlacedWrite(gone, in: share), root], closing: [anna.closing(share)])
        #expect(done.map(\.result.code) == [nil, nil])
        return done[1]
    }

    /// Neither with its end nor later: nobody has it in sight any more.
    @Test func whatLeavesAShareThatHasEndedIsNotKeptForAnybody() async throws {
        try await withShare { shared in
            _ = try await end(shared)
            let moved = try await shared.anna.save([
                Self.move(shared.item, from: shared.share, to: shared.zone, parent: "list")
            ])
            #expect(moved.map(\.result.code) == [nil])
            let kept = try await shared.server.services.database.read { connection in
                try connection.rows("SELECT name FROM departure") { try $0.text("name") }
            }
            #expect(kept == [])
            let hasDrifted = try await shared.server.services.database.read { try StorageUsage.hasDrifted(in: $0) }
            #expect(!hasDrifted)
        }
    }

    @Test func aKeyThatAFormerParticipantHasIsStaleWhereTheRecordGoes() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            _ = try await end(shared)
            #expect(try await anna.stale(zone, counting: true).count == 0)
            let moved = try await carry("item", of: anna, from: shared.share, to: zone, in: zone)
            #expect(moved.result.code == nil)
            let stale = try await anna.stale(zone, counting: true)
            #expect(stale.records.map(\.recordName) == ["item"])
            #expect(stale.count == 1)
            #expect(try anna.open(stale.records[0], in: zone).statement.isKeyCarried)
            // Listed by place like all others, and once where its epoch is old as well.
            #expect(try await anna.stale(zone, after: stale.records[0].position).records.isEmpty)
            var rotated = zone
            try await anna.append(try anna.next(on: zone, rotating: true), to: &rotated)
            let now = rotated
            let all = try await anna.stale(now, counting: true)
            #expect(all.records.map(\.recordName).sorted() == ["item", "list", "note"])
            #expect(all.count == 3)
            // Sealed again, to apps it is the same record still.
            let again = try await anna.save([rekeyed(moved)], in: now, rekeying: true)
            #expect(again[0].result.code == nil && again[0].tag == moved.tag)
            #expect(try await anna.stale(now, counting: true).count == 2)
        }
    }

    private func rekeyed(_ moved: SavedRecord) -> Write {
        var write = Write(after: moved, "text")
        write.parent = "list"
        return write
    }

    @Test func itIsSealedAgainWithinAnEpochToo() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            _ = try await end(shared)
            let moved = try await carry("item", of: anna, from: shared.share, to: zone, in: zone)
            let again = try await anna.save([rekeyed(moved)], in: zone, rekeying: true)
            #expect(again[0].result.code == nil && again[0].tag == moved.tag)
            #expect(try await anna.stale(zone, counting: true).count == 0)
        }
    }

    /// Nobody beside the owner had the keys of a zone that was never shared as a whole.
    @Test func whatComesOutOfTheOwnersOwnScopeIsNot() async throws {
        try await withShare(settles: false) { shared in
            let (anna, zone, share) = (shared.anna, shared.zone, shared.share)
            let moved = try await carry("item", of: anna, from: zone, to: share, in: zone)
            #expect(moved.result.code == nil)
            #expect(try await anna.staleIn(share).count == 0)
        }
    }

    /// From one share through the zone into another: the key is as known as before.
    @Test func itStaysStaleOnItsWay() async throws {
        try await withShare { shared in
            let (anna, zone) = (shared.anna, shared.zone)
            _ = try await end(shared)
            #expect(try await carry("item", of: anna, from: shared.share, to: zone, in: zone).result.code == nil)
            let root = try SavedRecord(try await anna.lookup(["list"], in: zone).results[0].record)
            let (second, _, _) = try await anna.makeShare(of: root, "second", in: zone)
            let moved = try await carry("item", of: anna, from: zone, to: second, in: zone)
            #expect(moved.result.code == nil)
            let stale = try await anna.staleIn(second)
            #expect(stale.records.map(\.recordName) == ["item"])
            #expect(stale.count == 1)
            // An ordinary save has a key of its own.
            #expect(try await anna.save([PlacedWrite(rekeyed(moved), in: second)]).map(\.result.code) == [nil])
            #expect(try await anna.staleIn(second).count == 0)
        }
    }
}

extension Person {
    fileprivate func staleIn(_ share: TestZone) async throws -> Sealkit_V1_StaleRecordsResponse {
        var request = Sealkit_V1_StaleRecordsRequest()
        request.zone = share.id(for: self)
        request.shareRecordName = share.roster.scope.shareRecordName
        request.counting = true
        return try await client.call(path("records/stale"), request, as: Sealkit_V1_StaleRecordsResponse.self)
    }

    func verified(_ record: Sealkit_V1_Record, in scope: TestZone) throws -> Statement {
        var verifier = StatementVerifier(roster: scope.roster)
        return try verifier.verify(
            [UInt8](record.statement), proof: try StatementProof(record.proof), recordName: record.recordName
        ).statement
    }
}
