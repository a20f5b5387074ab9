import Foundation
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// Who saves again is judged by what held the last time, and the transaction finds out whether it still does.
@Suite(.timeLimit(.minutes(60))) struct SaveAgainTests {
    /// What each save costs the one writer that all of them share.
    @Test func aSaveAfterTheFirstTakesTenStatements() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // The first one makes the type, which is another schema.
            for name in ["first", "next"] { _ = try await anna.save([Write(name)], in: zone) }
            let before = counter.count
            let saved = try await anna.save([Write("second")], in: zone)
            #expect(saved.map(\.result.code) == [nil])
            // Zone, schema's version, predecessor, position, record, usage, an indexed field, place in the owner's
            // feed, view, operation.
            #expect(counter.count - before == 10)
        }
    }

    @Test func whatIsRefusedIsRefusedAsBefore() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let first = try await anna.save([Write("a")], in: zone)[0]
            let second = try await anna.save([Write(after: first)], in: zone)[0]
            let stale = try await anna.save([Write("b"), Write(after: first, "late")], in: zone)
            #expect(stale.map(\.result.code) == [.batchRequestFailed, .serverRecordChanged])
            // With what the server has instead.
            #expect(stale[1].result.serverRecord.changeTag == second.tag)
            let apart = try await anna.codes([Write("b"), Write(after: first, "late")], in: zone, atomic: false)
            #expect(apart == [nil, .serverRecordChanged])
            var forged = try anna.request([Write("c")], in: zone).request
            forged.signature[0] ^= 1
            let altered = forged
            let refused = try await refusal { try await anna.send(altered, to: zone) }
            #expect(refused == .integrityFailure)
            #expect(try await anna.lookup(["b", "c"], in: zone).results.map(\.code) == [nil, .unknownItem])
        }
    }

    /// An older head of the same epoch is as good as the newest, except after a statement that cites a newer one.
    @Test func noStatementFollowsOneOfANewerHead() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let before = zone
            let old = try await anna.save([Write("old")], in: before)[0]
            try await anna.share(&zone, with: bert)
            let new = try await bert.save([Write("new")], in: zone)[0]
            let gone = try await bert.save(
                [Write(after: try await bert.save([Write("gone")], in: zone)[0], kind: .delete)], in: zone)[0]
            #expect(try await anna.codes([Write(after: old), Write("other")], in: before) == [nil, nil])
            var again = Write("gone")
            (again.revision, again.previous) = (gone.revision + 1, gone.hash)
            for late in [Write(after: new), Write(after: new, kind: .delete), again] {
                #expect(try await anna.codes([late], in: before) == [.rosterChanged])
                #expect(
                    try await anna.codes([late, Write("beside-\(late.kind)-\(late.name)")], in: before, atomic: false)
                        == [.rosterChanged, nil])
            }
            #expect(try await anna.codes([Write(after: new), again], in: zone) == [nil, nil])
        }
    }

    /// The roster has moved on since: the former one judges nobody any more.
    @Test func aFormerRosterJudgesNobody() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let before = zone
            #expect(try await anna.codes([Write("a")], in: before) == [nil])
            #expect(try await bert.codes([Write("b")], in: before) == [nil])
            #expect(try await bert.codes([Write("c")], in: before) == [nil])
            try await anna.remove(bert, from: &zone)
            let late = try await refusal { try await bert.save([Write("d")], in: before) }
            #expect(late == .zoneNotFound)
            let formerKey = try await refusal { try await anna.save([Write("d")], in: before) }
            #expect(formerKey == .staleEpoch)
            #expect(try await anna.codes([Write("d")], in: zone) == [nil])
        }
    }
}
