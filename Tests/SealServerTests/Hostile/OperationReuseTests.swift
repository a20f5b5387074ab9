import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// An operation id stands for one request. Used for another, it must not be answered as if that had been done.
@Suite(.timeLimit(.minutes(60))) struct OperationReuseTests {
    @Test func anIdThatWasUsedIsNotAnsweredForOtherRecords() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let other = try await anna.makeZone("other")
            let (first, _) = try anna.request([Write("a")], in: zone)
            #expect(try await anna.send(first, to: zone).map(\.code) == [nil])
            // Once more the same: answered, and done once.
            #expect(try await anna.send(first, to: zone).map(\.code) == [nil])
            var more = try anna.request([Write("b")], in: zone).request
            more.operationID = first.operationID
            var elsewhere = try anna.request([Write("a")], in: other).request
            elsewhere.operationID = first.operationID
            var inPublic = try anna.publicRequest([PublicWrite("a")]).request
            inPublic.operationID = first.operationID
            var longer = first
            longer.records.append(longer.records[0])
            longer.records[1].recordName = "c"
            let each = first
            let codes = [
                try await refusal { [more] in try await anna.send(more, to: zone) },
                try await refusal { [elsewhere] in try await anna.send(elsewhere, to: other) },
                try await refusal { [inPublic] in try await anna.sendPublic(inPublic) },
                try await refusal { [longer] in try await anna.send(longer, to: zone) },
                // In production nothing was done.
                try await refusal { try await anna.inProduction.send(each, to: zone) },
            ]
            #expect(codes == Array(repeating: .invalidArguments, count: codes.count))
            #expect(
                try await anna.lookup(["a", "b", "c"], in: zone).results.map(\.code) == [
                    nil, .unknownItem, .unknownItem,
                ])
            #expect(try await anna.lookup(["a"], in: other).results.map(\.code) == [.unknownItem])
            #expect(try await anna.lookupPublic(["a"]).results.map(\.code) == [.unknownItem])
            // Somebody else's id is nobody's business: it is neither taken nor told.
            let bert = try await Person.ready(server)
            let own = try await bert.makeZone()
            var same = try bert.request([Write("a")], in: own).request
            same.operationID = first.operationID
            #expect(try await bert.send(same, to: own).map(\.code) == [nil])
        }
    }

    /// What is not signed, and decides what is done, is part of what was asked for.
    @Test func anIdThatWasUsedIsNotAnsweredForTheSameStatementsOtherwiseSent() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save([Write("a")], in: zone)[0]
            let (first, _) = try anna.request([Write(after: saved)], in: zone)
            #expect(try await anna.send(first, to: zone).map(\.code) == [nil])
            let changes: [(String, (inout Sealkit_V1_ModifyRecordsRequest) -> Void)] = [
                ("another change tag", { $0.records[0].changeTag = "other" }),
                ("no change tag", { $0.records[0].changeTag = "" }),
                ("not atomic", { $0.atomic.toggle() }), ("sealing again", { $0.rekeying = true }),
                ("saving again", { $0.restoring = true }),
            ]
            for (what, change) in changes {
                var other = first
                change(&other)
                let sent = other
                try await expectRefusal(.invalidArguments, "\(what)") { try await anna.send(sent, to: zone) }
            }
            #expect(try await anna.send(first, to: zone).map(\.code) == [nil])
        }
    }

    /// The content counts, not how it was spelled: a client may repeat in JSON what it sent as protobuf.
    @Test func theSameInAnotherSpellingIsTheSame() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let (request, _) = try anna.request([Write("a")], in: zone)
            let first = try await anna.send(request, to: zone)
            let json = try await RefusalClient(origin: server.origin, token: anna.client.token).send(
                "POST", anna.path("records/modify"), type: RefusalClient.json,
                bytes: try request.jsonUTF8Bytes() as [UInt8])
            #expect(json.status == 200)
            let again = try Sealkit_V1_ModifyRecordsResponse(jsonUTF8Bytes: json.body)
            #expect(again.results.map(\.record.changeTag) == first.map(\.record.changeTag))
        }
    }

    @Test func anIdThatWasUsedIsNotAnsweredForOtherZonesOrSubscriptions() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let id = randomBytes(16)
            let draft = try anna.opening("one")
            _ = try await anna.modifyZones(saving: [("one", draft)], operation: id)
            _ = try await anna.modifyZones(saving: [("one", draft)], operation: id)
            let two = try anna.opening("two")
            let other = try await refusal { try await anna.modifyZones(saving: [("two", two)], operation: id) }
            #expect(other == .invalidArguments)
            #expect(try await anna.zones().map(\.zone.zoneID.zoneName) == ["one"])

            let second = randomBytes(16)
            _ = try await anna.modifySubscriptions(saving: [.database("a")], operation: second)
            _ = try await anna.modifySubscriptions(saving: [.database("a")], operation: second)
            let same = try await refusal {
                try await anna.modifySubscriptions(saving: [.database("b")], operation: second)
            }
            let shared = try await refusal {
                try await anna.modifySubscriptions(saving: [.database("a")], in: "shared", operation: second)
            }
            #expect(same == .invalidArguments)
            #expect(shared == .invalidArguments)
            #expect(try await anna.subscriptions().map(\.subscriptionID) == ["a"])
            #expect(try await anna.subscriptions(in: "shared").isEmpty)
        }
    }

    @Test func anIdThatWasUsedIsNotAnsweredForOtherRosterEntries() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            let first = anna.appendRequest(
                try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: zone)
            let answer = try await anna.send(first, to: zone)
            let repeated = try await anna.send(first, to: zone)
            #expect(repeated == answer)
            try zone.roster.append(SignedRosterEntry(first.entry))
            var second = anna.appendRequest(try anna.next(on: zone, rotating: true), to: zone)
            second.operationID = first.operationID
            let code = try await refusal { [second, zone] in try await anna.send(second, to: zone) }
            #expect(code == .invalidArguments)
            #expect(try await anna.fetchRoster(zone).entries.count == 2)
        }
    }

    /// An answer is kept for a day: those of the day before go, however many, and no other.
    @Test func answersAreForgottenAfterADay() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let day = RepeatableOperation.kept
            let now = server.clock.now
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("DELETE FROM operation")
                for number in 0..<2_500 {
                    let id = withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0, count: 8)
                    try connection.execute(
                        "INSERT INTO operation (account, id, kind, request, response, created) VALUES (1, $1, 'x', $2, $2, $3)",
                        [.blob(id), .blob([]), .integer(now - day + Int64(number) - 2_200)])
                }
            }
            try await server.sweep(now: now)
            let kept = try await server.services.database.read { connection in
                try connection.rows("SELECT created FROM operation ORDER BY number") { try $0.int64("created") }
            }
            let younger = (0..<300).map { now - day + $0 }
            #expect(kept == younger)
        }
    }

    /// What a clock that was ahead has left keeps nothing of what comes after it.
    @Test func answersOfATimeToComeKeepNoOthers() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let day = RepeatableOperation.kept
            let now = server.clock.now
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("DELETE FROM operation")
                for number in 0..<350 {
                    let id = withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0, count: 8)
                    let created = number < 250 ? now + 365 * day : number < 340 ? now - 2 * day : now
                    try connection.execute(
                        "INSERT INTO operation (account, id, kind, request, response, created) VALUES (1, $1, 'x', $2, $2, $3)",
                        [.blob(id), .blob([]), .integer(created)])
                }
            }
            try await server.sweep(now: now)
            let kept = try await server.services.database.read { connection in
                try connection.rows("SELECT created FROM operation") { try $0.int64("created") }
            }
            #expect(kept == Array(repeating: now, count: 10))
        }
    }
}
