import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// `records/stale`, and saves that say that they only seal again.
@Suite(.timeLimit(.minutes(60))) struct StaleRecordTests {
    @Test func whatWasNotWrittenSinceTheNewestEpochIsListedInFeedOrder() async throws {
        try await RunningServer.withZone { anna, made, _ in
            var zone = made
            let saved = try await anna.save([Write("a"), Write("b"), Write("c"), Write("d")], in: zone)
            #expect(try await anna.stale(zone, counting: true).records.isEmpty)
            _ = try await anna.save([Write(after: saved[3], kind: .delete)], in: zone)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            _ = try await anna.save([Write("new"), Write(after: saved[1])], in: zone)
            let now = zone
            let all = try await anna.stale(now, counting: true)
            #expect(all.records.map(\.recordName) == ["a", "c"])
            #expect(all.count == 2)
            #expect(all.scopes == [try await anna.changes(in: now).scopes[0]])
            for record in all.records { #expect(try anna.open(record, in: now).statement.epoch == 0) }
            let first = try await anna.stale(now, limit: 1, keys: [])
            #expect(first.records.map(\.recordName) == ["a"])
            #expect(first.count == 0)
            let isPartial = first.records[0].fields.allSatisfy { if case .omitted = $0.content { true } else { false } }
            #expect(isPartial)
            let rest = try await anna.stale(now, after: first.records[0].position)
            #expect(rest.records.map(\.recordName) == ["c"])
            #expect(try await anna.stale(now, after: rest.records[0].position).records.isEmpty)
        }
    }

    @Test func membersAloneMayAsk() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            _ = try await anna.save([Write("a")], in: zone)
            try await anna.share(&zone, with: bert, .readOnly)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            let shared = zone
            #expect(try await bert.stale(shared).records.map(\.recordName) == ["a"])
            try await anna.remove(bert, from: &zone)
            let left = zone
            try await expectRefusal(.zoneNotFound) { try await bert.stale(left) }
            try await expectRefusal(.zoneNotFound) { try await Person.ready(server).stale(left) }
            try await expectRefusal(.invalidArguments) { try await anna.stale(left, after: UInt64.max) }
        }
    }

    @Test func sealingAgainKeepsTagAndDate() async throws {
        try await RunningServer.withZone { anna, made, server in
            var zone = made
            let saved = try await anna.save([Write("a"), Write("b"), Write("c"), Write("d")], in: zone)
            let before = try await anna.lookup(["a"], in: zone).results[0].record
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            server.clock.advance(seconds: 60)
            // The same values; another of the same size; one of another size; the same values, and nothing said.
            var plain = Write(after: saved[1], "text")
            plain.fields[1] = ("pinned", .plain(.int64(2)))
            let now = zone
            let writes = [
                Write(after: saved[0], "text"), plain, Write(after: saved[2], String(repeating: "long", count: 50)),
            ]
            let results = try await anna.save(writes, in: now, rekeying: true)
            #expect(results.map(\.result.code) == [nil, nil, nil])
            #expect(results[0].tag == saved[0].tag)
            #expect(results[1].tag != saved[1].tag)
            #expect(results[2].tag != saved[2].tag)
            let after = try await anna.lookup(["a", "b"], in: now).results.map(\.record)
            #expect(after[0].modificationDate == before.modificationDate)
            #expect(after[0].position > before.position)
            #expect(after[1].modificationDate > before.modificationDate)
            let silent = try await anna.save([Write(after: saved[3], "text")], in: now)
            #expect(silent[0].tag != saved[3].tag)
            // Within an epoch there is nothing to seal again.
            let again = try await anna.save([Write(after: results[0], "text")], in: now, rekeying: true)
            #expect(again[0].result.code == nil && again[0].tag != saved[0].tag)
            #expect(try await anna.stale(now).records.isEmpty)
        }
    }
}

extension Person {
    func stale(
        _ zone: TestZone, after: UInt64 = 0, limit: UInt32 = 0, keys: [String]? = nil, counting: Bool = false
    ) async throws -> Sealkit_V1_StaleRecordsResponse {
        var request = Sealkit_V1_StaleRecordsRequest()
        request.zone = zone.id(for: self)
        request.after = after
        request.resultsLimit = limit
        request.counting = counting
        if let keys { request.desiredKeys.names = keys }
        return try await client.call(
            path("records/stale", shared: zone.owner != user), request, as: Sealkit_V1_StaleRecordsResponse.self)
    }

    func save(_ writes: [Write], in zone: TestZone, rekeying: Bool) async throws -> [SavedRecord] {
        var (request, sealed) = try request(writes, in: zone, atomic: false)
        request.rekeying = rekeying
        return zip(try await send(request, to: zone), sealed).map { result, sealed in
            SavedRecord(
                name: result.recordName, tag: result.record.changeTag, revision: sealed.statement.revision,
                hash: sealed.hash, creator: sealed.statement.creator, result: result)
        }
    }
}
