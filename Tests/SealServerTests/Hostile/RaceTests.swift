import Foundation
import SealEnvelope
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Two clients at once, where one of them must lose.
@Suite(.timeLimit(.minutes(60))) struct RaceTests {
    /// What each of some requests, all sent at once, is answered: nothing, or the code that it was refused with.
    private static func atOnce(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> ErrorCode?
    ) async throws -> [ErrorCode?] {
        try await withThrowingTaskGroup(of: (Int, ErrorCode?).self) { group in
            for index in 0..<count { group.addTask { (index, try await body(index)) } }
            var codes = [ErrorCode?](repeating: nil, count: count)
            for try await (index, code) in group { codes[index] = code }
            return codes
        }
    }

    @Test func oneOperationSentManyTimesAtOnceIsDoneOnce() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let (request, _) = try anna.request([Write("a"), Write("b")], in: zone)
            let codes = try await Self.atOnce(12) { _ in
                let results = try await anna.send(request, to: zone)
                return results.compactMap(\.code).first
            }
            #expect(codes.compactMap(\.self).isEmpty)
            let feed = try await anna.changes(in: zone)
            #expect(feed.records.map(\.recordName) == ["a", "b"])
            #expect(feed.records.map(\.position) == feed.records.map(\.position).sorted())
        }
    }

    @Test func sourcesOfOneTargetAreCountedOverAllWriters() async throws {
        try await RunningServer.withZone { anna, zone, server in
            _ = try await anna.save([Write("target")], in: zone)
            let codes = try await Self.atOnce(3) { index in
                let writes = (0..<300).map { Write("s\(index)-\($0)", nil).going(with: "target") }
                return try await anna.codes(writes, in: zone).compactMap { $0 }.first { $0 != .batchRequestFailed }
            }
            #expect(codes.compactMap(\.self) == [.limitExceeded])
            let sources = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM delete_reference") { try $0.int64("count") }
            }
            #expect(sources == 600)
        }
    }

    @Test func aChildAndItsParentsDeletionDoNotBothHappen() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            for round in 0..<20 {
                let parent = try await anna.save([Write("p\(round)")], in: zone)[0]
                let codes = try await Self.atOnce(2) { index in
                    let write =
                        index == 0 ? Write("c\(round)", parent: "p\(round)") : Write(after: parent, kind: .delete)
                    return try await anna.codes([write], in: zone)[0]
                }
                #expect(codes.compactMap(\.self).count == 1, "\(codes)")
            }
        }
    }

    /// Two first saves give a new field two kinds: the schema has one, and every stored record fits it.
    @Test func aNewFieldHasOneKindWhoeverComesFirst() async throws {
        try await RunningServer.withZone { anna, zone, server in
            for round in 0..<10 {
                let codes = try await Self.atOnce(4) { index in
                    let value: Value = index % 2 == 0 ? .int64(1) : .string("one")
                    return try await anna.codes([.thing("r\(round)-\(index)", ["f\(round)": value])], in: zone)[0]
                }
                let kind = try await server.schema().field("f\(round)", of: "Thing")?.type.kind
                let odd = codes.enumerated().filter {
                    ($0.element == nil) != ((kind == .int64) == ($0.offset % 2 == 0))
                }
                #expect(odd.isEmpty, "\(codes)")
            }
        }
    }

    /// While a field is declared encrypted, nothing plain is stored under it from the moment that this is acknowledged.
    @Test func nothingPlainIsStoredOnceAFieldIsEncrypted() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let boss = try Management(server)
            try await boss.importing("DEFINE SCHEMA RECORD TYPE Thing (other STRING);")
            let codes = try await Self.atOnce(40) { index in
                guard index != 20 else {
                    return try await refusal {
                        try await boss.importing("DEFINE SCHEMA RECORD TYPE Thing (secret ENCRYPTED STRING);")
                    }
                }
                return try await anna.codes([.thing("r\(index)", ["secret": .string("plain")])], in: zone)[0]
            }
            #expect(codes[20] == nil)
            // Each was before it, or refused.
            #expect(Set(codes.compactMap(\.self)).subtracting([.invalidArguments]).isEmpty, "\(codes)")
            let late = try await Self.atOnce(8) {
                try await anna.codes([.thing("late\($0)", ["secret": .string("plain")])], in: zone)[0]
            }
            #expect(late == Array(repeating: .invalidArguments, count: 8))
        }
    }

    @Test func aSignedRequestThatComesTwiceAtOnceIsDoneOnce() async throws {
        try await RunningServer.with { server in
            let owner = try await Person.ready(server)
            let key = try await ServerKeyClient.ready(by: owner)
            for round in 0..<5 {
                let request = try key.person.publicRequest([PublicWrite("r\(round)")]).request
                let call = try key.call(Person.publicPath("records/modify"), request)
                let headers = try key.headers(call)
                let codes = try await Self.atOnce(6) { _ in try await key.send(call, headers: headers).code }
                #expect(codes.compactMap(\.self) == Array(repeating: .notAuthenticated, count: 5))
            }
            // Revoked while requests come: none is taken afterwards.
            _ = try await Self.atOnce(6) { index in
                if index == 3 { _ = try await owner.revokeServerKey(key.user) }
                return try await key.send(
                    try key.call(
                        Person.publicPath("records/modify"),
                        key.person.publicRequest([PublicWrite("x\(index)")]).request)
                ).code
            }
            let late = try await key.send(
                try key.call(
                    Person.publicPath("records/modify"), key.person.publicRequest([PublicWrite("late")]).request))
            #expect(late.code == .notAuthenticated)
            #expect(try await owner.lookupPublic(["late"]).results[0].code == .unknownItem)
        }
    }

    /// A zone is deleted and made again while somebody writes to it: nothing of the old life shows in the new one.
    @Test func whatWasSignedForAZonesOldLifeIsNotInItsNewOne() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            for round in 0..<6 {
                let old = zone
                let codes = try await Self.atOnce(5) { index in
                    if index == 2 {
                        let result = try await anna.deleteZone(old)
                        return result.failure.errorCode
                    }
                    return try await refusal {
                        try await anna.codes([Write("r\(round)-\(index)").going(with: "list")], in: old)
                    }
                }
                #expect(codes[2] == nil, "\(codes)")
                #expect(Set(codes.compactMap(\.self)).subtracting([.zoneNotFound]).isEmpty, "\(codes)")
                var closed = old.roster
                try closed.append(anna.author.plain(.close, on: old.roster, time: 2).entry)
                let opening = try anna.opening("notes", following: closed)
                _ = try await anna.modifyZones(saving: [("notes", opening)])
                try closed.append(opening.entry)
                zone = TestZone(name: "notes", owner: anna.user, roster: closed, key: try #require(opening.epochKey))
                #expect(try await anna.changes(in: zone).records.isEmpty)
                let late = try await refusal { try await anna.codes([Write("late")], in: old) }
                #expect(late == .staleEpoch)
                let left = try await server.services.database.read { connection in
                    try connection.exists(
                        "SELECT 1 FROM record UNION ALL SELECT 1 FROM delete_reference UNION ALL SELECT 1 FROM record_index"
                    )
                }
                #expect(!left)
            }
        }
    }
}
