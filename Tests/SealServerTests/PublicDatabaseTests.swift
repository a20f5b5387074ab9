import Foundation
import SealCoding
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

@Suite(.timeLimit(.minutes(60))) struct PublicDatabaseTests {
    func withPeople(_ body: @Sendable (_ anna: Person, _ bert: Person, RunningServer) async throws -> Void) async throws
    {
        try await RunningServer.with { server in
            try await body(try await Person.ready(server), try await Person.ready(server), server)
        }
    }

    // MARK: Reading

    @Test func whatSomebodySignedTheWholeWorldReadsAndVerifies() async throws {
        try await withPeople { anna, bert, server in
            // Nobody has written yet: an empty database, not an error.
            let world = try TestClient(server)
            #expect(try await world.lookupPublic(["a"]).results.map(\.code) == [.unknownItem])
            #expect(try await anna.publicCodes([PublicWrite("a"), PublicWrite("b")]) == [nil, nil])
            #expect(try await bert.publicCodes([PublicWrite("c")]) == [nil])
            for answer in [
                try await world.lookupPublic(["a", "b", "c"]), try await bert.lookupPublic(["a", "b", "c"]),
            ] {
                #expect(answer.results.map(\.code) == [nil, nil, nil])
                #expect(answer.scopes.isEmpty)
                #expect(answer.authors.count == 2)
                for result in answer.results {
                    let verified = try Person.verifyPublic(result.record, authors: answer.authors)
                    #expect(verified.statement.creator == (result.recordName == "c" ? bert.user : anna.user))
                }
            }
            let partial = try await world.lookupPublic(["a"], keys: [])
            #expect(partial.results[0].record.fields.map { $0.omitted.count } == [32])
            try Person.verifyPublic(partial.results[0].record, authors: partial.authors)
        }
    }

    @Test func aTokenThatIsNoGoodIsNotTheSameAsNone() async throws {
        try await withPeople { anna, _, server in
            _ = try await anna.savePublic([PublicWrite("a")])
            var client = try TestClient(server)
            client.token = Base64URL.encode(randomBytes(32))
            let stale = client
            #expect(try await refusal { try await stale.lookupPublic(["a"]) } == .sessionExpired)
        }
    }

    @Test func environmentsAndContainersAreApart() async throws {
        try await withPeople { anna, _, server in
            _ = try await anna.savePublic([PublicWrite("a")])
            let request = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] }
            for path in [
                Person.publicPath("records/lookup", environment: "production"),
                "/database/1/org.example.other/development/public/records/lookup",
            ] {
                let answer = try await TestClient(server).call(path, request, as: Sealkit_V1_LookupRecordsResponse.self)
                #expect(answer.results.map(\.code) == [.unknownItem], "\(path)")
            }
            // Nor is it in anybody's private default zone.
            let own = "/database/1/\(TestClient.container)/development/private/records/lookup"
            let zone = Sealkit_V1_LookupRecordsRequest.with {
                $0.recordNames = ["a"]
                $0.zone.zoneName = Names.defaultZone
            }
            try await expectRefusal(.zoneNotFound) {
                try await anna.client.call(own, zone, as: Sealkit_V1_LookupRecordsResponse.self)
            }
        }
    }

    // MARK: Writing

    @Test func aRecordLivesAsAnyOther() async throws {
        try await withPeople { anna, bert, _ in
            let first = try await anna.savePublic([PublicWrite("a")])[0]
            let second = try await anna.savePublic([PublicWrite(after: first)])[0]
            #expect(second.result.code == nil)
            #expect(second.tag != first.tag)
            // Somebody behind gets what there is, and who signed it.
            let late = try await anna.sendPublic(try anna.publicRequest([PublicWrite(after: first)]).request)
            #expect(late.results[0].code == .serverRecordChanged)
            #expect(SealStatements.Statement.hash([UInt8](late.results[0].serverRecord.statement)) == second.hash)
            try Person.verifyPublic(late.results[0].serverRecord, authors: late.authors)
            #expect(try await anna.publicCodes([PublicWrite("a")]) == [.serverRecordChanged])
            var lost = PublicWrite(after: second)
            lost.name = "none"
            #expect(try await anna.publicCodes([lost]) == [.unknownItem])
            // Deletions are signed too, and their author is told.
            let gone = try await anna.savePublic([PublicWrite(after: second, kind: .delete)])[0]
            #expect(gone.result.code == nil)
            let found = try await bert.lookupPublic(["a"])
            #expect(found.results[0].code == .unknownItem)
            #expect(found.results[0].serverRecord.deleted)
            try Person.verifyPublic(found.results[0].serverRecord, authors: found.authors)
            // The name is free again, for whoever continues after the tombstone.
            var again = PublicWrite(after: try SavedRecord(found.results[0].serverRecord))
            again.creator = bert.user
            #expect(try await bert.publicCodes([again]) == [nil])
        }
    }

    @Test func recordsAreSavedEachByItselfAsInEveryDefaultZone() async throws {
        try await withPeople { anna, bert, _ in
            let saved = try await bert.savePublic([PublicWrite("theirs")])[0]
            let writes = [PublicWrite("mine"), PublicWrite(after: saved)]
            #expect(try await anna.publicCodes(writes, atomic: true) == [nil, .permissionFailure])
            #expect(try await anna.lookupPublic(["mine"]).results[0].code == nil)
        }
    }

    /// Nothing signed would show readers that whoever deletes the one might delete the other.
    @Test func nothingGoesWithADeletedRecord() async throws {
        try await withPeople { anna, bert, _ in
            let target = try await anna.savePublic([PublicWrite("target")])[0]
            var source = PublicWrite("source", nil)
            let reference = ReferenceValue(recordName: "target", action: .deleteSelf)
            source.fields = [("of", .stored(.plain(.reference(reference)), blob: nil))]
            #expect(try await bert.publicCodes([source]) == [nil])
            #expect(try await anna.publicCodes([PublicWrite(after: target, kind: .delete)]) == [nil])
            #expect(try await anna.lookupPublic(["target", "source"]).results.map(\.code) == [.unknownItem, nil])
        }
    }

    /// Roles and grants as the schema has them, not as they usually are.
    @Test func rightsAreThoseOfTheSchema() async throws {
        try await withPeople { anna, bert, server in
            let saved = try await anna.savePublic([PublicWrite("a", type: "Note"), PublicWrite("b", type: "Open")])
            var schema = try await server.schema().schema
            schema.roles = ["editor"]
            schema.types["Note"]?.grants = [
                .init([.read], to: "editor"), .init([.write], to: "editor"), .init([.create], to: "_creator"),
            ]
            schema.types["Open"]?.grants = [.init([.read, .write], to: "_world")]
            try await server.deploy(schema, to: .development)
            let world = try TestClient(server)
            #expect(try await world.lookupPublic(["a", "b"]).results.map(\.code) == [.permissionFailure, nil])
            // Not even its creator reads it, and nobody makes another.
            #expect(try await anna.lookupPublic(["a"]).results.map(\.code) == [.permissionFailure])
            #expect(try await anna.publicCodes([PublicWrite(after: saved[0])]) == [.permissionFailure])
            #expect(
                try await anna.publicCodes([PublicWrite("c"), PublicWrite("d", type: "Open")]) == [
                    .permissionFailure, .permissionFailure,
                ])
            // What may not be read is not shown to merge with either.
            #expect(try await bert.publicCodes([PublicWrite(after: saved[1], type: "Open")]) == [nil])
            try await server.services.database.write(at: .everything) { connection in
                try RoleAssignments.assign("editor", to: bert.user, TestClient.container, .development, in: connection)
            }
            #expect(try await bert.lookupPublic(["a"]).results.map(\.code) == [nil])
            #expect(try await bert.publicCodes([PublicWrite(after: saved[0])]) == [nil])
        }
    }

    @Test func aRepeatedOperationHasOneEffect() async throws {
        try await withPeople { anna, _, _ in
            let (request, _) = try anna.publicRequest([PublicWrite("a")])
            let first = try await anna.sendPublic(request)
            #expect(try await anna.sendPublic(request) == first && first.results[0].code == nil)
        }
    }

    @Test func unchangedFieldsAreCarriedOver() async throws {
        try await withPeople { anna, _, _ in
            let first = try await anna.savePublic([PublicWrite("a", "kept")])[0]
            var next = PublicWrite(after: first, nil)
            let kept = try WireField.stored(.plain(.string("kept")), blob: nil).digest(name: "body")
            next.fields = [("body", .digest(kept)), ("more", .stored(.plain(.int64(2)), blob: nil))]
            #expect(try await anna.publicCodes([next]) == [nil])
            let record = try await anna.lookupPublic(["a"]).results[0].record
            #expect(record.fields.map(\.name) == ["body", "more"] && record.fields[0].plain.string == "kept")
        }
    }
}

extension Digest {
    /// Another one than this.
    var tweaked: Digest { (try? Digest(bytes.map { $0 ^ 1 })) ?? .zero }
}
