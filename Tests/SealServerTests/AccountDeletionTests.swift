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

@Suite(.timeLimit(.minutes(60))) struct AccountDeletionTests {
    static let path = "/1/accounts/delete"

    func request(
        _ client: TestClient, challenge: [UInt8]? = nil, signer: SigningKey? = nil, origin: String? = nil,
        asLogin: Bool = false
    ) async throws -> Sealkit_V1_DeleteAccountRequest {
        let given: [UInt8]
        if let challenge { given = challenge } else { given = try await client.challenge() }
        let (time, origin) = (client.server.clock.now, origin ?? client.server.origin)
        let signed =
            asLogin
            ? Challenges.login(origin: origin, challenge: given, time: time)
            : Challenges.deletion(origin: origin, challenge: given, time: time)
        return .with {
            $0.loginKey = Data(client.loginKey.verificationKey.bytes)
            $0.challenge = Data(given)
            $0.time = time
            $0.signature = Data((signer ?? client.loginKey).sign(signed))
        }
    }

    func send(_ request: Sealkit_V1_DeleteAccountRequest, _ client: TestClient) async throws
        -> Sealkit_V1_DeleteAccountResponse
    {
        try await client.call(Self.path, request, as: Sealkit_V1_DeleteAccountResponse.self, token: "")
    }

    func delete(_ client: TestClient) async throws -> Sealkit_V1_DeleteAccountResponse {
        try await send(try await request(client), client)
    }

    func waitUntilErased(_ server: RunningServer) async throws {
        try await waitUntil("the account is erased") {
            try await server.services.database.read {
                try !$0.exists("SELECT 1 FROM account_deletion UNION ALL SELECT 1 FROM blob_garbage")
            }
        }
    }

    // MARK: Refusals

    @Test func onlyTheLoginKeyDeletesAndOnlyAsADeletion() async throws {
        try await RunningServer.with { server in
            let client = try await TestClient.ready(server)
            let other = try await TestClient.ready(server)
            let good = try await request(client)
            let refused = [
                "a login": try await request(client, asLogin: true),
                "another's key": try await request(client, signer: other.loginKey),
                "another origin": try await request(client, origin: "https://evil.example"),
                "another's challenge": try await request(client, challenge: other.challenge()),
                "no challenge": try await request(client, challenge: []),
            ]
            for (what, request) in refused {
                try await expectRefusal(.notAuthenticated, "\(what)") { try await send(request, client) }
            }
            // A session is no proof.
            let bare = Sealkit_V1_DeleteAccountRequest.with { $0.loginKey = good.loginKey }
            try await expectRefusal(.notAuthenticated) {
                try await client.call(Self.path, bare, as: Sealkit_V1_DeleteAccountResponse.self)
            }
            // Nor is a deletion's signature a login.
            var login = try await client.loginRequest(challenge: [UInt8](good.challenge))
            (login.time, login.signature) = (good.time, good.signature)
            let disguised = login
            try await expectRefusal(.notAuthenticated) { try await client.login(disguised) }
            #expect(try await client.me().account.count == 32)
            let stranger = try TestClient(server)
            try await expectRefusal(.unknownItem) { try await delete(stranger) }

            _ = try await send(good, client)
            try await expectRefusal(.notAuthenticated, "a used challenge") { try await send(good, client) }
            #expect(try await other.me().account.count == 32)
        }
    }

    @Test func itsNamesAreNobodysAgain() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            let lookup = Sealkit_V1_LookupIdentitiesRequest.with {
                $0.container = TestClient.container
                $0.handles = [.with { $0.userRecordName = anna.name }]
            }
            func found() async throws -> Bool {
                try await bert.client.call("/1/directory/lookup", lookup, as: Sealkit_V1_LookupIdentitiesResponse.self)
                    .results[0].hasChain
            }
            #expect(try await found())
            let stream = try await anna.listen()
            _ = try await delete(anna.client)
            let end = try await stream.next()
            #expect(end.name == "end")
            #expect(try await !found())
            try await expectRefusal(.serverRejectedRequest) { try await anna.client.create() }
            try await waitUntilErased(server)
            try await expectRefusal(.serverRejectedRequest) { try await anna.client.create() }
            try await expectRefusal(.unknownItem) { try await anna.client.login() }
            // Not even with the identity's own keys, in another account.
            var thief = try TestClient(server)
            thief.token = try await thief.create().token
            let other = thief
            try await expectRefusal(.serverRejectedRequest) {
                try await other.register(chain: anna.chain.wire, signer: anna.keys.signingKey)
            }
        }
    }

    /// Nobody is named by a role who is nobody any more.
    @Test func itsRolesGo() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            try await boss.importing("DEFINE SCHEMA CREATE ROLE Editor;")
            for person in [anna, bert] { try await boss.assign("Editor", person.name) }
            #expect(try await boss.roles().assignments.count == 2)
            _ = try await delete(anna.client)
            #expect(try await boss.roles().assignments.map(\.userRecordName) == [bert.name])
        }
    }

    /// The end of a share is signed, and the server cannot sign it.
    @Test func sharesEndBefore() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert, .readWrite)
            try await expectRefusal(.constraintViolation) { try await delete(anna.client) }
            try await expectRefusal(.constraintViolation) { try await delete(bert.client) }
            #expect(try await anna.client.me().identities.count == 1)
            let shared = zone
            _ = try await bert.save([Write("his")], in: shared)

            // He leaves; what he wrote stays, and so does his name in the roster.
            let leaving = bert.author.plain(.leave, on: zone.roster, time: 1)
            _ = try await bert.send(bert.appendRequest(leaving, to: zone), to: zone)
            _ = try await delete(bert.client)
            try await waitUntilErased(server)
            let roster = try await anna.fetchRoster(shared)
            let (hers, his) = (try await ids(anna, server), try await ids(bert, server))
            #expect(his.account < 0)
            let hisRows = try await rows(-his.account, [his.identity], names: [bert.name], server)
            #expect(hisRows["zone_view"] == nil)
            #expect(try await anna.lookup(["his"], in: shared).results[0].code == nil)

            // She deletes the zone; of it stays what shows its end to whoever saw it. He is gone, so nobody is left.
            var closing = shared
            let entries = roster.entries.map { SignedRosterEntry($0) }
            closing.roster = try #require(try Roster(replaying: entries, scope: shared.roster.scope))
            let ended = try await anna.deleteZone(closing)
            #expect(ended.deleted)
            _ = try await delete(anna.client)
            try await waitUntilErased(server)
            let left = try await rows(hers.account, [hers.identity], names: [anna.name], server)
            #expect(Set(left.keys).isSubset(of: Self.kept), "\(left)")
        }
    }

    /// What a deleted account has left for one more person to see the end of goes with that person.
    @Test func whatOnlyOneMoreHadSeenGoesWithThatOne() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert, .readWrite)
            let leaving = bert.author.plain(.leave, on: zone.roster, time: 1)
            _ = try await bert.send(bert.appendRequest(leaving, to: zone), to: zone)
            let shared = zone
            let entries = try await anna.fetchRoster(shared).entries.map { SignedRosterEntry($0) }
            zone.roster = try #require(try Roster(replaying: entries, scope: shared.roster.scope))
            #expect(try await anna.deleteZone(zone).deleted)
            let hers = try await ids(anna, server)
            _ = try await delete(anna.client)
            try await waitUntilErased(server)
            // He may come back and ask what became of it.
            #expect(try await rows(hers.account, [hers.identity], names: [anna.name], server)["roster_entry"] != nil)
            _ = try await delete(bert.client)
            try await waitUntilErased(server)
            let left = try await rows(hers.account, [hers.identity], names: [anna.name], server)
            #expect(Set(left.keys).isSubset(of: Self.kept), "\(left)")
        }
    }

    /// However many zones an account has had, closing it changes those alone that are open.
    @Test(.withDatabaseFile) func zonesThatHaveEndedAreLeftAsTheyAre() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone()
            let key = anna.client.loginKey.verificationKey
            let changed = try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence,
                        head, participants, closed)
                    SELECT owner, zone + i, container, environment, owner_name, name || i, position, incarnation, sequence,
                        head, participants, 1
                    FROM zone CROSS JOIN n
                    """)
                try connection.execute("CREATE TABLE touched (zone BIGINT)")
                try connection.execute(
                    "CREATE TRIGGER touching AFTER UPDATE ON zone BEGIN INSERT INTO touched VALUES (NEW.zone); END")
                _ = try AccountDeletion.close(key, now: 1, in: connection)
                let count = try connection.first("SELECT COUNT(*) AS n FROM touched") { try $0.int64("n") }
                try connection.runScript("DROP TRIGGER touching; DROP TABLE touched;")
                return count
            }
            #expect(changed == 1)
            try await server.services.jobs.run(.erasure)
            #expect(try await count("zone", server) == 0)
        }
    }

    // MARK: Cut short

    @Test func anErasureThatWasCutShortGoesOnAtTheNextStart() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            for part in 0..<3 { _ = try await anna.save((0..<400).map { Write("\(part)-\($0)") }, in: zone) }
            // Closed, and killed before anything more.
            let (key, database) = (anna.client.loginKey.verificationKey, server.services.database)
            _ = try await database.write(at: .everything) { try AccountDeletion.close(key, now: 1, in: $0) }
            // A few steps: each takes no more than it may, and others write in between.
            let bert = try await Person.ready(server)
            let his = try await bert.makeZone("his")
            for number in 0..<2 {
                let before = try await count("record", server)
                let isMore = try await database.write(at: .everything) { connection in
                    let account = try #require(try AccountErasure.first(in: connection))
                    return try AccountErasure(account: account, connection: connection).step()
                }
                #expect(isMore)
                let taken = before - (try await count("record", server))
                #expect(taken > 0)
                #expect(taken <= Int64(AccountErasure.batch))
                _ = try await bert.save([Write("\(number)")], in: his)
            }
            let rest = try await count("record", server)
            #expect(rest > 2)
            try await expectRefusal(.unknownItem) { try await anna.client.login() }
        }
        try await RunningServer.with(folder: folder) { server in
            try await waitUntilErased(server)
            #expect(try await count("record", server) == 2)
            #expect(try await count("zone", server) == 1)
        }
    }

    func count(_ table: String, _ server: RunningServer) async throws -> Int64 {
        let count = try await server.services.database.read {
            try $0.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") }
        }
        return try #require(count)
    }
}
