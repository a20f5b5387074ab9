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

@Suite(.timeLimit(.minutes(60))) struct RecordTests {
    /// A server with one user and one zone.
    func withZone(_ body: @Sendable (Person, TestZone, RunningServer) async throws -> Void) async throws {
        try await RunningServer.withZone(body)
    }

    @Test func s5_6_7_16_24_missingZonesAndRecords() async throws {
        try await withZone { anna, zone, _ in
            var nowhere = zone
            nowhere = TestZone(name: "none", owner: zone.owner, roster: zone.roster, key: zone.key)
            let unknown = nowhere
            #expect(try await refusal { try await anna.lookup(["a"], in: unknown) } == .zoneNotFound)
            #expect(try await refusal { try await anna.save([Write("a")], in: unknown) } == .zoneNotFound)
            #expect(try await refusal { try await anna.changes(in: unknown) } == .zoneNotFound)
            _ = try await anna.save([Write("a")], in: zone)
            let found = try await anna.lookup(["a", "b"], in: zone)
            #expect(found.results.map(\.code) == [nil, .unknownItem])
            #expect(found.results.map(\.recordName) == ["a", "b"])
            #expect(!found.results[1].hasServerRecord)
        }
    }

    @Test func s8_20_limits() async throws {
        try await withZone { anna, zone, _ in
            let names = (0...400).map { "r\($0)" }
            try await expectRefusal(.limitExceeded) { try await anna.lookup(names, in: zone) }
            var (request, _) = try anna.request([Write("a")], in: zone)
            request.records = Array(repeating: request.records[0], count: 401)
            let many = request
            try await expectRefusal(.limitExceeded) { try await anna.send(many, to: zone) }
            let most = names.dropLast().map { Write($0) }
            #expect(try await anna.codes(most, in: zone) == Array(repeating: nil, count: 400))
            var large = Write("large")
            large.fields = [("a", .plain(.data([UInt8](repeating: 1, count: 1_048_577))))]
            #expect(try await anna.codes([large], in: zone) == [.limitExceeded])
            var wide = Write("wide")
            wide.type = "Wide"
            wide.fields = (0..<1000).map { ("f\(1000 + $0)", .plain(.int64(1))) }
            #expect(try await anna.codes([wide], in: zone) == [nil])
        }
    }

    @Test func s11_12_savesAreReadBackAndVerify() async throws {
        try await withZone { anna, zone, server in
            var write = Write("a")
            let place = Location(
                latitude: 1, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, speed: 7,
                time: 8.1)
            write.fields = [
                ("bodies", .encrypted(.list([.string("x"), .string("y")]))), ("count", .plain(.double(1.5))),
                ("data", .plain(.data([1, 2]))), ("date", .plain(.date(-5.1))), ("list", .plain(.list([]))),
                ("place", .plain(.location(place))),
                ("ref", .plain(.reference(ReferenceValue(recordName: "b", action: .deleteSelf)))),
            ]
            let first = try await anna.save([write, Write("b"), Write("c")], in: zone)
            #expect(
                first.allSatisfy {
                    $0.result.code == nil && !$0.tag.isEmpty && $0.result.record.creationDate == server.clock.now
                })
            #expect(first[0].result.record.statement.isEmpty && first[0].result.record.fields.isEmpty)
            let found = try await anna.lookup(["a", "b", "c"], in: zone)
            #expect(found.scopes.map(\.head) == [Data(zone.roster.head.bytes)])
            for result in found.results { _ = try anna.open(result.record, in: zone) }
            #expect(found.results[0].record.fields.map(\.name) == write.fields.map(\.name))
            #expect(found.results[0].record.changeTag == first[0].tag)

            server.clock.advance(seconds: 5)
            let second = try await anna.save([Write(after: first[0])], in: zone)
            #expect(second[0].tag != first[0].tag)
            #expect(second[0].result.code == nil)
            let record = try await anna.lookup(["a"], in: zone).results[0].record
            #expect(record.modificationDate - record.creationDate == 5_000_000)
            #expect(record.changeTag == second[0].tag)
            #expect(try anna.open(record, in: zone).statement.revision == 2)
        }
    }

    @Test func s13_14_conflictsCarryTheServersRecord() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save([Write("a")], in: zone)[0]
            let second = try await anna.save([Write(after: first, "new")], in: zone)[0]
            // An old tag; none at all; the right tag with the wrong predecessor; the wrong tag with the right one.
            var wrongHash = Write(after: second)
            wrongHash.previous = first.hash
            var wrongRevision = Write(after: second)
            wrongRevision.revision = 7
            var wrongTag = Write(after: second)
            wrongTag.tag = "zz"
            for write in [
                Write(after: first), Write("a"), wrongHash, wrongRevision, wrongTag, Write(after: first, kind: .delete),
            ] {
                let refused = try await anna.save([write], in: zone)[0].result
                #expect(refused.code == .serverRecordChanged)
                #expect(try anna.open(refused.serverRecord, in: zone).hash == second.hash)
                #expect(refused.serverRecord.fields.count == 2)
                #expect(refused.serverRecord.changeTag == second.tag)
            }
            #expect(try await anna.lookup(["a"], in: zone).results[0].record.changeTag == second.tag)
        }
    }

    @Test func s15_22_23_27_deletions() async throws {
        try await withZone { anna, zone, server in
            let first = try await anna.save([Write("a")], in: zone)[0]
            let token = try await anna.changes(in: zone).token
            // Absent: nothing to sign after.
            var absent = Write("none", nil)
            absent.kind = .delete
            #expect(try await anna.codes([absent], in: zone) == [.unknownItem])
            let gone = try await anna.save([Write(after: first, kind: .delete)], in: zone)[0]
            #expect(gone.result.record.deleted)
            let feed = try await anna.changes(in: zone, since: token).records
            #expect(
                feed.map(\.recordName) == ["a"] && feed[0].deleted && feed[0].recordType == "Note"
                    && feed[0].fields.isEmpty)
            #expect(try anna.open(feed[0], in: zone).statement.kind == .delete)
            let looked = try await anna.lookup(["a"], in: zone).results[0]
            #expect(looked.code == .unknownItem)
            #expect(looked.serverRecord.deleted)
            // With a tag: gone. Without, and not knowing the tombstone: a conflict that shows it.
            #expect(try await anna.codes([Write(after: first)], in: zone) == [.unknownItem])
            #expect(try await anna.codes([Write(after: gone, kind: .delete)], in: zone) == [.unknownItem])
            let refused = try await anna.save([Write("a")], in: zone)[0].result
            #expect(refused.code == .serverRecordChanged)
            #expect(refused.serverRecord.deleted)
            server.clock.advance(seconds: 9)
            let again = try await anna.save([Write(after: try SavedRecord(refused.serverRecord))], in: zone)[0].result
            #expect(again.code == nil)
            #expect(again.record.creationDate == server.clock.now)
            // A tag for what never was; a revision out of nowhere.
            var tagged = Write("b")
            tagged.tag = "1"
            var late = Write("b")
            (late.revision, late.previous) = (3, first.hash)
            #expect(try await anna.codes([tagged, late].map { $0 }.prefix(1).map { $0 }, in: zone) == [.unknownItem])
            #expect(try await anna.codes([late], in: zone) == [.unknownItem])
        }
    }

    @Test func s17_18_25_26_parents() async throws {
        try await withZone { anna, zone, _ in
            #expect(try await anna.codes([Write("child", parent: "none")], in: zone) == [.referenceViolation])
            let both = try await anna.save([Write("child", parent: "parent"), Write("parent")], in: zone)
            #expect(both.map(\.result.code) == [nil, nil])
            #expect(try await anna.codes([Write("other", parent: "parent")], in: zone) == [nil])
            // One of two children is left.
            let parentNow = try SavedRecord(try await anna.lookup(["parent"], in: zone).results[0].record)
            let deletes = [Write(after: parentNow, kind: .delete), Write(after: both[0], kind: .delete)]
            #expect(try await anna.codes(deletes, in: zone) == [.referenceViolation, .batchRequestFailed])
            let other = try await anna.lookup(["other"], in: zone).results[0].record
            let all = deletes + [Write(after: try SavedRecord(other), kind: .delete)]
            #expect(try await anna.codes(all, in: zone) == [nil, nil, nil])
            // A refused parent takes its child along, and no other.
            let refusedParent = [Write("c", parent: "p"), Write("g", parent: "c"), Write("x"), Write(after: both[1])]
            var parent = Write("p")
            parent.tag = "1"
            #expect(
                try await anna.codes(
                    [refusedParent[0], refusedParent[1], refusedParent[2], parent], in: zone, atomic: false)
                    == [.referenceViolation, .referenceViolation, nil, .unknownItem])
        }
    }

    @Test func s28_29_30_32_33_atomicity() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save([Write("a"), Write("b")], in: zone)
            let newer = try await anna.save([Write(after: first[1])], in: zone)[0]
            let batch = [Write("new"), Write(after: first[1]), Write(after: first[0], kind: .delete)]
            let before = try await anna.changes(in: zone)
            #expect(
                try await anna.codes(batch, in: zone) == [
                    .batchRequestFailed, .serverRecordChanged, .batchRequestFailed,
                ])
            #expect(try await anna.lookup(["new", "a"], in: zone).results.map(\.code) == [.unknownItem, nil])
            #expect(try await anna.changes(in: zone) == before)
            // The same, merged with what the server has.
            let merged = [batch[0], Write(after: newer), batch[2]]
            #expect(try await anna.codes(merged, in: zone) == [nil, nil, nil])
            #expect(try await anna.lookup(["new", "a"], in: zone).results.map(\.code) == [nil, .unknownItem])
            let loose = [Write("newer"), Write(after: first[1]), Write("newest")]
            #expect(try await anna.codes(loose, in: zone, atomic: false) == [nil, .serverRecordChanged, nil])
            #expect(try await anna.lookup(["newer", "newest"], in: zone).results.map(\.code) == [nil, nil])
        }
    }

    @Test func s38_40_theFeedHasEachRecordOnceInOrder() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save((0..<5).map { Write("r\($0)") }, in: zone)
            let page = try await anna.changes(in: zone, limit: 3)
            #expect(page.records.map(\.recordName) == ["r0", "r1", "r2"])
            #expect(page.moreComing)
            let rest = try await anna.changes(in: zone, since: page.token)
            #expect(rest.records.map(\.recordName) == ["r3", "r4"])
            #expect(!rest.moreComing)
            #expect(rest.scopes[0].sequence == 0)
            let again = try await anna.save([Write(after: first[1])], in: zone)[0]
            _ = try await anna.save([Write(after: again)], in: zone)
            let newer = try await anna.changes(in: zone, since: rest.token)
            #expect(newer.records.map(\.recordName) == ["r1"])
            #expect(try anna.open(newer.records[0], in: zone).statement.revision == 3)
            let all = try await anna.changes(in: zone)
            #expect(all.records.map(\.recordName) == ["r0", "r2", "r3", "r4", "r1"])
            #expect(all.records.map(\.position) == all.records.map(\.position).sorted())
            #expect(try await anna.changes(in: zone, since: newer.token).records.isEmpty)
            // Tokens are bound to their zone.
            let other = try await anna.makeZone("other")
            try await expectRefusal(.changeTokenExpired) { try await anna.changes(in: other, since: newer.token) }
            try await expectRefusal(.invalidArguments) { try await anna.changes(in: zone, since: Data([1])) }
            let database = try await anna.zoneChanges().token
            try await expectRefusal(.changeTokenExpired) { try await anna.changes(in: zone, since: database) }
        }
    }

    @Test func aPageOfTheFeedIsBounded() async throws {
        try await withZone { anna, zone, _ in
            for name in ["a", "b", "c"] {
                var write = Write(name)
                write.fields = [("data", .plain(.data([UInt8](repeating: 1, count: 1_000_000))))]
                _ = try await anna.save([write], in: zone)
            }
            let page = try await anna.changes(in: zone)
            #expect(page.records.map(\.recordName) == ["a", "b"])
            #expect(page.moreComing)
            #expect(try await anna.changes(in: zone, since: page.token).records.map(\.recordName) == ["c"])
        }
    }

    @Test func undesiredFieldsComeAsDigestsAndCanBeCarriedOver() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save([Write("a")], in: zone)[0]
            let partial = try await anna.lookup(["a"], in: zone, keys: ["pinned"]).results[0].record
            guard case .omitted(let digest) = partial.fields[0].content, case .plain = partial.fields[1].content else {
                Issue.record("\(partial)")
                return
            }
            _ = try anna.open(partial, in: zone)
            let bare = try await anna.changes(in: zone, keys: []).records[0]
            #expect(bare.fields.allSatisfy { if case .omitted = $0.content { true } else { false } })
            _ = try anna.open(bare, in: zone)

            let carried = try Digest(digest)
            func carrying(_ digest: Digest, after saved: SavedRecord?) -> Write {
                var write = saved.map { Write(after: $0) } ?? Write("fresh")
                write.fields = [("body", .carried(digest)), ("pinned", .plain(.int64(2)))]
                return write
            }
            // Carrying an encrypted field needs the record's key in the envelope; the digest alone is the server's
            // matter.
            #expect(try await anna.codes([carrying(.zero, after: first)], in: zone) == [.integrityFailure])
            #expect(try await anna.codes([carrying(carried, after: nil)], in: zone) == [.integrityFailure])
            let second = try await anna.save([carrying(carried, after: first)], in: zone)[0]
            #expect(second.result.code == nil)
            let whole = try await anna.lookup(["a"], in: zone).results[0].record
            guard case .encrypted = whole.fields[0].content else {
                Issue.record("not carried over")
                return
            }
            _ = try anna.open(whole, in: zone)
            #expect(try await anna.codes([carrying(carried, after: first)], in: zone) == [.serverRecordChanged])
        }
    }
}
