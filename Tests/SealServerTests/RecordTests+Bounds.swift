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

extension RecordTests {
    private func large(_ name: String, _ count: Int) -> Write {
        var write = Write(name, nil)
        write.fields = [("bytes", .plain(.data([UInt8](repeating: 7, count: count))))]
        return write
    }

    @Test func aRecordIsLookedUpOnce() async throws {
        try await withZone { anna, zone, _ in
            _ = try await anna.save([Write("a")], in: zone)
            #expect(try await refusal { try await anna.lookup(["a", "b", "a"], in: zone) } == .invalidArguments)
            #expect(
                try await refusal { try await anna.lookup(Array(repeating: "none", count: 400), in: zone) }
                    == .invalidArguments)
            #expect(try await anna.lookup(["a", "b"], in: zone).results.map(\.code) == [nil, .unknownItem])
        }
    }

    @Test func aLookUpsAnswerIsBounded() async throws {
        try await withZone { anna, zone, _ in
            let names = (0..<50).map { "r\($0)" }
            for start in stride(from: 0, to: 50, by: 2) {
                let codes = try await anna.codes(names[start..<start + 2].map { large($0, 1_040_000) }, in: zone)
                #expect(codes == [nil, nil])
            }
            let results = try await anna.lookup(names, in: zone).results
            #expect(results.map(\.recordName) == names)
            // What is asked for first comes first; the rest is to be asked for again.
            #expect(results.map(\.code) == Array(repeating: nil, count: 48) + [.limitExceeded, .limitExceeded])
            #expect(results[49].failure.remedy.contains("in parts"))
            _ = try anna.open(results[47].record, in: zone)
            #expect(try await anna.lookup(Array(names.suffix(2)), in: zone).results.map(\.code) == [nil, nil])
            // Without the large field all fit.
            #expect(
                try await anna.lookup(names, in: zone, keys: []).results.map(\.code) == Array(repeating: nil, count: 50)
            )
            // Neither does a save read more than that for the fields that it carries over.
            let carried = try results.prefix(48).map { result in
                var write = Write(after: try SavedRecord(result.record), nil)
                write.fields = [("bytes", .carried(try WireField(result.record.fields[0]).digest(name: "bytes")))]
                return write
            }
            let rest = try await anna.lookup(Array(names.suffix(2)), in: zone).results.map { result in
                var write = Write(after: try SavedRecord(result.record), nil)
                write.fields = [("bytes", .carried(try WireField(result.record.fields[0]).digest(name: "bytes")))]
                return write
            }
            try await expectRefusal(.limitExceeded) { try await anna.save(carried + rest, in: zone) }
            #expect(try await anna.codes(rest, in: zone) == [nil, nil])
        }
    }

    @Test func serverRecordsAreBoundedAndNotKept() async throws {
        try await withZone { anna, zone, server in
            let names = ["a", "b", "c", "d"]
            let saved = try await anna.save(names.prefix(2).map { large($0, 700_000) }, in: zone)
            _ = try await anna.save(names.suffix(2).map { large($0, 700_000) }, in: zone)
            let (request, _) = try anna.request(names.map { Write($0) } + [Write("new")], in: zone, atomic: false)
            let results = try await anna.send(request, to: zone)
            #expect(results.map(\.code) == Array(repeating: .serverRecordChanged, count: 4) + [nil])
            #expect(results.map(\.hasServerRecord) == [true, true, false, false, false])
            #expect(try anna.open(results[1].serverRecord, in: zone).hash == saved[1].hash)
            // Repeated, the answer is the same; what is kept of it has no records.
            #expect(try await anna.send(request, to: zone) == results)
            let kept = try await server.services.database.read { connection in
                try connection.rows("SELECT response FROM operation") { try $0.data("response") }
            }
            #expect(kept.map(\.count).max() ?? .max < 2_000)
            for response in kept {
                // Other kinds of answers do not parse as this one, or have no records either.
                let message = try? Sealkit_V1_ModifyRecordsResponse(serializedBytes: response)
                #expect(message?.results.map(\.hasServerRecord).contains(true) != true)
            }
            // In an atomic batch as well.
            let atomic = try await anna.save(names.map { Write($0) } + [Write("other")], in: zone).map(\.result)
            #expect(
                atomic.map(\.hasServerRecord) == [true, true, false, false, false]
                    && atomic[4].code == .batchRequestFailed)
        }
    }

    @Test func deletingWhatSomebodyElseDeletedShowsTheTombstone() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var made = try await anna.makeSharedZone()
            try await anna.share(&made, with: bert)
            let zone = made
            let first = try await anna.save([Write("a"), Write("b")], in: zone)
            let gone = try await bert.save([Write(after: first[0], kind: .delete)], in: zone)[0]
            #expect(gone.result.code == nil)
            let late = [Write(after: first[0], kind: .delete)]
            func check(_ result: Sealkit_V1_RecordResult) throws {
                #expect(result.code == .unknownItem)
                #expect(result.serverRecord.deleted)
                let tombstone = try anna.open(result.serverRecord, in: zone)
                #expect(tombstone.hash == gone.hash)
                #expect(tombstone.statement.kind == .delete)
                #expect(tombstone.statement.author == bert.user)
            }
            try check(try await anna.save(late, in: zone, atomic: false)[0].result)
            let batch = try await anna.save(late + [Write(after: first[1], kind: .delete), Write("new")], in: zone).map(
                \.result)
            try check(batch[0])
            #expect(batch.map(\.code) == [.unknownItem, .batchRequestFailed, .batchRequestFailed])
            #expect(try await anna.lookup(["b", "new"], in: zone).results.map(\.code) == [nil, .unknownItem])
            // Nothing of a zone goes to one who does not see it any more.
            let (refused, _) = try bert.request([Write("d"), Write("b")], in: zone, atomic: false)
            #expect(try await bert.send(refused, to: zone).map(\.hasServerRecord) == [false, true])
            var after = zone
            try await anna.remove(bert, from: &after)
            #expect(try await bert.send(refused, to: zone).map(\.hasServerRecord) == [false, false])
        }
    }
}
