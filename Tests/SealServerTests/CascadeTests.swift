import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// References with `deleteSelf`: what goes with a deleted target, and the proof of it.
@Suite(.timeLimit(.minutes(60))) struct CascadeTests {
    /// A notice as a client verifies it.
    static func verify(_ record: Sealkit_V1_Record, in zone: TestZone) throws -> VerifiedStatement {
        var verifier = StatementVerifier(roster: zone.roster)
        let gone = try verifier.verify(
            [UInt8](record.statement), proof: StatementProof(record.proof), recordName: record.recordName)
        let last = record.derived.tombstone
        let tombstone = try verifier.verify([UInt8](last.statement), proof: StatementProof(last.proof), recordName: nil)
        return try DerivedDeletion(record.derived, of: gone, tombstone: tombstone).verify(in: zone.roster.scope)
    }

    @Test func aChainGoesWithItsTargetInOneTransactionAndEachNoticeProvesIt() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [
                    Write("list"), Write("item").going(with: "list"), Write("detail").going(with: "item"),
                    Write("other"),
                ], in: zone)
            #expect(saved.allSatisfy { $0.result.code == nil })
            let token = try await anna.changes(in: zone).token
            #expect(try await anna.codesCovering([Write(after: saved[0], kind: .delete)], in: zone) == [nil])
            let feed = try await anna.changes(in: zone, since: token).records
            #expect(feed.map(\.recordName) == ["list", "item", "detail"])
            #expect(feed.allSatisfy { $0.deleted })
            #expect(feed.map(\.recordType) == ["Note", "Note", "Note"])
            #expect(feed.allSatisfy { $0.fields.isEmpty })
            #expect(feed.map(\.position) == feed.map(\.position).sorted())
            #expect(feed.map(\.derived.count) == [0, 2, 2])
            for notice in feed.dropFirst() {
                let gone = try Self.verify(notice, in: zone)
                #expect(gone.statement.recordName == notice.recordName)
                #expect(gone.statement.revision == 1)
            }
            let found = try await anna.lookup(["item", "detail", "other"], in: zone)
            #expect(found.results.map(\.code) == [.unknownItem, .unknownItem, nil])
            #expect(try Self.verify(found.results[1].serverRecord, in: zone).hash == saved[2].hash)
            #expect(
                try await anna.changes(in: zone, keys: []).records.map(\.recordName) == [
                    "other", "list", "item", "detail",
                ])
        }
    }

    @Test func twoTargetsCyclesAndListsAreFollowedOnce() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [
                    Write("a").going(with: "c"), Write("b").going(with: "a"), Write("c").going(with: "b"),
                    Write("two").going(with: "x", field: "one").going(with: "y", field: "two"), Write("x"), Write("y"),
                    Write("many").going(with: "x", "y"), Write("self").going(with: "self"),
                ], in: zone)
            // Round the cycle: the target itself is deleted by its own statement.
            #expect(try await anna.codesCovering([Write(after: saved[0], kind: .delete)], in: zone) == [nil])
            let cycle = try await anna.lookup(["a", "b", "c"], in: zone).results.map(\.serverRecord)
            #expect(cycle.map(\.hasDerived) == [false, true, true])
            for notice in cycle.dropFirst() { _ = try Self.verify(notice, in: zone) }
            // Either target takes it along, and both at once take it along once.
            #expect(try await anna.codesCovering([Write(after: saved[5], kind: .delete)], in: zone) == [nil])
            let both = try await anna.lookup(["two", "many", "x"], in: zone).results
            #expect(both.map(\.code) == [.unknownItem, .unknownItem, nil])
            for result in both.prefix(2) { _ = try Self.verify(result.serverRecord, in: zone) }
            #expect(try await anna.codesCovering([Write(after: saved[4], kind: .delete)], in: zone) == [nil])
            #expect(try await anna.codesCovering([Write(after: saved[7], kind: .delete)], in: zone) == [nil])
            let feed = try await anna.changes(in: zone).records
            #expect(Set(feed.map(\.recordName)).count == feed.count)
            #expect(feed.count == 8)
            #expect(feed.allSatisfy { $0.deleted })
        }
    }

    @Test func ordinaryAndRemovedReferencesDangle() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            var plain = Write("plain")
            plain.fields.append(("ref", .plain(.reference(ReferenceValue(recordName: "nowhere")))))
            var weak = Write("weak")
            weak.fields.append(("ref", .plain(.reference(ReferenceValue(recordName: "target")))))
            let saved = try await anna.save(
                [
                    plain, weak, Write("was").going(with: "target"), Write("target"),
                    Write("later").going(with: "nobody"),
                ], in: zone)
            // The reference goes with an update; one that is carried over stays.
            _ = try await anna.save([Write(after: saved[2])], in: zone)
            let kept = try await anna.lookup(["later"], in: zone, keys: []).results[0].record
            var carrying = Write(after: saved[4])
            carrying.fields = try kept.fields.map { ($0.name, .carried(try Digest($0.omitted))) }
            #expect(try await anna.codes([carrying, Write("nobody")], in: zone) == [nil, nil])
            #expect(try await anna.codesCovering([Write(after: saved[3], kind: .delete)], in: zone) == [nil])
            #expect(try await anna.lookup(["plain", "weak", "was"], in: zone).results.map(\.code) == [nil, nil, nil])
            let nobody = try SavedRecord(try await anna.lookup(["nobody"], in: zone).results[0].record)
            #expect(try await anna.codesCovering([Write(after: nobody, kind: .delete)], in: zone) == [nil])
            let gone = try await anna.lookup(["later"], in: zone).results[0]
            #expect(gone.code == .unknownItem)
            #expect(try Self.verify(gone.serverRecord, in: zone).statement.revision == 2)
        }
    }

    @Test func whatTheSameRequestSavesStays() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [Write("t"), Write("s").going(with: "t"), Write("d").going(with: "t")], in: zone)
            let batch = [
                Write(after: saved[0], kind: .delete), Write(after: saved[1]).going(with: "t"),
                Write(after: saved[2], kind: .delete),
            ]
            #expect(try await anna.codesCovering(batch, in: zone) == [nil, nil, nil])
            let found = try await anna.lookup(["s", "d"], in: zone).results
            #expect(found.map(\.code) == [nil, .unknownItem] && !found[1].serverRecord.hasDerived)
        }
    }

    @Test func aRecordThatWentIsMadeAgainAfterTheStatementThatWent() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let saved = try await anna.save(
                [Write("t"), Write("s").going(with: "t"), Write("d").going(with: "s")], in: zone)
            _ = try await anna.saveCovering([Write(after: saved[0], kind: .delete)], in: zone)
            // Not afresh, not with the old tag, not of another type.
            let refused = try await anna.save([Write("s")], in: zone)[0].result
            #expect(refused.code == .serverRecordChanged)
            #expect(refused.serverRecord.hasDerived)
            #expect(try await anna.codes([Write(after: saved[1])], in: zone) == [.unknownItem])
            let gone = try SavedRecord(refused.serverRecord)
            #expect(gone.hash == saved[1].hash)
            var other = Write(after: gone)
            other.type = "Other"
            #expect(try await anna.codes([other], in: zone) == [.invalidArguments])
            server.clock.advance(seconds: 3)
            let again = try await anna.save([Write(after: gone)], in: zone)[0]
            #expect(again.result.code == nil)
            #expect(again.result.record.creationDate == server.clock.now)
            let record = try await anna.lookup(["s"], in: zone).results[0].record
            #expect(try anna.open(record, in: zone).statement.revision == 2)
            // What went through it still has its proof, though both have a life after it.
            let target = try SavedRecord(try await anna.lookup(["t"], in: zone).results[0].serverRecord)
            _ = try await anna.save([Write(after: target)], in: zone)
            let detail = try await anna.lookup(["d"], in: zone).results[0].serverRecord
            #expect(try Self.verify(detail, in: zone).hash == saved[2].hash && detail.derived.count == 2)
        }
    }

    @Test func childrenBlockWhatWouldGoWithATarget() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [Write("t"), Write("s").going(with: "t"), Write("child", parent: "s"), Write("free").going(with: "t")],
                in: zone)
            #expect(
                try await anna.codesCovering([Write(after: saved[0], kind: .delete)], in: zone) == [.referenceViolation]
            )
            #expect(try await anna.lookup(["t", "s", "free"], in: zone).results.map(\.code) == [nil, nil, nil])
            // With its child deleted in the same request it goes; a child that goes itself frees its parent.
            #expect(
                try await anna.codesCovering(
                    [Write(after: saved[0], kind: .delete), Write(after: saved[2], kind: .delete)], in: zone)
                    == [nil, nil])
            let family = try await anna.save(
                [Write("p"), Write("k", parent: "p").going(with: "x"), Write("x")], in: zone)
            #expect(
                try await anna.codesCovering(
                    [Write(after: family[0], kind: .delete), Write(after: family[2], kind: .delete)], in: zone)
                    == [nil, nil])
            // Nothing hangs itself below what goes.
            let last = try await anna.save([Write("y"), Write("z").going(with: "y")], in: zone)
            #expect(
                try await anna.codesCovering(
                    [Write(after: last[0], kind: .delete), Write("under", parent: "z")], in: zone, atomic: false)
                    == [.referenceViolation, .referenceViolation])
        }
    }

    @Test func aTargetHasAtMost750Sources() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let names = (0..<750).map { "s\($0)" }
            var first: [SavedRecord] = []
            for part in [names.prefix(400), names.suffix(350)] {
                let saved = try await anna.save(part.map { Write($0, nil).going(with: "t") }, in: zone)
                #expect(saved.map(\.result.code) == Array(repeating: nil, count: part.count))
                first += saved
            }
            #expect(try await anna.codes([Write("one").going(with: "t")], in: zone) == [.limitExceeded])
            // An update of one that refers already is no new one, and one that stops makes room.
            #expect(try await anna.codes([Write(after: first[0], nil).going(with: "t")], in: zone) == [nil])
            #expect(
                try await anna.codes([Write(after: first[1], nil), Write("one").going(with: "t")], in: zone) == [
                    nil, nil,
                ])
            #expect(
                try await anna.codes([Write("two").going(with: "t"), Write("x")], in: zone, atomic: false) == [
                    .limitExceeded, nil,
                ])
            let target = try await anna.save([Write("t")], in: zone)[0]
            #expect(try await anna.codesCovering([Write(after: target, kind: .delete)], in: zone) == [nil])
            #expect(
                try await anna.lookup(["s0", "s749", "one", "s1"], in: zone).results.map(\.code) == [
                    .unknownItem, .unknownItem, .unknownItem, nil,
                ])
            var wide = Write("wide", nil)
            wide.fields = [
                (
                    "refs",
                    .plain(
                        .list((0...750).map { .reference(ReferenceValue(recordName: "r\($0)", action: .deleteSelf)) }))
                )
            ]
            #expect(try await anna.codes([wide], in: zone) == [.limitExceeded])
        }
    }

    @Test func aDeletionThatNoAnswerHasRoomToNameIsRefusedWhole() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            // Each record is named with 990 digests: some 230 KB. Empty lists are in no index, whose limit comes first.
            let depth = 80
            let writes = (0..<depth).map { index -> Write in
                var write = Write("r\(index)", nil)
                write.fields = (0..<990).map {
                    ("f" + String(repeating: "x", count: 190) + "\(1000 + $0)", .plain(.list([])))
                }
                return index == 0 ? write : write.going(with: "r\(index - 1)")
            }
            var saved: [SavedRecord] = []
            for start in stride(from: 0, to: depth, by: 8) {
                saved += try await anna.save(Array(writes[start..<start + 8]), in: zone)
            }
            #expect(saved.map(\.result.code) == Array(repeating: nil, count: depth))
            #expect(try await anna.codesCovering([Write(after: saved[0], kind: .delete)], in: zone) == [.limitExceeded])
            #expect(try await !anna.changes(in: zone, keys: []).records.map(\.deleted).contains(true))
            // From the end it goes; and two at once are told in turn.
            #expect(
                try await anna.codesCovering(
                    [Write(after: saved[40], kind: .delete), Write(after: saved[0], kind: .delete)], in: zone)
                    == [nil, nil])
            let gone = try await anna.lookup(["r1", "r39", "r41", "r79"], in: zone).results
            #expect(gone.map(\.code) == Array(repeating: .unknownItem, count: 4))
            for notice in gone.map(\.serverRecord) { _ = try Self.verify(notice, in: zone) }
        }
    }

    @Test func aDeletionSignedAtAnOlderHeadThanWhatWouldGoIsSentBack() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let bert = try await Person.ready(server)
            var newer = zone
            try await anna.append(
                try anna.next(on: newer, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &newer)
            let target = try await anna.save([Write("t")], in: zone)[0]
            _ = try await anna.save([Write("s").going(with: "t")], in: newer)
            #expect(try await anna.codesCovering([Write(after: target, kind: .delete)], in: zone) == [.rosterChanged])
            // A reader may not delete, so nothing goes either.
            try await anna.share(&newer, with: bert, .readOnly)
            #expect(
                try await refusal { try await bert.save([Write(after: target, kind: .delete)], in: newer) }
                    == .permissionFailure)
            #expect(try await anna.codesCovering([Write(after: target, kind: .delete)], in: newer) == [nil])
            let notice = try await bert.lookup(["s"], in: newer).results[0].serverRecord
            _ = try Self.verify(notice, in: newer)
        }
    }

    @Test func nothingOfADeletedZoneIsLeft() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let saved = try await anna.save(
                [Write("t"), Write("s").going(with: "t"), Write("u").going(with: "v")], in: zone)
            _ = try await anna.saveCovering([Write(after: saved[0], kind: .delete)], in: zone)
            #expect(try await anna.deleteZone(zone).deleted)
            let left = try await server.services.database.read { connection in
                try ["record", "delete_reference", "taken_deletion", "taken_record"].map { table in
                    try connection.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") } ?? -1
                }
            }
            #expect(left == [0, 0, 0, 0])
        }
    }
}
