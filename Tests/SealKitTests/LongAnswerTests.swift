import Foundation
import SealKitTesting
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Answers with so many records that several processors read them: each in its place, and judged by itself.
@Suite(.timeLimit(.minutes(60))) struct LongAnswerTests {
    private static let count = 150

    private let ann: Person
    private let zone: RecordZone.ID

    init() async throws {
        ann = try await Person()
        zone = try await ann.makeZone()
    }

    private func save(_ round: Int) async throws {
        let bodies = (0..<Self.count).map { "\($0) in round \(round)" }
        var notes = bodies.enumerated().map { ann.note(in: zone, $1, name: "note \($0)") }
        if round > 0 {
            let there = try await ann.own.records(for: notes.map(\.recordID))
            notes = try notes.indices.map { index in
                var note = try #require(there[notes[index].recordID]).get()
                note.encryptedValues["body"] = bodies[index]
                return note
            }
        }
        for result in try await ann.own.modifyRecords(saving: notes).saveResults.values { _ = try result.get() }
    }

    private func id(_ index: Int) -> Record.ID { Record.ID(recordName: "note \(index)", zoneID: zone) }

    /// What is wrong with a record shows at that record, at the edges of what a processor has too.
    @Test func whatDoesNotHoldIsToldInItsPlace() async throws {
        try await save(0)
        let wrong: Set<Int> = [0, 37, 74, 75, 149]
        let (reader, network) = try ann.freshBehindAttacker()
        network.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { answer in
            for index in wrong { answer.records[index].proof.signature = Data(repeating: 1, count: 64) }
        }
        let page = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(page.modifications.map(\.recordID) == (0..<Self.count).map(id))
        for (index, (_, result)) in page.modifications.enumerated() {
            switch result {
            case .success(let record):
                #expect(!wrong.contains(index) && record.encryptedValues["body"] == "\(index) in round 0")
            case .failure(let error):
                #expect(wrong.contains(index) && error.code == .integrityFailure, "\(index): \(error)")
            }
        }
    }

    /// Records that cite a head which is not known yet: the roster's tail is fetched once for all of them.
    @Test func aTailThatIsMissingIsFetchedOnce() async throws {
        try await save(0)
        let (reader, network) = try ann.freshBehindAttacker()
        let first = try await reader.own.recordZoneChanges(inZoneWith: zone)
        let heard = try #require(network.exchanges.last { $0.path.hasSuffix("records/changes") })
        let before = try Sealkit_V1_RecordChangesResponse(serializedBytes: heard.response).scopes
        _ = try await ann.own.save(Share(recordZoneID: zone))
        try await save(1)
        network.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { $0.scopes = before }
        network.forget()
        let page = try await reader.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        let notes = page.modifications.filter { $0.recordID.recordName.hasPrefix("note ") }
        let bodies: [String?] = try notes.map { try $0.result.get().encryptedValues["body"] }
        #expect(bodies == (0..<Self.count).map { "\($0) in round 1" })
        #expect(network.sent(to: "rosters/fetch").count == 1)
    }
}
