import Foundation
import SealCoding
import SealLab
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct QueryTests {
    private func thing(_ name: String, _ age: Int, in zone: RecordZone.ID, _ text: String? = nil) -> Record {
        var record = Record(recordType: "QueryThing", recordID: Record.ID(recordName: name, zoneID: zone))
        record["age"] = age
        record["text"] = text
        record.encryptedValues["secret"] = "sealed \(name)"
        return record
    }

    private func query(_ text: String, _ sort: Query.SortDescriptor...) throws -> Query {
        Query(recordType: "QueryThing", predicate: try Query.Predicate(text), sortDescriptors: sort)
    }

    private static let upwards = Query.SortDescriptor(key: "age", ascending: true)

    @Test func queriesFindPlainFieldsAndOpenSealedOnes() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let other = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: [
            thing("a", 1, in: zone, "red wine"), thing("b", 2, in: zone), thing("c", 3, in: zone),
        ])
        _ = try await ann.own.save(thing("d", 2, in: other, "white wine"))
        let found = try await ann.own.records(matching: query("age > 1", Self.upwards), inZoneWith: zone)
        #expect(found.matchResults.map(\.0.recordName) == ["b", "c"])
        #expect(found.queryCursor == nil)
        #expect(try found.matchResults[0].1.get().encryptedValues["secret"] == "sealed b")
        let built = Query(recordType: "QueryThing", predicate: Query.Field<Int>("age") == 2)
        let everywhere = try await ann.own.records(matching: built)
        #expect(
            Set(everywhere.matchResults.map(\.0)) == [
                Record.ID(recordName: "b", zoneID: zone), Record.ID(recordName: "d", zoneID: other),
            ])
        // Words: all texts come along for checking, and go again.
        let words = try await ann.own.records(
            matching: query("self CONTAINS 'wine'"), inZoneWith: zone, desiredKeys: ["age"])
        let record = try #require(try words.matchResults.first?.1.get())
        #expect(record.allKeys() == ["age"])
        #expect(record.omittedKeys == ["secret", "text"])
        #expect(record["age"] == 1)
        let byReference = try await ann.own.records(
            matching: Query(
                recordType: "QueryThing",
                predicate: Query.Predicate("recordID = %@", Record.ID(recordName: "a", zoneID: zone))))
        #expect(byReference.matchResults.map(\.0.recordName) == ["a"])
    }

    @Test func cursorsGoOnAndAreKept() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: (0..<7).map { thing("r\($0)", $0, in: zone) })
        var page = try await ann.own.records(
            matching: query("age >= 0", Self.upwards), inZoneWith: zone, desiredKeys: [], resultsLimit: 3)
        var names = page.matchResults.map(\.0.recordName)
        while let cursor = page.queryCursor {
            let kept = try JSONDecoder().decode(Query.Cursor.self, from: JSONEncoder().encode(cursor))
            #expect(kept == cursor)
            page = try await ann.own.records(continuingMatchFrom: kept, desiredKeys: [], resultsLimit: 3)
            #expect(page.matchResults.allSatisfy { (try? $0.1.get().omittedKeys) == ["age", "secret"] })
            names += page.matchResults.map(\.0.recordName)
        }
        #expect(names == (0..<7).map { "r\($0)" })
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Query.Cursor.self, from: Data("{}".utf8)) }
    }

    @Test func whatCannotBeAskedIsAnError() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(thing("a", 1, in: zone))
        #expect(await failure { _ = try await ann.own.records(matching: query("secret = 'x'")) } == .invalidArguments)
        #expect(await failure { _ = try await ann.own.records(matching: query("gone = 'x'")) } == .invalidArguments)
        #expect(await failure { _ = try await ann.shared.records(matching: query("age = 1")) } == .invalidArguments)
        #expect(
            await failure {
                _ = try await ann.own.records(matching: Query(recordType: "Nothing", predicate: .constant(true)))
            } == .unknownItem)
        #expect(
            await failure {
                _ = try await ann.own.records(matching: Query(recordType: "no type", predicate: .constant(true)))
            } == .invalidArguments)
        let nowhere = RecordZone.ID(zoneName: "nowhere")
        #expect(
            await failure { _ = try await ann.own.records(matching: query("age = 1"), inZoneWith: nowhere) }
                == .zoneNotFound)
    }

    /// What this device has written since the server looked is given as it is now, and nothing of it is held against
    /// what comes after it.
    @Test(arguments: [1, 10]) func aResultThatIsWrittenMeanwhileAccusesNobody(limit: Int) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(thing("a", 1, in: zone))
        _ = try await ann.own.modifyRecords(saving: [thing("b", 2, in: zone), thing("c", 3, in: zone)])
        let network = try HostileNetwork(ann.server)
        let isDone = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/query"), !isDone.value else { return }
            isDone.change { $0 = true }
            var newer = first
            newer["age"] = 9
            _ = try await ann.own.save(newer)
        }
        let reader = try ann.through(network)
        var page = try await reader.own.records(
            matching: query("age > 0", Self.upwards), inZoneWith: zone, resultsLimit: limit)
        var results = page.matchResults
        while let cursor = page.queryCursor {
            page = try await reader.own.records(continuingMatchFrom: cursor, resultsLimit: limit)
            results += page.matchResults
        }
        #expect(results.map(\.0.recordName) == ["a", "b", "c"])
        #expect(results.map(\.1.failureCode) == [nil, nil, nil])
        #expect(try results[0].1.get()["age"] == 9)
        #expect(try await ann.container.violations().isEmpty)
    }

    // MARK: A server that lies

    private func deceived(
        _ ann: Person, _ change: @escaping @Sendable (inout Sealkit_V1_QueryRecordsResponse) throws -> Void
    ) throws -> Person {
        try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/query") else { return body }
                var answer = try Sealkit_V1_QueryRecordsResponse(serializedBytes: body)
                try change(&answer)
                return try answer.serializedData()
            })
    }

    @Test func aRecordThatDoesNotFulfilTheQueryIsNoResult() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: [
            thing("a", 1, in: zone, "x"), thing("b", 2, in: zone), thing("c", 3, in: zone),
        ])
        let kept = RecordKeeper()
        let observer = try deceived(ann) { answer in kept.add(answer.matches) }
        _ = try await observer.own.records(matching: query("age > 0"), inZoneWith: zone)
        // Another record, genuine and signed, in the place of a result; also where the field was not asked for.
        let replaced = try deceived(ann) { answer in answer.matches[0] = try #require(kept.match("a")) }
        for desiredKeys in [nil, [String]()] {
            let results = try await replaced.own.records(
                matching: query("age >= 2", Self.upwards), inZoneWith: zone, desiredKeys: desiredKeys)
            #expect(results.matchResults.map(\.1.failureCode) == [.integrityFailure, nil])
        }
        let reversed = try deceived(ann) { answer in answer.matches.reverse() }
        let results = try await reversed.own.records(matching: query("age > 0", Self.upwards), inZoneWith: zone)
        #expect(results.matchResults.map(\.1.failureCode) == [nil, .integrityFailure, .integrityFailure])
        let doubled = try deceived(ann) { answer in answer.matches.append(answer.matches[2]) }
        let twice = try await doubled.own.records(matching: query("age > 0"), inZoneWith: zone)
        #expect(twice.matchResults.map(\.1.failureCode) == [nil, nil, nil, .integrityFailure])
        // The order holds over pages too.
        let first = try await ann.own.records(
            matching: query("age > 0", Self.upwards), inZoneWith: zone, resultsLimit: 2)
        let back = try deceived(ann) { answer in answer.matches[0] = try #require(kept.match("a")) }
        let second = try await back.own.records(continuingMatchFrom: try #require(first.queryCursor))
        #expect(second.matchResults.map(\.1.failureCode) == [.integrityFailure])
    }

    @Test func anAlteredOrUnplacedResultIsRefused() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(thing("a", 1, in: zone))
        let altered = try deceived(ann) { answer in answer.matches[0].record.fields[0].plain.int64 = 5 }
        #expect(
            try await altered.own.records(matching: query("age > 0"), inZoneWith: zone).matchResults.map(
                \.1.failureCode) == [.integrityFailure])
        let withheld = try deceived(ann) { answer in
            let digest = try #require(answer.matches.first?.record.fields.first)
            answer.matches[0].record.fields[0].omitted = try WireDigest.of(digest)
        }
        #expect(
            try await withheld.own.records(matching: query("age > 0"), inZoneWith: zone).matchResults.map(
                \.1.failureCode) == [.integrityFailure])
        let unplaced = try deceived(ann) { answer in answer.scopes = [] }
        #expect(
            await failure { _ = try await unplaced.own.records(matching: query("age > 0"), inZoneWith: zone) }
                == .integrityFailure)
        #expect(await failure { _ = try await unplaced.own.records(matching: query("age > 0")) } == .integrityFailure)
        let empty = try deceived(ann) { answer in (answer.matches, answer.scopes) = ([], []) }
        #expect(
            await failure { _ = try await empty.own.records(matching: query("age > 0"), inZoneWith: zone) }
                == .integrityFailure)
    }

    @Test func theCommandLineFindsRecords() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: [thing("a", 1, in: zone), thing("b", 2, in: zone)])
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("ann.json")
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
            let command = try await Command.finished(
                ServerProcess.executable,
                ["record", "query"] + arguments + [
                    "--key-file", keyFile.path, "--container", ann.container.containerIdentifier,
                ])
            return (command.status, command.output + command.errors)
        }
        let found = try await run(
            "age >= %@", "--arg", "int=1", "--type", "QueryThing", "--zone", zone.zoneName, "--sort", "-age", "--quiet")
        #expect(found.status == 0, "\(found)")
        #expect(found.output == "b\na\n", "\(found)")
        let limited = try await run("--type", "QueryThing", "--limit", "1", "--json")
        #expect(limited.status == 0, "\(limited)")
        #expect(limited.output.contains("\"recordName\""), "\(limited)")
        let refused = try await run("age = 1 OR age = 2", "--type", "QueryThing")
        #expect(refused.status == 65, "\(refused)")
        #expect(refused.output.contains("OR"), "\(refused)")
        #expect(refused.output.contains("character 9"), "\(refused)")
    }
}

/// What the server answered before, by name.
private final class RecordKeeper: Sendable {
    private let matches = Mutex<[Sealkit_V1_QueryMatch]>([])
    func add(_ more: [Sealkit_V1_QueryMatch]) { matches.withLock { $0 += more } }
    func match(_ name: String) -> Sealkit_V1_QueryMatch? {
        matches.withLock { $0.first { $0.record.recordName == name } }
    }
}

private enum WireDigest {
    static func of(_ field: Sealkit_V1_Field) throws -> Data {
        Data(try WireField(field).digest(name: field.name).bytes)
    }
}
