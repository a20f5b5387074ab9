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

@Suite(.timeLimit(.minutes(60))) struct ServerKeyTests {
    func withKey(_ body: @Sendable (_ owner: Person, ServerKeyClient, RunningServer) async throws -> Void) async throws
    {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await body(anna, try await ServerKeyClient.ready(by: anna), server)
        }
    }

    private static let lookup = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] }

    // MARK: Keys

    @Test func aKeyIsAUserOfItsOwn() async throws {
        try await withKey { anna, key, server in
            let saved = try await key.save([PublicWrite("a")])[0]
            #expect(saved.result.code == nil)
            #expect(saved.creator == key.user)
            // Neither is the account that made it the creator, nor the key the account.
            #expect(try await anna.publicCodes([PublicWrite(after: saved)]) == [.permissionFailure])
            let hers = try await anna.savePublic([PublicWrite("b")])[0]
            #expect(try await key.save([PublicWrite(after: hers)])[0].result.code == .permissionFailure)
            #expect(try await key.save([PublicWrite(after: saved)])[0].result.code == nil)
            #expect(try await key.save([PublicWrite(key.user.recordName, type: "Users")])[0].result.code == nil)
            #expect(try await key.save([PublicWrite(anna.name, type: "Users")])[0].result.code == .permissionFailure)
            // The world verifies what it signed.
            let answer = try await TestClient(server).lookupPublic(["a"])
            #expect(
                try Person.verifyPublic(answer.results[0].record, authors: answer.authors).statement.author == key.user)
        }
    }

    @Test func keysAreListedAndRevokedByTheirAccountAlone() async throws {
        try await withKey { anna, key, server in
            let bert = try await Person.ready(server)
            let keys = try await anna.serverKeys()
            #expect(
                keys.map(\.userRecordName) == [key.user.recordName] && keys[0].name == "importer"
                    && keys[0].created == server.clock.now)
            #expect(try await bert.serverKeys().isEmpty)
            #expect(try await refusal { try await bert.revokeServerKey(key.user) } == .unknownItem)
            #expect(try await key.send(try key.call(Person.publicPath("records/lookup"), Self.lookup)).code == nil)
            _ = try await key.save([PublicWrite("a")])
            _ = try await anna.revokeServerKey(key.user)
            // At once, on every route; what it saved stays.
            #expect(
                try await key.send(try key.call(Person.publicPath("records/lookup"), Self.lookup)).code
                    == .notAuthenticated)
            #expect(try await anna.serverKeys().isEmpty)
            #expect(try await refusal { try await anna.revokeServerKey(key.user) } == .unknownItem)
            let answer = try await TestClient(server).lookupPublic(["a"])
            try Person.verifyPublic(answer.results[0].record, authors: answer.authors)
            // The same user is not made again, by nobody.
            #expect(
                try await refusal { try await anna.createServerKey(key.chain, signer: key.key) }
                    == .serverRejectedRequest)
        }
    }

    @Test func theSameKeyTwiceIsOneKey() async throws {
        try await withKey { anna, key, _ in
            let first = try await anna.serverKeys()
            #expect(try await anna.createServerKey(key.chain, signer: key.key) == first[0])
            #expect(try await anna.serverKeys() == first)
        }
    }

    @Test func whatIsNoKeyIsRefused() async throws {
        try await withKey { anna, key, server in
            let bert = try await Person.ready(server)
            let fresh = try ServerKeyClient(server)
            func code(
                _ chain: IdentityChain, name: String = "n", signer: SigningKey,
                path: String = Person.publicPath("server-keys/create"),
                by person: Person? = nil
            ) async throws -> ErrorCode? {
                try await refusal {
                    try await (person ?? anna).createServerKey(chain, name: name, signer: signer, call: path)
                }
            }
            #expect(try await code(fresh.chain, name: "", signer: fresh.key) == .invalidArguments)
            #expect(
                try await code(fresh.chain, name: String(repeating: "n", count: 256), signer: fresh.key)
                    == .invalidArguments)
            #expect(try await code(fresh.chain, name: "a\nb", signer: fresh.key) == .invalidArguments)
            // Somebody else's identity, an account's or a key's, is not made one's key.
            #expect(try await code(bert.chain, signer: anna.keys.signingKey) == .integrityFailure)
            #expect(try await code(bert.chain, signer: bert.keys.signingKey) == .serverRejectedRequest)
            #expect(try await code(anna.chain, signer: anna.keys.signingKey) == .serverRejectedRequest)
            #expect(try await code(key.chain, signer: key.key, by: bert) == .serverRejectedRequest)
            #expect(try await code(fresh.chain, signer: key.key) == .integrityFailure)
            let other = "/database/1/org.example.other/development/public/server-keys/create"
            #expect(try await code(fresh.chain, signer: fresh.key, path: other) == .integrityFailure)
            for call in ["create", "list", "revoke"] {
                let path = anna.path("server-keys/\(call)")
                #expect(try await code(fresh.chain, signer: fresh.key, path: path) == .badDatabase, "\(call)")
                let world = try TestClient(server)
                let open = Person.publicPath("server-keys/\(call)")
                #expect(
                    try await refusal {
                        try await world.call(
                            open, Sealkit_V1_ListServerKeysRequest(), as: Sealkit_V1_ListServerKeysResponse.self)
                    } == .notAuthenticated, "\(call)")
            }
            #expect(try await code(fresh.chain, signer: fresh.key) == nil)
        }
    }

    @Test func anAccountHasSoManyKeys() async throws {
        try await withKey { anna, _, server in
            for _ in 1..<ServerKeys.mostPerAccount { _ = try await ServerKeyClient.ready(by: anna) }
            let last = try ServerKeyClient(server)
            #expect(
                try await refusal { try await anna.createServerKey(last.chain, signer: last.key) } == .limitExceeded)
            _ = try await anna.revokeServerKey(try UserID(recordName: try await anna.serverKeys()[0].userRecordName))
            #expect(try await refusal { try await anna.createServerKey(last.chain, signer: last.key) } == nil)
        }
        var limits = AbuseLimits()
        limits.serverKeyCreation = RateLimiter.Rule(count: 1, window: 60_000_000)
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            _ = try await ServerKeyClient.ready(by: anna)
            let next = try ServerKeyClient(server)
            #expect(
                try await refusal { try await anna.createServerKey(next.chain, signer: next.key) }
                    == .requestRateLimited)
        }
    }

    // MARK: Reach

    @Test func aKeyReachesItsOwnPublicDatabaseAndNothingElse() async throws {
        try await withKey { _, key, _ in
            let container = TestClient.container
            for path in [
                "/database/1/\(container)/development/private/records/lookup",
                "/database/1/\(container)/development/shared/records/lookup",
                "/database/1/\(container)/production/public/records/lookup",
                "/database/1/org.example.other/development/public/records/lookup",
                "/database/1/\(container)/development/private/zones/lookup",
                // The same place, written otherwise.
                "/database/1/\(container.replacing(".", with: "%2E"))/development/public/records/lookup",
                "/1/accounts/identity", "/1/accounts/challenge", "/1/share/metadata", "/healthz",
                Person.publicPath("server-keys/create"), Person.publicPath("server-keys/list"),
                Person.publicPath("server-keys/revoke"), Person.publicPath("records/changes"),
            ] {
                let call = try key.call(path, Self.lookup)
                #expect(try await key.send(call).code == .permissionFailure, "\(path)")
            }
            #expect(try await key.send(try key.call(Person.publicPath("records/lookup"), Self.lookup)).code == nil)
        }
    }

    // MARK: Signatures

    @Test func everyPartOfARequestIsSigned() async throws {
        try await withKey { anna, key, server in
            let other = try await ServerKeyClient.ready(by: anna)
            let path = Person.publicPath("records/lookup")
            func code(
                origin: String? = nil, signer: SigningKey? = nil, _ change: (inout ServerKeyClient.Call) throws -> Void
            ) async throws -> ErrorCode? {
                let signed = try key.call(path, Self.lookup)
                var sent = signed
                try change(&sent)
                var headers = try key.headers(signed, origin: origin, signer: signer)
                headers[0].1 = sent.user.recordName
                headers[1].1 = sent.date
                headers[2].1 = Hex.encode(sent.nonce)
                return try await key.send(sent, headers: headers).code
            }
            #expect(try await code { $0.path = Person.publicPath("records/modify") } == .notAuthenticated)
            #expect(try await code { $0.path += "?x=1" } == .notAuthenticated)
            #expect(
                try await code {
                    $0.body = try Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["b"] }.serializedBytes()
                } == .notAuthenticated)
            #expect(try await code { $0.body.append(0) } == .notAuthenticated)
            #expect(try await code { $0.method = "PUT" } == .notAuthenticated)
            #expect(
                try await code { $0.date = ServerRequests.date(at: server.clock.now + 1_000_000) } == .notAuthenticated)
            #expect(try await code { $0.nonce[5] ^= 1 } == .notAuthenticated)
            #expect(try await code { $0.user = other.user } == .notAuthenticated)
            #expect(try await code(origin: "https://elsewhere.example.org") { _ in } == .notAuthenticated)
            #expect(try await code(signer: other.key) { _ in } == .notAuthenticated)
            #expect(try await code { $0.user = anna.user } == .notAuthenticated)
            #expect(try await code { _ in } == nil)
        }
    }

    @Test func headersHaveOneForm() async throws {
        try await withKey { anna, key, _ in
            let call = try key.call(Person.publicPath("records/lookup"), Self.lookup)
            func code(_ change: (inout [(String, String)]) -> Void) async throws -> ErrorCode? {
                var headers = try key.headers(call)
                change(&headers)
                return try await key.send(call, headers: headers).code
            }
            for index in 0..<4 {
                #expect(try await code { $0.remove(at: index) } == .invalidArguments)
                #expect(try await code { $0.append($0[index]) } == .invalidArguments)
                #expect(try await code { $0[index].1 = "" } == .invalidArguments)
                #expect(try await code { $0[index].1 += "0" } == .invalidArguments)
                #expect(
                    try await code { $0[index].1 = $0[index].1.uppercased().replacing("Z", with: "z") }
                        == .invalidArguments)
            }
            #expect(try await code { $0[0].1 = anna.client.token } == .invalidArguments)
            for date in [
                "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01 00:00:00Z",
                "1969-12-31T23:59:59Z",
            ] {
                #expect(try await code { $0[1].1 = date } == .invalidArguments, "\(date)")
            }
            // Signed, or with a session: not both.
            #expect(
                try await key.send(call, headers: key.headers(call), token: anna.client.token).code == .invalidArguments
            )
            #expect(try await code { _ in } == nil)
        }
    }

    @Test func aRequestIsGoodForTenMinutesEitherWay() async throws {
        try await withKey { _, key, server in
            // To the second: the server's clock stands on one in tests.
            for (seconds, expected) in [
                (-601, ErrorCode.notAuthenticated), (-600, nil), (600, nil), (601, .notAuthenticated),
            ] as [(Int64, ErrorCode?)] {
                var call = try key.call(Person.publicPath("records/lookup"), Self.lookup)
                call.date = ServerRequests.date(at: server.clock.now + seconds * 1_000_000)
                let answer = try await key.send(call)
                #expect(answer.code == expected, "\(seconds)")
                if expected != nil { #expect(answer.reason.contains(ServerRequests.date(at: server.clock.now))) }
            }
        }
    }

    @Test func aRequestIsGoodOnceAlsoAfterARestart() async throws {
        let folder = TemporaryFolder()
        let kept = Kept()
        try await RunningServer.with(publicOrigin: "https://notes.example.org", folder: folder) { server in
            let key = try ServerKeyClient(server)
            // Straight into the database: this origin is nobody's that a test could log in to.
            try await server.services.database.write(at: .everything) { connection in
                let owner = Session(
                    accountID: try Accounts.insert(name: "owner", shard: 1, now: 0, in: connection), tokenHash: [])
                let place = DatabasePath(container: TestClient.container, environment: .development, database: .public)
                _ = try ServerKeys.create(
                    key.chain, name: "n", by: owner, place, accountName: "key", now: 0, in: connection)
            }
            let call = try key.call(Person.publicPath("records/lookup"), Self.lookup)
            let headers = try key.headers(call, origin: "https://notes.example.org")
            #expect(try await key.send(call, headers: headers).code == nil)
            #expect(try await key.send(call, headers: headers).code == .notAuthenticated)
            // A request that was refused uses nothing up.
            var late = call
            late.nonce = randomBytes(16)
            let good = try key.headers(late, origin: "https://notes.example.org")
            var bad = good
            bad[3].1 = String(bad[3].1.reversed())
            #expect(try await key.send(late, headers: bad).code == .notAuthenticated)
            #expect(try await key.send(late, headers: good).code == nil)
            kept.set(call, headers)
        }
        try await RunningServer.with(publicOrigin: "https://notes.example.org", folder: folder) { server in
            let (call, headers) = try #require(kept.value)
            let client = try ServerKeyClient(server)
            // The second server's clock starts where the test does: well inside the window.
            #expect(try await client.send(call, headers: headers).code == .notAuthenticated)
            // What is too old to be taken anyway is forgotten.
            func remembered() async throws -> Int64? {
                try await server.services.database.read {
                    try $0.first("SELECT COUNT(*) AS count FROM server_request") { try $0.int64("count") }
                }
            }
            #expect(try await remembered() == 2)
            try await server.sweep(now: server.clock.now + 2 * ServerRequests.window)
            #expect(try await remembered() == 0)
        }
    }

    @Test func aBodyIsNotCollectedBeyondTheLimit() async throws {
        try await withKey { _, key, server in
            var call = try key.call(Person.publicPath("records/lookup"), Self.lookup)
            call.body = [UInt8](repeating: 0, count: server.services.configuration.maximumMessageSize + 1)
            #expect(try await key.send(call).code == .limitExceeded)
        }
    }

    @Test func datesAreReadAsTheyAreWritten() {
        #expect(ServerRequests.time(of: "1970-01-01T00:00:00Z") == 0)
        #expect(ServerRequests.time(of: "2000-02-29T12:34:56Z") == 951_827_696_000_000)
        #expect(ServerRequests.time(of: "2026-11-21T13:40:00Z") == 1_795_268_400_000_000)
        var time: Int64 = 0
        while time < 253_402_300_799_000_000 {
            #expect(ServerRequests.time(of: ServerRequests.date(at: time)) == time)
            time += 86_399_000_000 * 97
        }
        #expect(ServerRequests.time(of: "2100-02-29T00:00:00Z") == nil)
        #expect(ServerRequests.time(of: "2026-04-31T00:00:00Z") == nil)
        #expect(ServerRequests.date(at: -1) == "1970-01-01T00:00:00Z")
    }
}

/// What one server of a test leaves for the next.
final class Kept: @unchecked Sendable {
    // Unchecked: set before one server ends, read after the next has begun.
    private(set) var value: (ServerKeyClient.Call, [(String, String)])?
    func set(_ call: ServerKeyClient.Call, _ headers: [(String, String)]) { value = (call, headers) }
}
