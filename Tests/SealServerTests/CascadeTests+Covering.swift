import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What a deletion has to cover, and what the server says where it does not.
extension CascadeTests {
    /// `list`, an `item` that goes with it, a `detail` that goes with that, and an `other`.
    private func family(_ anna: Person, _ zone: TestZone) async throws -> [SavedRecord] {
        let saved = try await anna.save(
            [Write("list"), Write("item").going(with: "list"), Write("detail").going(with: "item"), Write("other")],
            in: zone)
        #expect(saved.allSatisfy { $0.result.code == nil })
        return saved
    }

    @Test func onlyExactlyWhatGoesAlongIsCovered() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            let deletion = Write(after: saved[0], kind: .delete)
            let token = try await anna.changes(in: zone).token
            let wrong = [
                deletion, try deletion.taking(saved[1]), try deletion.taking(saved[2]),
                try deletion.taking(saved[1], saved[2], saved[3]), try deletion.taking(saved[0], saved[1], saved[2]),
            ]
            for write in wrong {
                let refused = try await anna.save([write, Write("beside")], in: zone).map(\.result)
                #expect(refused.map(\.code) == [.deletionIncomplete, .batchRequestFailed])
                #expect(
                    refused[0].taken.names == ["item", "detail"]
                        && refused[0].taken.records.map(\.field) == ["owner", "owner"])
                // Of what nobody asked about only digests travel.
                for field in refused[0].taken.records.flatMap(\.record.fields) where field.name != "owner" {
                    #expect(!field.omitted.isEmpty)
                }
                #expect(!refused[1].hasTaken)
            }
            #expect(try await anna.changes(in: zone, since: token).records.isEmpty)
            #expect(try await anna.codes([deletion.taking(saved[2], saved[1])], in: zone) == [nil])
            // Where nothing goes along, that is what the answer says.
            let refused = try await anna.save([Write(after: saved[3], kind: .delete).taking(saved[1])], in: zone)[0]
                .result
            #expect(refused.code == .deletionIncomplete)
            #expect(refused.hasTaken)
            #expect(refused.taken.records.isEmpty)
            #expect(try await anna.codes([Write(after: saved[3], kind: .delete)], in: zone) == [nil])
        }
    }

    @Test func whatRefersMeanwhileIsNamedInTheNextRound() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            let deletion = try Write(after: saved[0], kind: .delete).taking(saved[1], saved[2])
            let late = try await anna.save([Write("late").going(with: "detail")], in: zone)[0]
            let first = try await anna.save([deletion], in: zone)[0].result
            #expect(first.code == .deletionIncomplete)
            #expect(first.taken.names == ["item", "detail", "late"])
            // One of them changes: its newest statement is another, and then it lets go.
            let changed = try await anna.save([Write(after: saved[2]).going(with: "item")], in: zone)[0]
            #expect(
                try await anna.codes([deletion.taking(saved[1], saved[2], late)], in: zone) == [.deletionIncomplete])
            let free = try await anna.save([Write(after: changed)], in: zone)[0]
            let second = try await anna.save([deletion.taking(saved[1], changed, late)], in: zone)[0].result
            #expect(second.code == .deletionIncomplete)
            #expect(second.taken.names == ["item"])
            #expect(try await anna.codes([deletion.taking(saved[1])], in: zone) == [nil])
            let left = try await anna.lookup(["list", "item", "detail", "late"], in: zone).results
            #expect(left.map(\.code) == [.unknownItem, .unknownItem, nil, nil])
            #expect(left[2].record.changeTag == free.tag)
        }
    }

    /// Each deletion covers all that goes with it by itself; what goes with both goes once, and its notice holds.
    @Test func oneThatGoesWithTwoIsCoveredByBoth() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save(
                [Write("x"), Write("y"), Write("both").going(with: "x", "y"), Write("own").going(with: "y")], in: zone)
            let writes = [Write(after: saved[1], kind: .delete), Write(after: saved[0], kind: .delete)]
            let refused = try await anna.save(writes, in: zone).map(\.result)
            #expect(refused.map(\.code) == [.deletionIncomplete, .deletionIncomplete])
            #expect(refused.map(\.taken.names) == [["both", "own"], ["both"]])
            let done = try await anna.codes(
                [writes[0].taking(saved[2], saved[3]), writes[1].taking(saved[2])], in: zone)
            #expect(done == [nil, nil])
            let feed = try await anna.changes(in: zone).records
            #expect(feed.map(\.recordName) == ["y", "x", "both", "own"])
            #expect(feed.map(\.derived.count) == [0, 0, 2, 2])
            for notice in feed.suffix(2) { _ = try Self.verify(notice, in: zone) }
        }
    }

    /// A target does not go while one that goes with it is refused a deletion of its own.
    @Test func whereOneIsRefusedTheOtherWaits() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            let stale = try await anna.save([Write(after: saved[1]).going(with: "list")], in: zone)[0]
            // The item's own deletion follows an old statement: it would go with the list, which does not cover it.
            let writes = [
                Write(after: saved[0], kind: .delete), Write(after: saved[1], kind: .delete), Write("beside"),
            ]
            let refused = try await anna.save(writes, in: zone, atomic: false).map(\.result)
            #expect(refused.map(\.code) == [.deletionIncomplete, .serverRecordChanged, nil])
            #expect(refused[0].taken.names == ["item", "detail"])
            // Both deletions lack what goes with the item: neither is taken, and each is told of its own.
            let both = [Write(after: saved[0], kind: .delete), Write(after: stale, kind: .delete)]
            let again = try await anna.save(both, in: zone, atomic: false).map(\.result)
            #expect(again.map(\.code) == [.deletionIncomplete, .deletionIncomplete])
            #expect(again.map(\.taken.names) == [[], ["detail"]])
            #expect(try await anna.codes([both[0], both[1].taking(saved[2])], in: zone, atomic: false) == [nil, nil])
        }
    }

    /// What a request saves stays: also where the deletion beside it goes again, and each record is saved by itself.
    @Test func whatIsSavedWaitsForTheDeletionBesideIt() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            _ = try await anna.save([Write("late").going(with: "list")], in: zone)
            let writes = [
                Write(after: saved[0], kind: .delete), Write(after: saved[1]).going(with: "list"), Write("beside"),
            ]
            let refused = try await anna.save(writes, in: zone, atomic: false).map(\.result)
            #expect(refused.map(\.code) == [.deletionIncomplete, .batchRequestFailed, nil])
            #expect(refused[0].taken.names == ["late"])
            var again = writes
            again[0].taken = try refused[0].taken.covered()
            #expect(try await anna.codes(Array(again.prefix(2)), in: zone, atomic: false) == [nil, nil])
            let left = try await anna.lookup(["list", "item", "detail", "late"], in: zone).results.map(\.code)
            #expect(left == [.unknownItem, nil, nil, .unknownItem])
        }
    }

    /// The answer to a repeated request names it again, as it is by now.
    @Test func aRepeatedOperationIsToldWhatGoesAlong() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            let request = try anna.request(
                [Write(after: saved[0], kind: .delete), Write("beside")], in: zone, atomic: false
            ).request
            let first = try await anna.send(request, to: zone)
            #expect(first.map(\.code) == [.deletionIncomplete, nil])
            let again = try await anna.send(request, to: zone)
            #expect(again == first)
            #expect(again[0].taken.names == ["item", "detail"])
            _ = try await anna.save([Write("late").going(with: "list")], in: zone)
            #expect(try await anna.send(request, to: zone)[0].taken.names == ["item", "late", "detail"])
        }
    }

    @Test func whatIsMadeAgainLeavesNothingBehind() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let saved = try await family(anna, zone)
            #expect(try await anna.codesCovering([Write(after: saved[0], kind: .delete)], in: zone) == [nil])
            func rows() async throws -> [Int64] {
                try await server.services.database.read { connection in
                    try ["taken_deletion", "taken_record"].map { table in
                        try connection.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") } ?? -1
                    }
                }
            }
            #expect(try await rows() == [1, 2])
            #expect(try await anna.codes([Write(after: saved[1]).untagged], in: zone) == [nil])
            #expect(try await rows() == [1, 1])
            // Out of the feed, its notice still shows that it went.
            try await server.services.database.write(at: .everything) { connection in
                for (zone, deletions) in try Compaction.old(before: .max, in: connection) {
                    try Compaction.strip(deletions, of: zone, in: connection)
                }
            }
            _ = try Self.verify(try await anna.lookup(["detail"], in: zone).results[0].serverRecord, in: zone)
            #expect(try await anna.codes([Write(after: saved[2]).untagged], in: zone) == [nil])
            #expect(try await rows() == [0, 0])
        }
    }

    /// A deletion that is given back after a loss covers what goes along like any other.
    @Test func aDeletionGivenBackCoversToo() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await family(anna, zone)
            var lost = Write(after: saved[0], kind: .delete)
            (lost.revision, lost.previous) = (7, GrantHash.of([7]))
            func restore(_ write: Write) async throws -> Sealkit_V1_RecordResult {
                var request = try anna.request([write], in: zone).request
                request.restoring = true
                return try await anna.send(request, to: zone)[0]
            }
            let refused = try await restore(lost)
            #expect(refused.code == .deletionIncomplete)
            #expect(refused.taken.names == ["item", "detail"])
            #expect(try await restore(lost.taking(saved[1], saved[2])).code == nil)
            for notice in try await anna.lookup(["item", "detail"], in: zone).results.map(\.serverRecord) {
                _ = try Self.verify(notice, in: zone)
            }
        }
    }
}

extension Write {
    /// As a record is made again.
    fileprivate var untagged: Write {
        var write = self
        write.tag = ""
        return write
    }
}
