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

extension PublicDatabaseTests {
    // MARK: Refusals

    @Test func writingNeedsAnAccount() async throws {
        try await withPeople { anna, _, server in
            var client = try TestClient(server)
            let request = try anna.publicRequest([PublicWrite("a")]).request
            let nobody = client
            let path = Person.publicPath("records/modify")
            #expect(
                try await refusal { try await nobody.call(path, request, as: Sealkit_V1_ModifyRecordsResponse.self) }
                    == .notAuthenticated)
            // An account without an identity in the container has no name to sign with.
            client.token = try await client.create().token
            let unnamed = client
            #expect(
                try await refusal { try await unnamed.call(path, request, as: Sealkit_V1_ModifyRecordsResponse.self) }
                    == .notAuthenticated)
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
            #expect(refused.code == .permissionFailure)
            #expect(!refused.hasServerRecord)
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
            write.fields = [
                ("body", .stored(.encrypted(.type(ValueType(.string)), sealed: randomBytes(72)), blob: nil))
            ]
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
            request.records[0].fields[0] = WireField.publicAsset(
                PublicAsset(size: 1, root: .zero), blob: Digest.zero.hex
            ).wire(name: "body")
            let sent = request
            #expect(try await anna.send(sent, to: zone)[0].code == .invalidArguments)
        }
    }

    @Test func whatIsNotSignedForThisPlaceIsRefused() async throws {
        try await withPeople { anna, bert, _ in
            func code(_ change: (inout Statement) -> Void) async throws -> ErrorCode? {
                let (request, _) = try anna.publicRequest([PublicWrite("a")], change: change)
                var result: ErrorCode?
                if let whole = try await refusal({ result = try await anna.sendPublic(request).results[0].code }) {
                    return whole
                }
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
            #expect(
                try await code {
                    $0.revision = 2
                    $0.previous = Digest.zero.tweaked
                } == .unknownItem)
            let stranger = try anna.publicRequest([PublicWrite("a")], signer: bert.keys.signingKey).request
            #expect(try await refusal { try await anna.sendPublic(stranger) } == .integrityFailure)
            // A statement of a zone, signed by the right person, is none of the public database, and the other way
            // round.
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
                if let whole = try await refusal({ results = try await anna.sendPublic(sent).results.map(\.code) }) {
                    return [whole]
                }
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
            for call in [
                "zones/modify", "zones/lookup", "zones/changes", "records/changes", "rosters/fetch", "rosters/append",
            ] {
                let path = Person.publicPath(call)
                let code = try await refusal {
                    try await anna.client.call(
                        path, Sealkit_V1_LookupZonesRequest(), as: Sealkit_V1_LookupZonesResponse.self)
                }
                #expect(code == .badDatabase, "\(call)")
            }
        }
    }
}
