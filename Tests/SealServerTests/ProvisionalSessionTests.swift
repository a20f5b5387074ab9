import Foundation
import Hummingbird
import Logging
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Logging in where the disk is full: whoever has an account goes on reading, and nobody gets more by it.
@Suite(.timeLimit(.minutes(60))) struct ProvisionalSessionTests {
    /// The next write finds the disk full.
    private static func fill(_ hook: WriteHook) { hook.arm { _ in throw StorageError.full } }

    /// Logs in while the disk is full.
    private static func logIn(_ client: TestClient, _ hook: WriteHook) async throws -> TestClient {
        fill(hook)
        var client = client
        client.token = try await client.login().token
        return client
    }

    private static func rows(_ server: RunningServer) async throws -> Int64 {
        try await server.rows(in: ["session"])["session"] ?? 0
    }

    @Test func aKnownDeviceLogsInAndReadsWhileTheDiskIsFull() async throws {
        let (hook, log) = (WriteHook(), LogCapture())
        try await RunningServer.with(logger: log.logger, hook: hook) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("kept")], in: zone)
            let before = try await Self.rows(server)
            var again = anna
            again.client = try await Self.logIn(anna.client, hook)
            #expect(!hook.isArmed)
            #expect(try await Self.rows(server) == before)
            let me = try await again.client.me()
            #expect(me.account == (try await anna.client.me().account))
            #expect(me.sessionExpires == server.clock.now + ProvisionalSession.lifetime)
            #expect(try await again.changes(in: zone).records.map(\.recordName) == ["kept"])
            #expect(try await again.client.devices().devices.count == 1)

            // What it would write is refused as the disk refuses it, and goes through once there is room.
            Self.fill(hook)
            let writer = again
            try await expectRefusal(.storageFull) { try await writer.save([Write("new")], in: zone) }
            _ = try await again.save([Write("new")], in: zone)
            #expect(try await again.changes(in: zone).records.count == 2)

            server.clock.advance(seconds: 3_600)
            let expired = again
            try await expectRefusal(.sessionExpired) { try await expired.client.me() }
            _ = try await anna.client.me()
        }
        let kept = log.lines.filter { $0.contains("a session is kept in memory") }
        #expect(kept.count == 1)
        for line in kept { #expect(line.contains("/1/accounts/login")) }
        let failed = log.lines.filter { $0.contains("request failed") }
        #expect(failed.count == 1)
        for line in failed { #expect(line.contains("records/modify")) }
    }

    @Test func nobodyElseLogsIn() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            var client = try TestClient(server)
            client.token = try await client.create().token
            let other = client.onAnotherDevice()
            Self.fill(hook)
            try await expectRefusal(.storageFull, "a new device") { try await other.login() }
            Self.fill(hook)
            try await expectRefusal(.storageFull, "a new account") { try await TestClient(server).create() }
            Self.fill(hook)
            try await expectRefusal(.unknownItem, "no account") { try await TestClient(server).login() }
            let removed = client.onAnotherDevice("removed")
            _ = try await removed.login()
            try await client.revoke(removed.device)
            Self.fill(hook)
            try await expectRefusal(.permissionFailure, "a removed device") { try await removed.login() }
            Self.fill(hook)
            let wrong = try await client.loginRequest(signer: TestClient.newKey())
            try await expectRefusal(.notAuthenticated, "another's signature") { try await client.login(wrong) }
        }
    }

    @Test func itEndsWithEverythingThatEndsASession() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            var client = try TestClient(server)
            client.token = try await client.create().token

            // A logout ends that one and no other, without writing.
            let (first, second) = (try await Self.logIn(client, hook), try await Self.logIn(client, hook))
            Self.fill(hook)
            _ = try await first.call(
                "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
            #expect(hook.isArmed)
            hook.arm { _ in }
            try await expectRefusal(.sessionExpired) { try await first.me() }
            _ = try await second.me()

            // So does the end of its device,
            var removed = client.onAnotherDevice()
            removed.token = try await removed.login().token
            removed = try await Self.logIn(removed, hook)
            _ = try await removed.me()
            try await client.revoke(removed.device)
            let gone = removed
            try await expectRefusal(.sessionExpired) { try await gone.me() }
            // also for what is under way: the transaction asks the database.
            let session = Session(
                accountID: 1, tokenHash: [1], device: 1, expires: .max,
                provisional: ProvisionalSession(account: 1, device: 1 << 40, expires: .max))
            let isInForce = try await server.services.database.read {
                try Sessions.isInForce(session, now: server.clock.now, in: $0)
            }
            #expect(!isInForce)
        }
    }

    /// Its stream at once, and an upload, which asks the database only where some session has ended.
    @Test(arguments: [true, false]) func itsEndReachesWhatIsUnderWay(byLogout: Bool) async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            var first = anna
            first.client = try await Self.logIn(anna.client, hook)
            let events = try await first.listen()
            let bytes = try Base64URL.decode(first.client.token)
            let sessions = server.services.sessions
            let known = try await sessions.find(
                Substring(first.client.token), now: server.clock.now, in: server.services.database,
                beforeAsking: {})
            let session = try #require(known)
            #expect(session.tokenHash == Sessions.hash(bytes))
            #expect(sessions.isUnchanged(session, now: server.clock.now))
            // Tokens that nobody was given end nothing.
            let before = sessions.generation
            var stranger = first.client
            stranger.token = Base64URL.encode(randomBytes(32))
            let wrong = stranger
            try await expectRefusal(.sessionExpired) { try await wrong.me() }
            #expect(sessions.generation == before)
            if byLogout {
                _ = try await first.client.call(
                    "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
            } else {
                for _ in 0..<ProvisionalSession.mostPerAccount {
                    server.clock.advance(seconds: 1)
                    _ = try await Self.logIn(anna.client, hook)
                }
            }
            #expect(!sessions.isUnchanged(session, now: server.clock.now))
            let refused = try await refusal(of: session, server)
            #expect(refused == .sessionExpired)
            let end = try await events.next()
            #expect(end.name == "end")
            #expect(try end.failure.errorCode == .sessionExpired)
        }
    }

    /// What a request that is under way with this session is refused with.
    private func refusal(of session: Session, _ server: RunningServer) async throws -> ErrorCode? {
        try await server.services.database.read { connection in
            do {
                try server.services.sessions.recheck(session, now: server.clock.now, in: connection)
                return nil
            } catch let error as ServerError { return error.code }
        }
    }

    @Test func anAccountHasABoundedNumber() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            var client = try TestClient(server)
            client.token = try await client.create().token
            let first = try await Self.logIn(client, hook)
            for _ in 1..<ProvisionalSession.mostPerAccount {
                server.clock.advance(seconds: 1)
                _ = try await Self.logIn(client, hook)
            }
            _ = try await first.me()
            server.clock.advance(seconds: 1)
            let last = try await Self.logIn(client, hook)
            try await expectRefusal(.sessionExpired) { try await first.me() }
            _ = try await last.me()
        }
    }
}
