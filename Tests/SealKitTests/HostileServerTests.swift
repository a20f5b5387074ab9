import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// The real SDK against a server that lies: each test first shows the honest answer, then the lie, refused.
@Suite struct HostileServerTests {
    private func hostile(_ person: Person, _ rewrite: @escaping RewritingTransport.Rewrite) throws -> Person {
        try person.through(RewritingTransport(HTTPTransport(server: person.server.origin), rewrite))
    }

    /// The same person, whose look-ups are answered with what `change` makes of the real answer.
    private func lookups(
        _ person: Person, _ change: @escaping @Sendable (inout Sealkit_V1_LookupRecordsResponse) throws -> Void
    ) throws -> Person {
        try hostile(person) { path, body in
            guard path.hasSuffix("records/lookup") else { return body }
            var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
            try change(&answer)
            return try answer.serializedData()
        }
    }

    @Test func aFieldThatWasAskedForAndComesAsADigestIsWithheldNotAbsent() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let deceived = try lookups(ann) { answer in
            let digest = try #require(note.base?.digests["body"])
            answer.results[0].record.fields[0].omitted = Data(digest.bytes)
        }
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .integrityFailure)
        // Where it was not asked for, the same answer is right.
        let partial = try await deceived.own.records(for: [note.recordID], desiredKeys: [])[note.recordID]?.get()
        #expect(partial?.omittedKeys == ["body"])
    }

    @Test func anAnswerWithoutItsRostersHeadIsNotJudgedAtAll() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let deceived = try lookups(ann) { answer in
            answer.scopes = []
        }
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .integrityFailure)
    }

    @Test func aRecordThatWasSeenDoesNotVanishWithoutASignedDeletion() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let deceived = try lookups(ann) { answer in
            answer.results = answer.results.map { result in .with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") } }
        }
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .rollback)
        #expect(await failure { try await deceived.own.deleteRecord(withID: note.recordID) } == .rollback)
    }

    @Test func aZoneThatIsKnownDoesNotEndWithoutASignedEnd() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let deceived = try hostile(ann) { path, body in
            if path.hasSuffix("zones/changes") {
                var answer = try Sealkit_V1_DatabaseChangesResponse(serializedBytes: body)
                answer.deletions = answer.modifications.map { zone in .with { $0.zoneID = zone.zoneID; $0.reason = 2 } }
                answer.modifications = []
                return try answer.serializedData()
            }
            if path.hasSuffix("zones/lookup") {
                var answer = try Sealkit_V1_LookupZonesResponse(serializedBytes: body)
                answer.results = [.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }]
                return try answer.serializedData()
            }
            return body
        }
        #expect(await failure { _ = try await deceived.own.databaseChanges() } == .rollback)
        #expect(await failure { _ = try await deceived.own.recordZone(for: zone) } == .rollback)
    }

    @Test func aServerThatLostALogIsNotGivenASecondBeginning() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let deceived = try hostile(ann) { path, body in
            guard path.hasSuffix("rosters/fetch") else { return body }
            return try Sealkit_V1_FetchRostersResponse.with {
                $0.rosters = [.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }]
            }.serializedData()
        }
        #expect(await failure { try await deceived.own.save(RecordZone(zoneID: zone)) } == .rollback)
    }

    @Test func zonesThatNobodySharedDoNotReachTheApp() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        #expect(try await bob.shared.allRecordZones().isEmpty)
        let annsView = try await ann.container.core.keeper(of: ann.container.core.scope(of: zone)).current()
        let deceived = try hostile(bob) { path, body in
            if path.hasSuffix("zones/lookup") {
                return try Sealkit_V1_LookupZonesResponse.with {
                    $0.results = [.with { $0.zone = Forgery.zone(annsView) }]
                }.serializedData()
            }
            if path.hasSuffix("rosters/fetch") {
                let entries = try await ann.container.core.trust.entries(scope: annsView.roster.scopeID)
                return try Sealkit_V1_FetchRostersResponse.with {
                    $0.rosters = [.with { $0.entries = entries.map { entry in .with { $0.entry = Data(entry.bytes); $0.signature = Data(entry.signature) } } }]
                }.serializedData()
            }
            return body
        }
        #expect(try await deceived.shared.allRecordZones().isEmpty)
    }

    @Test func aShorterOrForkedRosterIsRefused() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
        try await ann.own.save(share)
        for (sequence, head) in [(0 as UInt64, nil), (1, Digest.zero)] {
            let deceived = try lookups(ann) { answer in
                answer.scopes[0].sequence = sequence
                if let head { answer.scopes[0].head = Data(head.bytes) }
            }
            _ = try await deceived.container.core.keeper(of: deceived.container.core.scope(of: zone)).current()
            #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .rollback)
        }
    }

    @Test func whatWasDeletedInAnEarlierLifeOfAZoneSaysNothingInThisOne() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "first life", name: "note"))
        try await ann.own.deleteRecord(withID: note.recordID)
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = await failure { _ = try await ann.through(recording).own.record(for: note.recordID) }
        let tombstone = try #require(recording.tombstones().first)
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        let again = try await ann.own.save(ann.note(in: zone, "second life", name: "note"))

        let deceived = try ann.onFreshDevice(
            transport: RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/lookup") else { return body }
                var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
                answer.results = [.with { $0.record = tombstone }]
                return try answer.serializedData()
            })
        #expect(await failure { _ = try await deceived.own.record(for: again.recordID) } == .integrityFailure)
    }

    @Test func somebodysRecordIsNotShownAsAnother() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let one = try await ann.own.save(ann.note(in: zone, "one", name: "one"))
        let two = try await ann.own.save(ann.note(in: zone, "two", name: "two"))
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = try await ann.through(recording).own.record(for: two.recordID)
        let other = try #require(recording.records().first)
        let lies = [other, Sealkit_V1_Record.with { $0 = other; $0.recordName = "one" }]
        for lie in lies {
            let deceived = try lookups(ann) { answer in
                answer.results = [.with { $0.record = lie }]
            }
            #expect(await failure { _ = try await deceived.own.record(for: one.recordID) } == .integrityFailure)
        }
    }

    @Test func garbageInPlaceOfAnAnswerIsATypedError() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        for garbage in [Data(), Data([0xFF, 0xFF, 0xFF]), Data("<html>".utf8), Data(repeating: 0x0A, count: 1000)] {
            let deceived = try hostile(ann) { path, body in path.hasSuffix("records/lookup") ? garbage : body }
            #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } != nil)
        }
    }
}
