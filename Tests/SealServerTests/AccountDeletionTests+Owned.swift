import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// That erasure empties every table that is keyed by an owner, each of which was filled by using the server.
extension AccountDeletionTests {
    private static let webhooks = "http://127.0.0.1:9"

    /// A row in each table that `fill` leaves out.
    private func fillWhatIsOwned(_ anna: Person, _ server: RunningServer) async throws {
        _ = try await fill(anna, server)
        // What went with a target, and an upload that is not whole.
        let plain = try await anna.makeZone("plain")
        let target = try await anna.save([Write("t"), Write("s").going(with: "t")], in: plain)[0]
        let gone = try await anna.saveCovering([Write(after: target, kind: .delete)], in: plain)
        #expect(gone[0].result.code == nil)
        let upload = UploadTests.Upload(anna, plain, bytes: 128 * 65_536 + 1)
        _ = try await upload.begin()
        #expect(try await upload.put(0).status == 201)
        try await fillHierarchies(anna)
        try await fillSharing(anna, server)
        var hook = Sealkit_V1_Subscription.query("hook")
        hook.webhook = Self.webhooks + "/notes"
        try await anna.subscribe(hook)
        // What is left of a large zone is noted here, and its job takes it away again at once.
        let (_, identity) = try await ids(anna, server)
        _ = try await server.services.database.write(at: .everything) { connection in
            try connection.execute(
                "INSERT INTO zone_remains (owner, zone) SELECT owner, zone FROM zone WHERE owner = $1 LIMIT 1",
                [.integer(identity)])
            // As if more saw the zone than are told at once.
            try connection.execute(
                "INSERT INTO zone_touch (owner, zone, share, position) SELECT owner, zone, 0, position FROM zone WHERE owner = $1",
                [.integer(identity)])
        }
    }

    /// A share below another record, with a child that left it and one that is still to come; a share that has ended.
    private func fillHierarchies(_ anna: Person) async throws {
        let zone = try await anna.makeZone("trees")
        let saved = try await anna.save(
            [
                Write("above"), Write("root", parent: "above"), Write("child", parent: "root"),
                Write("second", parent: "root"), Write("other"), Write("leaf", parent: "other"),
            ], in: zone)
        func current(_ name: String) async throws -> SavedRecord {
            try SavedRecord(try await anna.lookup([name], in: zone).results[0].record)
        }
        let (share, opening) = try anna.newShare("share", root: "root", in: zone)
        var writes = anna.sharing(try await current("root"), as: "share", in: zone, share)
        writes[1].write.parent = "above"
        #expect(try await anna.save(writes, opening: [opening]).map(\.result.code) == [nil, nil])
        let came = try await anna.save([HierarchyTests.move(saved[2], from: zone, to: share, parent: "root")])[0]
        #expect(came.result.code == nil)
        let left = try await anna.save([HierarchyTests.move(came, from: share, to: zone, parent: nil)])[0]
        #expect(left.result.code == nil)
        let ended = try await anna.makeShare(of: try await current("other"), "ended", in: zone)
        var end = Write(after: ended.record, kind: .delete)
        end.type = Names.shareType
        let root = HierarchyTests.move(ended.root, from: ended.share, to: zone, parent: nil)
        let done = try await anna.save(
            [PlacedWrite(end, in: ended.share), root], closing: [anna.closing(ended.share)])
        #expect(done.map(\.result.code) == [nil, nil])
    }

    /// A seat for an address, a URL for everybody with a copy of it, and somebody who asks to take part.
    private func fillSharing(_ anna: Person, _ server: RunningServer) async throws {
        let carl = try await Person.ready(server)
        var zone = try await anna.makeSharedZone("open")
        let seat = try anna.invitation(to: nil, in: zone)
        try await anna.append(
            try anna.next(on: zone, invitations: [seat.draft]), to: &zone, links: [seat.link],
            addresses: [(seat.keys.id, "dora@example.org")])
        let link = Sealkit_V1_Link.with { $0.routingID = Data(randomBytes(16)) }
        try await anna.append(
            try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone, links: [link])
        try await anna.updateLinks(zone, .with { $0.sealedLinks = [anna.sealedLink()] })
        try await anna.updateAccess(zone, allows: true)
        try await carl.ask([UInt8](link.routingID))
    }

    /// How many rows an identity owns, by table.
    private func owned(by identity: Int64, _ server: RunningServer) async throws -> [String: Int64] {
        try await server.services.database.read { connection in
            let tables = try connection.columnsOfTables().filter {
                $0.value.contains("owner") && $0.key != "server_key"
            }
            var counts: [String: Int64] = [:]
            for table in tables.keys {
                let count = try connection.first(
                    "SELECT COUNT(*) AS count FROM \(table) WHERE owner = $1", [.integer(identity)]
                ) { try $0.int64("count") }
                if let count, count > 0 { counts[table] = count }
            }
            return counts
        }
    }

    /// With the commit that closes the account, before anything is erased step by step.
    @Test func whatFindsItsZonesAndItsRolesGoAtOnce() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            for person in [anna, bert] {
                var zone = try await person.makeZone("open")
                let link = Sealkit_V1_Link.with { $0.routingID = Data(randomBytes(16)) }
                try await person.append(
                    try person.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone,
                    links: [link])
            }
            let berts = try await ids(bert, server).identity
            try await server.services.database.write(at: .everything) { connection in
                // Seats for addresses keep an account from being deleted: the server has left this one behind.
                try connection.execute(
                    """
                    INSERT INTO placeholder_address (owner, zone, share, invitation, address_hash)
                    SELECT owner, zone, 0, $1, $2 FROM zone WHERE name = 'open'
                    """, [.blob([1]), .blob([2])])
                for user in [anna.user, bert.user] {
                    try RoleAssignments.assign("editor", to: user, TestClient.container, .production, in: connection)
                }
            }
            let left = try await server.services.database.write(at: .everything) { connection in
                #expect(
                    try AccountDeletion.close(anna.client.loginKey.verificationKey, now: 1, in: connection).count == 1)
                return try ["link", "placeholder_address", "role_assignment"].map { table in
                    let whose = table == "role_assignment" ? "user_name" : "owner"
                    return try connection.rows("SELECT CAST(\(whose) AS TEXT) AS whose FROM \(table)") {
                        try $0.text("whose")
                    }
                }
            }
            #expect(left == [["\(berts)"], ["\(berts)"], [bert.name]])
        }
    }

    @Test func everyTableOfWhatIsOwnedIsFilledAndEmptied() async throws {
        try await RunningServer.with(webhookOrigins: [Self.webhooks]) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let his = try await bert.makeZone("his")
            _ = try await bert.save([Write("a"), Write("b").going(with: "a")], in: his)
            try await fillWhatIsOwned(anna, server)
            let ((account, identity), berts) = (try await ids(anna, server), try await ids(bert, server))
            let bertsBefore = try await owned(by: berts.identity, server)
            let before = try await owned(by: identity, server)
            // What is searched is there with an index alone.
            for table in AccountErasure.owned where table.name != "search_document" {
                #expect(before[table.name] ?? 0 > 0, "\(table.name) is not filled")
            }
            // As if the account had just been closed; the product has its shares ended before, and empties some of
            // these tables then already.
            _ = try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "INSERT INTO account (id, name, created) VALUES ($1, $2, 0)",
                    [.integer(-account), .text("deleted-\(account)")])
                try connection.execute(
                    "UPDATE identity SET account = $2 WHERE account = $1", [.integer(account), .integer(-account)])
                try StorageUsage.close(account, in: connection)
                try connection.execute(
                    "INSERT INTO account_deletion (account, swept) VALUES ($1, 0)", [.integer(account)])
            }
            try await server.services.jobs.run(.erasure)
            let left = try await owned(by: identity, server)
            #expect(left.isEmpty, "\(left)")
            #expect(try await owned(by: berts.identity, server) == bertsBefore)
        }
    }
}
