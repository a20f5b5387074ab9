import Foundation
import NIOCore
import SealCoding
import SealPrimitives
import SealStatements
import SealSystem
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct AccountTests {
    @Test func createLogInAndOut() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            let created = try await client.create()
            #expect(created.account.count == 32)
            #expect(created.expires == server.clock.now + Sessions.lifetime)
            // The same key again logs in.
            let again = try await client.create()
            let login = try await client.login()
            #expect(again.account == created.account)
            #expect(login.account == created.account)
            #expect(Set([created.token, again.token, login.token]).count == 3)

            client.token = login.token
            let me = try await client.me()
            #expect(me.account == created.account)
            #expect(me.identities.isEmpty)
            #expect(me.linkedAddresses == 0)
            #expect(me.sessionExpires == login.expires)
            _ = try await client.call(
                "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
            #expect(try await refusal { try await client.me() } == .sessionExpired)
            #expect(try await client.me(token: again.token).account == created.account)
            // An old token at hand does not keep anybody from logging in.
            #expect(try await client.login().account == created.account)
            client.token = ""
            #expect(try await refusal { try await client.me() } == .notAuthenticated)
            for token in [
                "x", "Basic x", String(repeating: "A", count: 43), again.token + "A", String(again.token.dropLast()),
            ] {
                #expect(try await refusal { try await client.me(token: token) } == .sessionExpired)
            }
        }
    }

    @Test func sessionsExpire() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            client.token = try await client.create().token
            server.clock.advance(seconds: 30 * 86_400 - 5)
            #expect(try await client.me().account.count == 32)
            // Remembered for some seconds, but never beyond the end.
            server.clock.advance(seconds: 5)
            #expect(try await refusal { try await client.me() } == .sessionExpired)
            // A device has a bounded number of sessions; the oldest goes.
            let first = try await client.login().token
            #expect(try await client.me(token: first).account.count == 32)
            for _ in 0..<Sessions.mostPerDevice {
                server.clock.advance(seconds: 1)
                _ = try await client.login()
            }
            #expect(try await refusal { try await client.me(token: first) } == .sessionExpired)
        }
    }

    /// Sessions that began while the clock was ahead are no reason to end those that begin once it is right.
    @Test func sessionsOfAClockThatWasAheadEndFirst() async throws {
        try await RunningServer.with { server in
            let client = try TestClient(server)
            _ = try await client.create()
            server.clock.advance(seconds: 86_400)
            for _ in 0..<Sessions.mostPerDevice {
                server.clock.advance(seconds: 1)
                _ = try await client.login()
            }
            server.clock.advance(seconds: -86_400)
            let first = try await client.login().token
            server.clock.advance(seconds: 1)
            let second = try await client.login().token
            for token in [first, second] { #expect(try await client.me(token: token).account.count == 32) }
        }
    }

    @Test func loginsThatAreRefused() async throws {
        try await RunningServer.with { server in
            let client = try TestClient(server)
            let other = try TestClient(server)
            try await expectRefusal(.unknownItem) { try await client.login() }
            _ = try await client.create()

            let good = try await client.loginRequest()
            _ = try await client.login(good)
            try await expectRefusal(.notAuthenticated, "replayed challenge") { try await client.login(good) }
            let requests = [
                "other origin": try await client.loginRequest(origin: "https://evil.example"),
                "own challenge": try await client.loginRequest(challenge: [UInt8](repeating: 7, count: 56)),
                "short challenge": try await client.loginRequest(challenge: [1]),
                "another's challenge": try await client.loginRequest(challenge: other.challenge()),
                "another's signature": try await client.loginRequest(signer: other.loginKey),
                "old time": try await client.loginRequest(time: server.clock.now - LoginProof.tolerance - 1_000_000),
                "future time": try await client.loginRequest(time: server.clock.now + LoginProof.tolerance + 1_000_000),
                "least time": try await client.loginRequest(time: .min),
                "greatest time": try await client.loginRequest(time: .max),
            ]
            for (name, request) in requests {
                try await expectRefusal(.notAuthenticated, "\(name)") { try await client.login(request) }
            }
            var altered = try await client.loginRequest()
            altered.signature[5] ^= 1
            try await expectRefusal(.notAuthenticated) { try await client.login(altered) }
            // What failed did not use the challenge up.
            altered.signature[5] ^= 1
            _ = try await client.login(altered)
            let late = try await client.loginRequest()
            server.clock.advance(seconds: 121)
            try await expectRefusal(.notAuthenticated, "expired challenge") { try await client.login(late) }

            for key in [
                Data(), Data(repeating: 0, count: 32), Data(repeating: 255, count: 32), Data(repeating: 1, count: 33),
            ] {
                let message = Sealkit_V1_ChallengeRequest.with { $0.loginKey = key }
                try await expectRefusal(.invalidArguments) {
                    try await client.call("/1/accounts/challenge", message, as: Sealkit_V1_ChallengeResponse.self)
                }
            }
            var named = try await client.loginRequest()
            named.deviceName = "a\nb"
            try await expectRefusal(.invalidArguments) { try await client.login(named) }
        }
    }

    @Test func strangersDoNotUseUpTheMemoryOfSpentChallenges() throws {
        var random = SystemRandom()
        let challenges = LoginChallenges(
            key: SecretBytes(random: &random), start: randomBytes(8),
            capacity: LoginChallenges.Capacity(accounts: 2, strangers: 3))
        let key = try TestClient.newKey().verificationKey
        func next(_ now: Int64) -> [UInt8] { challenges.make(for: key, now: now, nonce: randomBytes(8)).challenge }
        let first = next(0)
        #expect(try challenges.spend(first, by: .stranger, now: 0))
        for _ in 0..<2 { #expect(try challenges.spend(next(0), by: .stranger, now: 0)) }
        #expect(throws: ServerError.self) { try challenges.spend(next(0), by: .stranger, now: 1) }
        // Those with an account come in all the same, and no challenge is good twice, whoever it was spent by.
        let mine = next(0)
        #expect(try challenges.spend(mine, by: .account, now: 1))
        #expect(try !challenges.spend(mine, by: .account, now: 1))
        #expect(try !challenges.spend(mine, by: .stranger, now: 1))
        #expect(try !challenges.spend(first, by: .account, now: 1))
        #expect(try challenges.spend(next(0), by: .account, now: 1))
        #expect(throws: ServerError.self) { try challenges.spend(next(0), by: .account, now: 1) }
        // What has expired makes room.
        let later = LoginChallenges.lifetime + 2
        #expect(try challenges.spend(next(later), by: .stranger, now: later))
        #expect(try challenges.spend(next(later), by: .account, now: later))
    }

    /// Servers of one database take each other's challenges, though their clocks differ by seconds.
    @Test func aChallengeIsGoodAtAServerWhoseClockDiffers() throws {
        var random = SystemRandom()
        let secret = SecretBytes(random: &random)
        let (one, other) = (
            LoginChallenges(key: secret, start: randomBytes(8)), LoginChallenges(key: secret, start: randomBytes(8))
        )
        let key = try TestClient.newKey().verificationKey
        let challenge = one.make(for: key, now: 30_000_000, nonce: randomBytes(8)).challenge
        #expect(one.isOwn(challenge) && !other.isOwn(challenge))
        for now in [0, 30_000_000, 149_999_999] as [Int64] { #expect(other.isGood(challenge, for: key, now: now)) }
        for now in [-31_000_000, 150_000_000] as [Int64] { #expect(!other.isGood(challenge, for: key, now: now)) }
        let stranger = LoginChallenges(key: SecretBytes(random: &random), start: randomBytes(8))
        #expect(!stranger.isGood(challenge, for: key, now: 30_000_000))
    }

    @Test func aStrangersChallengeIsSpentForItsAccountToo() async throws {
        try await RunningServer.with { server in
            let client = try TestClient(server)
            let request = try await client.loginRequest()
            try await expectRefusal(.unknownItem) { try await client.login(request) }
            try await expectRefusal(.notAuthenticated) { try await client.login(request) }
            // Who overheard it cannot make the account with it, nor log in once it is made.
            let create = Sealkit_V1_CreateAccountRequest(request)
            try await expectRefusal(.notAuthenticated) {
                try await client.call("/1/accounts/create", create, as: Sealkit_V1_SessionResponse.self)
            }
            _ = try await client.create()
            try await expectRefusal(.notAuthenticated) { try await client.login(request) }
        }
    }

    @Test func aConfiguredOriginIsTheOneThatIsSigned() async throws {
        try await RunningServer.with(publicOrigin: "https://Notes.Example.org:443") { server in
            let client = try TestClient(server)
            #expect(try await refusal { try await client.create() } == .notAuthenticated)
            let request = try await client.loginRequest(origin: "https://notes.example.org")
            #expect(try await refusal { try await client.login(request) } == .unknownItem)
        }
        #expect(ServerOrigin.normalized("HTTP://[::1]:8080") == "http://[::1]:8080")
        #expect(ServerOrigin.normalized("http://a:80") == "http://a")
        #expect(ServerOrigin.normalized("https://a:80/") == "https://a:80")
    }

    /// Every language's URL type gives the A-label, or can be made to: the SDK's and this one's word is the same.
    @Test func anInternationalOriginIsSignedInASCII() async throws {
        for text in [
            "https://B\u{FC}cher.example", "https://bu\u{308}cher.example:443", "https://XN--bcher-kva.example",
        ] {
            #expect(ServerOrigin.normalized(text) == "https://xn--bcher-kva.example", "\(text)")
        }
        #expect(ServerOrigin.normalized("https://fa\u{DF}.example") == "https://xn--fa-hia.example")
        try await RunningServer.with(publicOrigin: "https://B\u{FC}cher.example") { server in
            let client = try TestClient(server)
            for origin in ["https://xn--bcher-kva.example", "https://b\u{FC}cher.example"] {
                let request = try await client.loginRequest(origin: origin)
                let answer = try await refusal { try await client.login(request) }
                #expect(answer == (origin.contains("xn--") ? .unknownItem : .notAuthenticated))
            }
        }
    }

    @Test func recovery() async throws {
        var limits = AbuseLimits()
        limits.recovery = RateLimiter.Rule(count: 6, window: 60_000_000)
        try await RunningServer.with(limits: limits) { server in
            func bundle(_ id: UInt8, _ sealed: String) -> Sealkit_V1_RecoveryBundle {
                .with {
                    $0.recoveryID = Data(repeating: id, count: 16)
                    $0.sealed = Data(sealed.utf8)
                }
            }
            var client = try TestClient(server)
            let stranger = try TestClient(server)
            func recover(_ id: Data) async throws -> Data {
                try await stranger.call(
                    "/1/accounts/recover", Sealkit_V1_RecoverRequest.with { $0.recoveryID = id },
                    as: Sealkit_V1_RecoverResponse.self
                ).sealed
            }
            func replace(_ client: TestClient, _ bundle: Sealkit_V1_RecoveryBundle) async throws {
                _ = try await client.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
            }
            #expect(try await refusal { try await client.create(recovery: bundle(1, "")) } == .invalidArguments)
            client.token = try await client.create(recovery: bundle(1, "first")).token
            #expect(try await recover(Data(repeating: 1, count: 16)) == Data("first".utf8))
            try await replace(client, bundle(2, "second"))
            #expect(try await recover(Data(repeating: 2, count: 16)) == Data("second".utf8))
            #expect(try await refusal { try await recover(Data(repeating: 1, count: 16)) } == .unknownItem)
            #expect(try await refusal { try await recover(Data(repeating: 1, count: 15)) } == .invalidArguments)
            #expect(
                try await refusal { try await replace(client, bundle(2, String(repeating: "x", count: 20_000))) }
                    == .invalidArguments)
            #expect(try await refusal { try await replace(stranger, bundle(3, "x")) } == .notAuthenticated)
            var thief = try TestClient(server)
            thief.token = try await thief.create().token
            #expect(try await refusal { try await replace(thief, bundle(2, "mine")) } == .serverRejectedRequest)
            let other = try TestClient(server)
            #expect(try await refusal { try await other.create(recovery: bundle(2, "mine")) } == .serverRejectedRequest)
            #expect(try await refusal { try await other.login() } == .unknownItem)
            #expect(try await recover(Data(repeating: 2, count: 16)) == Data("second".utf8))

            for _ in 0..<2 {
                #expect(try await refusal { try await recover(Data(repeating: 9, count: 16)) } == .unknownItem)
            }
            #expect(try await refusal { try await recover(Data(repeating: 2, count: 16)) } == .requestRateLimited)
            server.clock.advance(seconds: 60)
            #expect(try await recover(Data(repeating: 2, count: 16)) == Data("second".utf8))
        }
    }

    @Test func secretsSurviveARestartAndAreNobodyElses() async throws {
        let folder = TemporaryFolder()
        let (key, seed) = (folder.file("data.secrets/address.key"), folder.file("data.secrets/token-keys/000001.key"))
        func hashAndKey() async throws -> ([UInt8], [String]) {
            let secrets = try ServerSecrets(folder: folder.file("data.secrets"))
            return (try secrets.addresses.hash("a@example.org"), secrets.tokenKeys.all.map(\.id))
        }
        try await RunningServer.with(folder: folder) { _ in }
        let first = try await hashAndKey()
        try await RunningServer.with(folder: folder) { _ in }
        #expect(try await hashAndKey() == first)
        for path in [key, seed] {
            #expect(FileStatus(path: path)?.mode == 0o600)
            #expect(FileStatus(path: path)?.size == 32)
        }
        // Rotation: the new key signs, the old one still verifies.
        try SecretFile.create(at: folder.file("data.secrets/token-keys/000002.key")) {
            [UInt8](repeating: 3, count: $0)
        }
        let keys = try ServerSecrets(folder: folder.file("data.secrets")).tokenKeys
        #expect(keys.all.count == 2 && keys.newest.id == keys.all[1].id && keys.all[0].id == first.1[0])
        #expect(throws: (any Error).self) { try SecretFile.create(at: key) { [UInt8](repeating: 0, count: $0) } }

        chmod(key, 0o644)
        #expect(throws: SecretFileError.readableByOthers(path: key)) {
            try ServerSecrets(folder: folder.file("data.secrets"))
        }
        chmod(key, 0o600)
        try Data(repeating: 1, count: 31).write(to: URL(fileURLWithPath: key))
        chmod(key, 0o600)
        #expect(throws: SecretFileError.wrongSize(path: key)) { try ServerSecrets(folder: folder.file("data.secrets")) }
    }

    @Test func clientsAreCountedByNetwork() throws {
        func subject(_ text: String) throws -> [UInt8] {
            ClientAddress.bytes(of: try SocketAddress(ipAddress: text, port: 1))
        }
        #expect(try subject("203.0.113.5") == [203, 0, 113, 5])
        #expect(try subject("::ffff:203.0.113.5") == [203, 0, 113, 5])
        #expect(try subject("2001:db8:1:2:3::4") == subject("2001:db8:1:2:ffff::1"))
        #expect(try subject("2001:db8:1:2::4") != subject("2001:db8:1:3::4"))
    }
}
