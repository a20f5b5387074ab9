import Foundation
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// `records/created`: what its caller has made in the public database.
@Suite(.timeLimit(.minutes(60))) struct CreatedRecordTests {
    private func withPeople(_ body: @Sendable (_ anna: Person, _ bert: Person, RunningServer) async throws -> Void)
        async throws
    {
        try await RunningServer.with { server in
            try await body(try await Person.ready(server), try await Person.ready(server), server)
        }
    }

    @Test func onesOwnRecordsComeAndNobodyElses() async throws {
        try await withPeople { anna, bert, server in
            // Nobody has written yet: nothing, and no error.
            #expect(try await anna.created() == Sealkit_V1_CreatedRecordsResponse())
            try await server.schema {
                $0.types["Open"] = RecordType(
                    name: "Open", grants: [.init([.read], to: "_world"), .init([.create, .write], to: "_icloud")])
            }
            let saved = try await anna.savePublic([
                PublicWrite("c"), PublicWrite("a"), PublicWrite("gone"), PublicWrite("taken"),
                PublicWrite("open", type: "Open"),
                PublicWrite(anna.name, type: "Users"),
            ])
            #expect(saved.map(\.result.code) == [nil, nil, nil, nil, nil, nil])
            #expect(try await bert.publicCodes([PublicWrite("b")]) == [nil])
            // One is deleted; one is deleted, and its name is somebody else's now; one somebody else has changed.
            let deleted = try await anna.savePublic([
                PublicWrite(after: saved[2], kind: .delete), PublicWrite(after: saved[3], kind: .delete),
            ])
            var again = PublicWrite(after: deleted[1])
            (again.creator, again.tag) = (bert.user, "")
            #expect(
                try await bert.publicCodes([again, PublicWrite(after: saved[4], type: "Open", "his")]) == [nil, nil])
            // Nor does anything of a private zone come along.
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("sealed")], in: zone)

            let own = try await anna.created()
            #expect(own.results.map(\.recordName) == [anna.name, "a", "c", "open"])
            #expect(!own.moreComing)
            #expect(own.results.map(\.code) == [nil, nil, nil, nil])
            for result in own.results {
                let verified = try Person.verifyPublic(result.record, authors: own.authors)
                #expect(verified.statement.creator == anna.user)
                #expect(verified.statement.author == (result.recordName == "open" ? bert.user : anna.user))
            }
            #expect(own.authors.count == 2)
            let looked = try await anna.lookupPublic(["a"])
            #expect(own.results[1] == looked.results[0], "as a look-up gives it")
            #expect(try await bert.created().results.map(\.recordName) == ["b", "taken"])
        }
    }

    @Test func pagesFollowNames() async throws {
        try await withPeople { anna, bert, _ in
            _ = try await anna.savePublic(["e", "B", "~", "a", "!"].map { PublicWrite($0) })
            _ = try await bert.savePublic(["b", "f"].map { PublicWrite($0) })
            var pages: [[String]] = []
            var more: [Bool] = []
            var after = ""
            while pages.count < 10 {
                let page = try await anna.created(after: after, limit: 2)
                pages.append(page.results.map(\.recordName))
                more.append(page.moreComing)
                guard page.moreComing else { break }
                after = page.results.last?.recordName ?? ""
            }
            #expect(pages == [["!", "B"], ["a", "e"], ["~"]])
            #expect(more == [true, true, false])
            // A page that holds just what is left is the last one.
            #expect(try await !anna.created(after: "a", limit: 2).moreComing)
            // After a name that there is not, or is no more.
            #expect(try await anna.created(after: "C", limit: 1).results.map(\.recordName) == ["a"])
            #expect(try await anna.created(after: "~").results.isEmpty)
            for limit in [0, 400, 401, UInt32.max] {
                #expect(try await anna.created(limit: limit).results.count == 5, "\(limit)")
            }
        }
    }

    @Test func aPageHasAMostOfRecordsAndOfBytes() async throws {
        try await withPeople { anna, bert, _ in
            for start in [0, 400] {
                _ = try await anna.savePublic((start..<start + 400).map { PublicWrite(String(10_000 + $0)) })
            }
            _ = try await anna.savePublic([PublicWrite("last")])
            let first = try await anna.created(limit: UInt32.max)
            #expect(first.results.count == 400)
            #expect(first.moreComing)
            let second = try await anna.created(after: try #require(first.results.last).recordName)
            #expect(second.results.count == 400)
            #expect(second.moreComing)
            let last = try await anna.created(after: try #require(second.results.last).recordName)
            #expect(last.results.map(\.recordName) == ["last"])
            #expect(!last.moreComing)
            // By bytes: two fit, a third does not.
            let large = String(repeating: "x", count: 900_000)
            for name in ["a", "b", "c"] { _ = try await bert.savePublic([PublicWrite(name, large)]) }
            let full = try await bert.created()
            #expect(full.results.map(\.recordName) == ["a", "b"])
            #expect(full.moreComing)
            #expect(try await bert.created(after: "b").results.map(\.recordName) == ["c"])
        }
    }

    /// What may not be read is named, so that a part is not taken for the whole; nothing of it is shown.
    @Test func whatItsCreatorMayNotReadIsNamedAndRefused() async throws {
        try await withPeople { anna, bert, server in
            _ = try await anna.savePublic([PublicWrite("a"), PublicWrite("b", type: "Open"), PublicWrite("c")])
            try await server.schema {
                $0.roles = ["editor"]
                $0.types["Note"]?.grants = [.init([.read], to: "editor")]
            }
            let answer = try await anna.created()
            #expect(answer.results.map(\.recordName) == ["a", "b", "c"])
            #expect(answer.results.map(\.code) == [.permissionFailure, nil, .permissionFailure])
            #expect(answer.results.map(\.hasServerRecord) == [false, false, false])
            // Refused ones count towards a page, and it goes on after them.
            let first = try await anna.created(limit: 1)
            #expect(first.results.map(\.code) == [.permissionFailure])
            #expect(first.moreComing)
            #expect(first.authors.isEmpty)
            #expect(try await anna.created(after: "a", limit: 1).results.map(\.code) == [nil])
            #expect(try await bert.created().results.isEmpty)
        }
    }

    @Test func aKeyHasRecordsOfItsOwn() async throws {
        try await withPeople { anna, _, _ in
            let key = try await ServerKeyClient.ready(by: anna)
            _ = try await key.save([PublicWrite("the-key's")])
            _ = try await anna.savePublic([PublicWrite("anna's")])
            let answer = try await key.send(
                try key.call(Person.publicPath("records/created"), Sealkit_V1_CreatedRecordsRequest()))
            let results = try Sealkit_V1_CreatedRecordsResponse(serializedBytes: answer.body).results
            #expect(answer.code == nil)
            #expect(results.map(\.recordName) == ["the-key's"])
            #expect(try await anna.created().results.map(\.recordName) == ["anna's"])
        }
    }

    // MARK: Refusals

    @Test func whoHasNoNameHasMadeNothing() async throws {
        try await withPeople { anna, _, server in
            _ = try await anna.savePublic([PublicWrite("a")])
            var client = try TestClient(server)
            let nobody = client
            try await expectRefusal(.notAuthenticated) { try await nobody.created() }
            client.token = try await client.create().token
            let unnamed = client
            try await expectRefusal(.notAuthenticated) { try await unnamed.created() }
        }
    }

    @Test func zonesAreReadByTheirFeeds() async throws {
        try await withPeople { anna, _, _ in
            _ = try await anna.makeZone()
            for database in ["private", "shared"] {
                let path = "/database/1/\(TestClient.container)/development/\(database)/records/created"
                try await expectRefusal(.badDatabase) {
                    try await anna.client.call(
                        path, Sealkit_V1_CreatedRecordsRequest(), as: Sealkit_V1_CreatedRecordsResponse.self)
                }
            }
        }
    }

    @Test func environmentsAreApart() async throws {
        try await withPeople { anna, _, _ in
            _ = try await anna.savePublic([PublicWrite("a")])
            let answer = try await anna.client.call(
                Person.publicPath("records/created", environment: "production"), Sealkit_V1_CreatedRecordsRequest(),
                as: Sealkit_V1_CreatedRecordsResponse.self)
            #expect(answer.results.isEmpty)
            #expect(!answer.moreComing)
        }
    }

    @Test func onlyANameIsAPlace() async throws {
        try await withPeople { anna, _, _ in
            _ = try await anna.savePublic([PublicWrite("a")])
            for after in [
                "\u{0}", "a\n", "ü", " a\u{7f}", String(repeating: "x", count: 256),
                String(repeating: "x", count: 1_000_000),
            ] {
                try await expectRefusal(.invalidArguments) { try await anna.created(after: after) }
            }
            // Names that would mean something to a database are names.
            for after in ["' OR 1=1 --", "%", "_", "a'; DROP TABLE record; --"] {
                _ = try await anna.created(after: after)
            }
            #expect(try await anna.created(after: String(repeating: "~", count: 255)).results.isEmpty)
            #expect(try await anna.created().results.map(\.recordName) == ["a"])
        }
    }

    /// Neither the others' records nor the zone's size come into it.
    @Test(.withDatabaseFile) func aPageIsOneRangeOfAnIndex() async throws {
        try await withPeople { anna, _, server in
            _ = try await anna.savePublic([PublicWrite("a")])
            let plan = try await server.services.database.read { connection in
                try connection.rows(
                    "EXPLAIN QUERY PLAN " + CreatedRecords.query,
                    [.integer(-1), .integer(1), .blob(anna.user.id.bytes), .text(""), .integer(1)]
                ) { try $0.text("detail") }
            }
            #expect(
                plan == [
                    "SEARCH record USING INDEX record_public_creator (owner=? AND zone=? AND creator=? AND name>?)"
                ])
        }
    }
}

extension Person {
    fileprivate func created(after: String = "", limit: UInt32 = 0) async throws -> Sealkit_V1_CreatedRecordsResponse {
        try await client.created(after: after, limit: limit)
    }
}

extension TestClient {
    fileprivate func created(after: String = "", limit: UInt32 = 0) async throws -> Sealkit_V1_CreatedRecordsResponse {
        try await call(
            Person.publicPath("records/created"),
            Sealkit_V1_CreatedRecordsRequest.with { ($0.after, $0.resultsLimit) = (after, limit) },
            as: Sealkit_V1_CreatedRecordsResponse.self)
    }
}

extension RunningServer {
    fileprivate func schema(_ change: (inout Schema) -> Void) async throws {
        var schema = try await self.schema().schema
        change(&schema)
        try await deploy(schema, to: .development)
    }
}
