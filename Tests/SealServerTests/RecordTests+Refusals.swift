import Foundation
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension RecordTests {
    @Test func whatIsNotSignedIsRefused() async throws {
        try await withZone { anna, zone, server in
            let bert = try await Person.ready(server)
            let (good, _) = try anna.request([Write("a"), Write("b")], in: zone)
            func code(_ change: (inout Sealkit_V1_ModifyRecordsRequest) throws -> Void) async throws -> [ErrorCode?] {
                var request = good
                request.operationID = Data(randomBytes(16))
                try change(&request)
                let sent = request
                var results: [ErrorCode?] = []
                if let whole = try await refusal({ results = try await anna.send(sent, to: zone).map(\.code) }) {
                    return [whole]
                }
                return results
            }
            #expect(try await code { $0.signature[3] ^= 1 } == [.integrityFailure])
            #expect(try await code { $0.records.swapAt(0, 1) } == [.integrityFailure])
            #expect(try await code { $0.records.removeLast() } == [.integrityFailure])
            #expect(try await code { $0.records[1] = $0.records[0] } == [.invalidArguments])
            #expect(try await code { $0.operationID = Data() } == [.invalidArguments])
            #expect(
                try await code { $0.signature = try bert.request([Write("a")], in: zone).request.signature } == [
                    .integrityFailure
                ])
            let item: [ErrorCode?] = [.integrityFailure, .batchRequestFailed]
            #expect(try await code { $0.records[0].fields.removeLast() } == item)
            #expect(try await code { $0.records[0].fields[1].plain.int64 = 9 } == item)
            #expect(try await code { $0.records[0].fields[0].encrypted.sealed[0] ^= 1 } == item)
            let invalid: [ErrorCode?] = [.invalidArguments, .batchRequestFailed]
            #expect(try await code { $0.records[0].fields.reverse() } == invalid)
            #expect(try await code { $0.records[0].fields[1].name = "a b" } == invalid)
            #expect(try await code { $0.records[0].fields[1].name = "parent" } == invalid)
            #expect(try await code { $0.records[0].fields[0].encrypted.kind = 7 }[1] == .batchRequestFailed)
            #expect(try await code { $0.records[0].fields[0].content = nil } == invalid)
            #expect(try await code { $0.records[0].recordName = "other" } == invalid)
            #expect(try await code { $0.records[0].recordType = "Other" } == invalid)
            // A statement that does not decode changes the tree as well.
            #expect(try await code { $0.records[0].statement = Data([1]) } == [.integrityFailure])
            #expect(try await anna.lookup(["a", "b"], in: zone).results.map(\.code) == [.unknownItem, .unknownItem])
            #expect(try await code { _ in } == [nil, nil])
        }
    }

    @Test func statementsMustBeAboutThisPlaceAndTime() async throws {
        try await withZone { anna, zone, server in
            let bert = try await Person.ready(server)
            func code(_ change: (inout Statement) -> Void) async throws -> ErrorCode? {
                let (request, _) = try anna.request([Write("a")], in: zone, change: change)
                var result: ErrorCode?
                if let whole = try await refusal({ result = try await anna.send(request, to: zone)[0].code }) {
                    return whole
                }
                return result
            }
            #expect(try await code { $0.container = "org.other" } == .invalidArguments)
            #expect(try await code { $0.environment = .production } == .invalidArguments)
            #expect(try await code { $0.owner = bert.user } == .invalidArguments)
            #expect(try await code { $0.zoneName = "other" } == .invalidArguments)
            #expect(try await code { $0.recordName = "other" } == .invalidArguments)
            #expect(try await code { $0.author = bert.user } == .permissionFailure)
            #expect(try await code { $0.creator = bert.user } == .invalidArguments)
            #expect(try await code { $0.rosterSequence = 5 } == .rosterChanged)
            #expect(try await code { $0.rosterHead = .zero } == .rosterChanged)
            // The creator and the type stay.
            let first = try await anna.save([Write("a")], in: zone)[0]
            var stolen = Write(after: first)
            stolen.creator = bert.user
            var other = Write(after: first)
            other.type = "Other"
            #expect(try await anna.codes([stolen], in: zone) == [.invalidArguments])
            #expect(try await anna.codes([other], in: zone) == [.invalidArguments])
            var deletion = try anna.request([Write(after: first, kind: .delete)], in: zone).request
            deletion.records[0].fields = [WireField.stored(.plain(.int64(1)), blob: nil).wire(name: "a")]
            #expect(try await anna.send(deletion, to: zone).map(\.code) == [.invalidArguments])
        }
    }

    @Test func anOldEpochIsRefused() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save([Write("a")], in: zone)[0]
            var rotated = zone
            try await anna.append(try anna.next(on: zone, rotating: true), to: &rotated)
            #expect(try await refusal { try await anna.save([Write(after: first)], in: zone) } == .staleEpoch)
            #expect(try await anna.codes([Write(after: first)], in: rotated) == [nil])
            // What was written before the rotation stays verifiable.
            _ = try anna.open(try await anna.lookup(["a"], in: rotated).results[0].record, in: rotated)
        }
    }

    @Test func aRepeatedOperationHasNoSecondEffect() async throws {
        try await withZone { anna, zone, server in
            let (request, sealed) = try anna.request([Write("a")], in: zone)
            let first = try await anna.send(request, to: zone)
            #expect(try await anna.send(request, to: zone) == first)
            let saved = SavedRecord(
                name: "a", tag: first[0].record.changeTag, revision: 1, hash: sealed[0].hash, creator: anna.user,
                result: first[0])
            _ = try await anna.save([Write(after: saved)], in: zone)
            #expect(try await anna.send(request, to: zone) == first)
            #expect(try await anna.changes(in: zone).records.count == 1)
            // Kept for a day.
            server.clock.advance(seconds: 90_000)
            try await server.sweep(now: server.clock.now)
            #expect(try await anna.send(request, to: zone)[0].code == .serverRecordChanged)
        }
    }

    @Test func ofTwoWritersOneWins() async throws {
        try await withZone { anna, zone, _ in
            let first = try await anna.save([Write("a")], in: zone)[0]
            for _ in 0..<5 {
                let codes = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            try await anna.codes([Write("new"), Write(after: first, "\(index)")], in: zone)[1]
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let winners = codes.count { $0 == nil }
                #expect(winners <= 1)
            }
            let record = try await anna.lookup(["a"], in: zone).results[0].record
            #expect(try anna.open(record, in: zone).statement.revision == 2)
            #expect(try await anna.changes(in: zone).records.count == 2)
        }
    }

    @Test func requestsMayBeJSON() async throws {
        try await withZone { anna, zone, server in
            _ = try await anna.save([Write("a")], in: zone)
            let curl = try await Command.finished(
                URL(fileURLWithPath: "/usr/bin/curl"),
                [
                    "-s", "-H", "Authorization: Bearer \(anna.client.token)", "-H", "Content-Type: application/json",
                    "-d",
                    #"{"zone":{"zoneName":"notes"},"recordNames":["a"]}"#, server.origin + anna.path("records/lookup"),
                ])
            let answer = try Sealkit_V1_LookupRecordsResponse(jsonString: curl.output)
            _ = try anna.open(answer.results[0].record, in: zone)
        }
    }
}
