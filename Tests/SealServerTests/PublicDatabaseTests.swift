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

@Suite struct PublicDatabaseTests {
    func withPeople(_ body: @Sendable (_ anna: Person, _ bert: Person, RunningServer) async throws -> Void) async throws {
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
            for answer in [try await world.lookupPublic(["a", "b", "c"]), try await bert.lookupPublic(["a", "b", "c"])] {
                #expect(answer.results.map(\.code) == [nil, nil, nil])
                #expect(answer.scopes.isEmpty && answer.authors.count == 2)
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
            try await expectRefusal(.zoneNotFound) { try await anna.client.call(own, zone, as: Sealkit_V1_LookupRecordsResponse.self) }
        }
    }

    // MARK: Writing

    @Test func aRecordLivesAsAnyOther() async throws {
        try await withPeople { anna, bert, _ in
            let first = try await anna.savePublic([PublicWrite("a")])[0]
            let second = try await anna.savePublic([PublicWrite(after: first)])[0]
            #expect(second.result.code == nil && second.tag != first.tag)
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
            #expect(found.results[0].code == .unknownItem && found.results[0].serverRecord.deleted)
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
            #expect(try await anna.publicCodes([PublicWrite("c"), PublicWrite("d", type: "Open")]) == [.permissionFailure, .permissionFailure])
            // What may not be read is not shown to merge with either.
            #expect(try await bert.publicCodes([PublicWrite(after: saved[1], type: "Open")]) == [nil])
            try await server.services.database.write { connection in
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

    // MARK: Refusals

    @Test func writingNeedsAnAccount() async throws {
        try await withPeople { anna, _, server in
            var client = try TestClient(server)
            let request = try anna.publicRequest([PublicWrite("a")]).request
            let nobody = client
            let path = Person.publicPath("records/modify")
            #expect(try await refusal { try await nobody.call(path, request, as: Sealkit_V1_ModifyRecordsResponse.self) } == .notAuthenticated)
            // An account without an identity in the container has no name to sign with.
            client.token = try await client.create().token
            let unnamed = client
            #expect(try await refusal { try await unnamed.call(path, request, as: Sealkit_V1_ModifyRecordsResponse.self) } == .notAuthenticated)
        }
    }

    @Test func onlyTheCreatorChangesOrDeletes() async throws {
        try await withPeople { anna, bert, _ in
            let saved = try await anna.savePublic([PublicWrite("a")])[0]
            #expect(try await bert.publicCodes([PublicWrite(after: saved)]) == [.permissionFailure])
            #expect(try await bert.publicCodes([PublicWrite(after: saved, kind: .delete)]) == [.permissionFailure])
            // Nor by a guess that is behind: rights come first, and nothing is shown to merge with.
            let (request, _) = try bert.publicRequest([PublicWrite("a")])
            let refused = try await bert.sendPublic(request).results[0]
            #expect(refused.code == .permissionFailure && !refused.hasServerRecord)
            #expect(try await anna.publicCodes([PublicWrite(after: saved, kind: .delete)]) == [nil])
        }
    }

    @Test func aUsersOwnRecordIsItsOwn() async throws {
        try await withPeople { anna, bert, server in
            // Neither under the right type nor under another one does somebody else take its place.
            #expect(try await bert.publicCodes([PublicWrite(anna.name, type: "Users")]) == [.permissionFailure])
            #expect(try await bert.publicCodes([PublicWrite(anna.name)]) == [.invalidArguments])
            #expect(try await anna.publicCodes([PublicWrite(anna.name)]) == [.invalidArguments])
            #expect(try await anna.publicCodes([PublicWrite("me", type: "Users")]) == [.permissionFailure])
            let saved = try await anna.savePublic([PublicWrite(anna.name, type: "Users")])[0]
            #expect(saved.result.code == nil)
            #expect(try await bert.publicCodes([PublicWrite(after: saved, type: "Users")]) == [.permissionFailure])
            #expect(try await TestClient(server).lookupPublic([anna.name]).results[0].code == nil)
        }
    }

    @Test func nothingThatIsSealedIsTaken() async throws {
        try await withPeople { anna, _, _ in
            var write = PublicWrite("a", nil)
            write.fields = [("body", .stored(.encrypted(ValueType(.string), sealed: randomBytes(72)), blob: nil))]
            var codes = try await anna.publicCodes([write])
            #expect(codes == [.invalidArguments])
            let commitment = AssetCommitment(salt: .zero, chunkCount: 1, root: .zero, descriptor: randomBytes(80))
            write.fields = [("scan", .stored(.asset(commitment), blob: Digest.zero.hex))]
            codes = try await anna.publicCodes([write])
            #expect(codes == [.invalidArguments])
        }
    }

    @Test func anAssetIsWhatItsRecordWasSignedFor() async throws {
        try await withPeople { anna, bert, server in
            let bytes = [UInt8](repeating: 7, count: 70_000)
            let leaves = [AssetTree.leaf([UInt8](bytes[..<65_536])), AssetTree.leaf([UInt8](bytes[65_536...]))]
            let asset = PublicAsset(size: 70_000, root: try AssetTree.root(leaves))
            func path(_ id: String) -> String { Person.publicPath("assets/-/_defaultZone/\(id)") }
            func write(_ name: String, _ asset: PublicAsset, blob: String) -> PublicWrite {
                var write = PublicWrite(name, nil)
                write.fields = [("photo", .publicAsset(asset, blob: blob))]
                return write
            }
            let id = ID16.zero.hex
            let world = try TestClient(server)
            #expect(try await world.raw("PUT", path(id), bytes).status == 401)
            #expect(try await anna.client.raw("PUT", path(id), bytes).status == 201)
            // Nobody's yet: its uploader's, to read and to save.
            #expect(try await anna.client.raw("GET", path(id)).body == bytes)
            #expect(try await world.raw("GET", path(id)).status == 404)
            #expect(try await bert.client.raw("GET", path(id)).status == 404)
            #expect(try await bert.publicCodes([write("b", asset, blob: id)]) == [.assetFileNotFound])
            for wrong in [PublicAsset(size: 70_000, root: .zero), PublicAsset(size: 69_999, root: asset.root)] {
                #expect(try await anna.publicCodes([write("a", wrong, blob: id)]) == [.assetFileModified])
            }
            #expect(try await anna.publicCodes([write("a", asset, blob: id)]) == [nil])
            #expect(try await world.raw("GET", path(id)).body == bytes)
            // The empty asset is one empty chunk.
            let none = String(id.dropLast()) + "1"
            #expect(try await anna.client.raw("PUT", path(none)).status == 201)
            let empty = PublicAsset(size: 0, root: try AssetTree.root([AssetTree.leaf([])]))
            #expect(try await anna.publicCodes([write("e", empty, blob: none)]) == [nil])
            // Whoever may not read the record may not read its asset.
            var schema = try await server.schema().schema
            schema.types["Note"]?.grants = [.init([.read], to: "_creator")]
            try await server.deploy(schema, to: .development)
            #expect(try await world.raw("GET", path(id)).status == 403)
            #expect(try await anna.client.raw("GET", path(id)).status == 200)
        }
    }

    @Test func anUnsealedAssetStaysOutOfPrivateZones() async throws {
        try await withPeople { anna, _, _ in
            let zone = try await anna.makeZone()
            var (request, _) = try anna.request([Write("a")], in: zone)
            request.records[0].fields[0] = WireField.publicAsset(PublicAsset(size: 1, root: .zero), blob: Digest.zero.hex).wire(name: "body")
            let sent = request
            #expect(try await anna.send(sent, to: zone)[0].code == .invalidArguments)
        }
    }

    @Test func whatIsNotSignedForThisPlaceIsRefused() async throws {
        try await withPeople { anna, bert, _ in
            func code(_ change: (inout Statement) -> Void) async throws -> ErrorCode? {
                let (request, _) = try anna.publicRequest([PublicWrite("a")], change: change)
                var result: ErrorCode?
                if let whole = try await refusal({ result = try await anna.sendPublic(request).results[0].code }) { return whole }
                return result
            }
            #expect(try await code { $0.container = "org.other" } == .invalidArguments)
            #expect(try await code { $0.environment = .production } == .invalidArguments)
            #expect(try await code { $0.owner = anna.user } == .invalidArguments)
            #expect(try await code { $0.zoneName = "other" } == .invalidArguments)
            #expect(try await code { $0.recordName = "b" } == .invalidArguments)
            #expect(try await code { $0.recordType = "Other" } == .invalidArguments)
            #expect(try await code { $0.recordType = Names.shareType } == .invalidArguments)
            #expect(try await code { $0.share = "s" } == .invalidArguments)
            #expect(try await code { $0.parent = "p" } == .invalidArguments)
            #expect(try await code { $0.creator = bert.user } == .invalidArguments)
            #expect(try await code { $0.author = bert.user } == .permissionFailure)
            #expect(try await code { $0.revision = 2; $0.previous = Digest.zero.tweaked } == .unknownItem)
            let stranger = try anna.publicRequest([PublicWrite("a")], signer: bert.keys.signingKey).request
            #expect(try await refusal { try await anna.sendPublic(stranger) } == .integrityFailure)
            // A statement of a zone, signed by the right person, is none of the public database, and the other way round.
            let zone = try await anna.makeZone()
            var (sealed, _) = try anna.request([Write("a")], in: zone)
            sealed.zone = Sealkit_V1_ZoneID()
            let foreign = sealed
            #expect(try await anna.sendPublic(foreign).results[0].code == .invalidArguments)
            var (open, _) = try anna.publicRequest([PublicWrite("a")])
            open.zone = zone.id(for: anna)
            let misplaced = open
            #expect(try await anna.send(misplaced, to: zone)[0].code == .invalidArguments)
            #expect(try await code { _ in } == nil)
        }
    }

    @Test func alteredRequestsAreRefused() async throws {
        try await withPeople { anna, _, _ in
            let (good, _) = try anna.publicRequest([PublicWrite("a"), PublicWrite("b")])
            func code(_ change: (inout Sealkit_V1_ModifyRecordsRequest) -> Void) async throws -> [ErrorCode?] {
                var request = good
                request.operationID = Data(randomBytes(16))
                change(&request)
                let sent = request
                var results: [ErrorCode?] = []
                if let whole = try await refusal({ results = try await anna.sendPublic(sent).results.map(\.code) }) { return [whole] }
                return results
            }
            #expect(try await code { $0.signature[3] ^= 1 } == [.integrityFailure])
            #expect(try await code { $0.records.swapAt(0, 1) } == [.integrityFailure])
            #expect(try await code { $0.records.removeLast() } == [.integrityFailure])
            #expect(try await code { $0.records[1] = $0.records[0] } == [.invalidArguments])
            #expect(try await code { $0.operationID = Data() } == [.invalidArguments])
            #expect(try await code { $0.zone.zoneName = "other" } == [.zoneNotFound])
            #expect(try await code { $0.zone.ownerName = anna.name } == [.zoneNotFound])
            #expect(try await anna.lookupPublic(["a", "b"]).results.map(\.code) == [.unknownItem, .unknownItem])
            #expect(try await code { $0.records[0].fields[0].plain.string = "other" } == [.integrityFailure, nil])
            #expect(try await code { $0.records[0].fields.removeAll() } == [.integrityFailure, .serverRecordChanged])
            #expect(try await code { _ in } == [nil, .serverRecordChanged])
        }
    }

    @Test func thereAreNoZonesNoRostersAndNoFeed() async throws {
        try await withPeople { anna, _, _ in
            for call in ["zones/modify", "zones/lookup", "zones/changes", "records/changes", "rosters/fetch", "rosters/append"] {
                let path = Person.publicPath(call)
                let code = try await refusal {
                    try await anna.client.call(path, Sealkit_V1_LookupZonesRequest(), as: Sealkit_V1_LookupZonesResponse.self)
                }
                #expect(code == .badDatabase, "\(call)")
            }
        }
    }
}

extension Digest {
    /// Another one than this.
    var tweaked: Digest { (try? Digest(bytes.map { $0 ^ 1 })) ?? .zero }
}
