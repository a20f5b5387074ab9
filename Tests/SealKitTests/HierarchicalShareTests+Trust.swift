import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What devices believe of records that were in several scopes.
extension HierarchicalShareTests {
    private func statement(
        _ revision: UInt64, in scope: Digest, by author: UserID, owner: UserID, previous: Digest,
        from former: Digest? = nil
    ) throws -> Statement {
        Statement(
            kind: .save, container: "org.example.notes", environment: .development, owner: owner, zoneName: "notes",
            zoneIncarnation: 1, recordName: "note", recordType: "Note", creator: owner, author: author, clientTime: 1,
            revision: revision, previous: previous, scopeID: scope, scopeIncarnation: 1, epoch: 0,
            formerScope: former.map { .init(scopeID: $0, incarnation: 1) },
            wrappedKey: Array(repeating: 0, count: Statement.wrappedKeyBytes), rosterSequence: 1, rosterHead: scope,
            checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
    }

    private func sighting(_ statement: Statement) -> Sighting {
        Sighting(statement, hash: Statement.hash(statement.canonicalBytes()))
    }

    @Test func aRecordOfOneScopeIsNotTakenOverByWritersOfAnother() async throws {
        let (ann, bob) = (
            UserID(try ID16(Array(repeating: 1, count: 16))), UserID(try ID16(Array(repeating: 2, count: 16)))
        )
        let (zone, share) = (Hash.digest(.link, [1]), Hash.digest(.link, [2]))
        let first = try statement(1, in: zone, by: ann, owner: ann, previous: .zero)
        let hash = Statement.hash(first.canonicalBytes())
        func verdict(after statements: [Statement]) async throws -> Verdict? {
            let trust = try TrustStore()
            var last: Verdict?
            for one in [first] + statements {
                last = try await trust.admit([sighting(one)], in: ScopePlace(zone, 1)).first
            }
            return last
        }
        // Bob writes in the share, and has no say about what is in the zone.
        #expect(
            try await verdict(after: [try statement(5, in: share, by: bob, owner: ann, previous: hash)]) == .misplaced)
        #expect(
            try await verdict(after: [try statement(2, in: share, by: bob, owner: ann, previous: hash)]) == .misplaced)
        // Ann moves it, and says from where.
        #expect(
            try await verdict(after: [try statement(2, in: share, by: ann, owner: ann, previous: hash)]) == .misplaced)
        let moved = try statement(2, in: share, by: ann, owner: ann, previous: hash, from: zone)
        #expect(try await verdict(after: [moved]) == .accepted)
        #expect(
            try await verdict(after: [try statement(4, in: share, by: ann, owner: ann, previous: hash, from: zone)])
                == .accepted)
        // Then Bob may write on.
        let next = try statement(3, in: share, by: bob, owner: ann, previous: Statement.hash(moved.canonicalBytes()))
        #expect(try await verdict(after: [moved, next]) == .accepted)
        #expect(
            try await verdict(after: [moved, try statement(9, in: zone, by: bob, owner: ann, previous: hash)])
                == .misplaced)
    }

    @Test func whatHasNoParentInTheShareIsHeldBack() async throws {
        let it = try await shared()
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        let item = try await it.bob.shared.record(for: it.id(it.item))
        let ground = try await it.bob.shared.zoneGround(it.joined)
        func code(parent: String?) async throws -> SealKitError.Code? {
            var forged = item
            let base = try #require(item.base)
            var statement = base.statement
            statement.parent = parent
            forged.base = Record.Base(statement: statement, hash: base.hash, proof: base.proof)
            return try await it.bob.shared.holdingBack([.success(.record(forged))], in: ground, it.joined).first?
                .failureCode
        }
        #expect(try await code(parent: "list") == nil)
        #expect(try await code(parent: nil) == .unknownItem)
        #expect(try await code(parent: "note") == .unknownItem)
        #expect(try await code(parent: "nothing") == .unknownItem)
        #expect(try await code(parent: it.share.recordID.recordName) == nil)
    }

    /// With a server that keeps a parent back, a record would be sealed for whoever is in some other share.
    @Test func aParentThatIsKeptBackNamesNoShare() async throws {
        let it = try await shared()
        let diary = try await it.ann.own.save(it.ann.note(in: it.zone, "diary", name: "diary"))
        var share = Share(rootRecord: diary)
        for person in [it.bob, try await Person()] {
            share.addParticipant(try await it.ann.participant(person, .readWrite))
        }
        _ = try await it.bob.join(try await it.ann.own.save(share, rootRecord: diary).share.url)
        let (bob, network) = try it.bob.behindAttacker()
        _ = try await bob.shared.recordZoneChanges(inZoneWith: it.joined)
        network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            for index in answer.results.indices {
                answer.results[index] = .with { $0.failure.code = SealKitError.Code.unknownItem.rawValue }
            }
        }
        var record = bob.note(in: it.joined, "for the list")
        record.setParent(it.id(it.list))
        let meant = record
        #expect(await failure { _ = try await bob.shared.save(meant) } == .permissionFailure)
        #expect(network.sent(to: "records/modify").isEmpty)
        network.beHonest()
        let saved = try await bob.shared.save(meant)
        #expect(
            saved.base?.statement.scopeID == (try await bob.shared.record(for: it.id(it.list)).base?.statement.scopeID))
    }
}
