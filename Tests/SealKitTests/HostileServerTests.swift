import Foundation
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// The real SDK against a server that lies, beside what the table of attacks has (`Attacks`): each test first shows the
/// honest answer, then the lie, refused.
@Suite(.timeLimit(.minutes(60))) struct HostileServerTests {
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

    @Test func anAnswerWithoutItsRostersHeadIsNotJudgedAtAll() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let (deceived, network) = try ann.behindAttacker()
        network.inject(.withheldHead)
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .integrityFailure)
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
        let byItsName = try lookups(ann) { answer in
            answer.results = [.with { $0.record = other }]
        }
        #expect(await failure { _ = try await byItsName.own.record(for: one.recordID) } == .integrityFailure)
        let (deceived, network) = try ann.behindAttacker()
        network.inject(.anotherRecord(two.recordID, shownAs: one.recordID))
        #expect(await failure { _ = try await deceived.own.record(for: one.recordID) } == .integrityFailure)
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
