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

/// That nothing is left of a deleted account.
extension AccountDeletionTests {
    /// Columns that say whose a row is, or name somebody, as tables are declared. What an account leaves in those of a
    /// new table is filled below.
    static let ownership: [String: Set<String>] = Dictionary(
        uniqueKeysWithValues: Tables.all.map { table in
            (table.name, Set([table.whose.column].compactMap { $0 } + table.mentions.map(\.column)))
        }
    ).filter { !$0.value.isEmpty }

    /// What stays: the names, so that nobody else gets them, and a number that says nothing.
    static let kept: Set<String> = ["login_key", "identity", "account"]

    static let telling: Set<String> = [
        "account", "owner", "viewer", "uploader", "requester", "zone_owner", "user_name", "subscriber",
    ]

    @Test func everyTableThatSaysWhoseARowIsHasBeenLookedAt() async throws {
        try await RunningServer.with { server in
            let columns = try await server.services.database.read { try $0.columnsOfTables() }
            var found = columns.mapValues { $0.intersection(Self.telling) }.filter { !$0.value.isEmpty }
            // The account itself.
            found["account"] = ["id"]
            #expect(found == Self.ownership)
        }
    }

    /// Rows of an account and of its identities, by table.
    func rows(_ account: Int64, _ identities: [Int64], names: [String], _ server: RunningServer) async throws
        -> [String: Int64]
    {
        try await server.services.database.read { connection in
            let ids = identities.map(String.init).joined(separator: ", ")
            let texts = names.map { "'\($0)'" }.joined(separator: ", ")
            var counts: [String: Int64] = [:]
            for (table, columns) in Self.ownership {
                let condition = columns.map { column in
                    switch column {
                    case "account", "id": "\(column) = \(account)"
                    // The key's owner is an account; elsewhere an owner is one of its identities.
                    case "owner" where table == "server_key": "owner = \(account)"
                    case "user_name": "user_name IN (\(texts))"
                    default: "\(column) IN (\(ids))"
                    }
                }.joined(separator: " OR ")
                let count = try connection.first("SELECT COUNT(*) AS count FROM \(table) WHERE \(condition)") {
                    try $0.int64("count")
                }
                if let count, count > 0 { counts[table] = count }
            }
            return counts
        }
    }

    func ids(_ person: Person, _ server: RunningServer) async throws -> (account: Int64, identity: Int64) {
        let name = person.name
        let found = try await server.services.database.read { connection in
            try connection.first("SELECT account, id FROM identity WHERE user_name = $1", [.text(name)]) {
                (account: try $0.int64("account"), identity: try $0.int64("id"))
            }
        }
        return try #require(found)
    }

    func files(_ server: RunningServer) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: server.folder.file("data/blobs")).filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: server.folder.file("data/blobs/\(path)"), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    /// Something in as many tables as one person fills.
    func fill(_ anna: Person, _ server: RunningServer) async throws -> TestZone {
        let assets = AssetTests()
        let zone = try await anna.makeZone("notes")
        let bundle = Sealkit_V1_RecoveryBundle.with {
            $0.recoveryID = Data(randomBytes(16))
            $0.sealed = Data([1, 2, 3])
        }
        _ = try await anna.client.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
        let sent = server.mail.sent.count
        let mailed = try await anna.client.begin("\(anna.name)@example.org")
        _ = try await anna.client.complete(
            mailed.verificationID, try await server.mail.code(sent + 1), signer: anna.keys.signingKey)
        _ = try await anna.client.begin("other\(anna.name)@example.org")
        try await anna.subscribe(.query())
        try await anna.subscribe(.database())
        let other = try await anna.onAnotherDevice()
        let blob = try await assets.upload(anna, [UInt8](repeating: 1, count: 300), in: zone)
        _ = try await assets.upload(anna, randomBytes(60), in: zone)
        _ = try await other.save(
            [try assets.write("photo", blob: blob), Write("a"), Write("b").going(with: "a")], in: zone)
        #expect(try await anna.publicCodes([PublicWrite("published", type: "Post")]) == [nil])
        let key = try await ServerKeyClient.ready(by: anna)
        #expect(try await key.save([PublicWrite("imported-\(anna.name)", type: "Post")])[0].result.code == nil)
        return zone
    }

    @Test func nothingIsLeftInAnyTableOrFolder() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            let hers = try await fill(anna, server)
            let before = try files(server)
            let his = try await bert.makeZone("his")
            let blob = try await AssetTests().upload(bert, [UInt8](repeating: 2, count: 300), in: his)
            _ = try await bert.save([try AssetTests().write("photo", blob: blob), Write("a")], in: his)
            let (account, identity) = try await ids(anna, server)
            let berts = try await ids(bert, server)
            let bertsRows = try await rows(berts.account, [berts.identity], names: [bert.name], server)

            let found = try await rows(account, [identity], names: [anna.name], server)
            let filled: Set<String> = [
                "account", "login_key", "session", "device", "recovery_bundle", "identity", "linked_address",
                "verification", "zone", "zone_view",
                "roster_entry", "epoch_grant", "record", "blob", "operation", "server_key", "delete_reference",
                "subscription",
                "notification_feed", "notification", "record_index", "storage_usage",
            ]
            #expect(filled.subtracting(found.keys).isEmpty, "\(found.keys)")
            #expect(!before.isEmpty, "\(found.keys)")

            _ = try await delete(anna.client)
            // Closed at once, whatever is left to erase.
            try await expectRefusal(.sessionExpired) { try await anna.client.me() }
            try await expectRefusal(.sessionExpired) { try await anna.lookup(["a"], in: hers) }
            try await expectRefusal(.unknownItem) { try await anna.client.login() }
            try await waitUntilErased(server)
            let left = try await rows(account, [identity], names: [anna.name], server)
            // Names, and a number that is not given out again.
            #expect(Set(left.keys).isSubset(of: Self.kept), "\(left)")
            let keyRows = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM account WHERE created > 0 OR length(name) = 32") {
                    try $0.int64("count")
                }
            }
            #expect(keyRows == 1, "neither the account is left nor that of its server-to-server key")
            // Of the files, Bert's is there.
            let after = try files(server)
            #expect(after.count == 1)
            #expect(Set(after).isDisjoint(with: before))
            #expect(try await rows(berts.account, [berts.identity], names: [bert.name], server) == bertsRows)
            #expect(try await bert.lookup(["a"], in: his).results[0].code == nil)

            // What she published stays, and verifies.
            let answer = try await TestClient(server).lookupPublic(["published", "imported-\(anna.name)"])
            #expect(answer.results.map(\.code) == [nil, nil])
            for result in answer.results { try Person.verifyPublic(result.record, authors: answer.authors) }
            // Once more: the same answer.
            #expect(try await delete(anna.client).erased)
        }
    }

    /// What she has left with others goes too: what she asked of them, what she sent and never used, and where she was.
    @Test func nothingIsLeftOfHerInOthersZones() async throws {
        let folder = TemporaryFolder()
        let kept = RestoredServerTests.Box<(anna: Person, before: [String])>()
        try await RunningServer.with(folder: folder) { server in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            // A request for access, with her contact in it.
            var open = try await bert.makeSharedZone("open")
            try await bert.share(&open, with: carl)
            let routing = [UInt8](try await bert.links(open).links[0].routingID)
            try await bert.updateAccess(open, allows: true)
            try await anna.ask(routing)
            // An upload that no record came for, beside one of his own, in a zone that she wrote in; then she leaves
            // it.
            var his = try await bert.makeSharedZone("his")
            try await bert.share(&his, with: anna)
            _ = try await AssetTests().upload(bert, randomBytes(60), in: his)
            let before = try files(server)
            _ = try await AssetTests().upload(anna, randomBytes(60), in: his)
            try await anna.append(anna.author.plain(.leave, on: his.roster, time: 5), to: &his)
            kept.value = (anna, before)
        }
        // Each start notes how far the feeds had come in the run before.
        try await RunningServer.with(folder: folder) { server in
            let (anna, before) = try kept.held()
            let (account, identity) = try await ids(anna, server)
            let found = try await rows(account, [identity], names: [anna.name], server)
            #expect(Set(found.keys).isSuperset(of: ["access_request", "blob", "view_run", "zone_view"]), "\(found)")
            _ = try await delete(anna.at(server).client)
            try await waitUntilErased(server)
            let left = try await rows(account, [identity], names: [anna.name], server)
            #expect(Set(left.keys).isSubset(of: Self.kept), "\(left)")
            #expect(try files(server) == before)
        }
    }
}
