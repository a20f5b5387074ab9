import Foundation
import SealPrimitives
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Several servers on one database, with the same secrets and one store of assets.
/// One after the other: each has two servers, of which only so many run at once.
@Suite(.withPostgres, .serialized, .timeLimit(.minutes(60))) struct PostgresServersTests {
    private let folder = TemporaryFolder()
    private let other = TemporaryFolder()

    private func database() throws -> DatabaseConfiguration {
        let server = try #require(TestPostgres.shared)
        return DatabaseConfiguration(url: server.url(of: try server.database(of: folder.path, hasTables: true)))
    }

    private static func place(_ store: ScriptedStore) -> BlobsConfiguration {
        BlobsConfiguration(
            url: store.url.replacing("?", with: "/assets?"),
            credentials: .keys(accessKey: "key", secretKey: "secret", sessionToken: nil))
    }

    private func copySecrets() throws {
        try FileManager.default.copyItem(atPath: folder.file("data.secrets"), toPath: other.file("data.secrets"))
    }

    /// - Parameter onSecond: called while the second one is there; after it, the first one is alone.
    private func withTwo(
        limits: AbuseLimits? = nil, outboxWaits: [Duration] = [.milliseconds(5)], hook: WriteHook? = nil,
        _ onSecond: @escaping @Sendable (RunningServer, RunningServer) async throws -> Void,
        alone: @escaping @Sendable (RunningServer) async throws -> Void = { _ in }
    ) async throws {
        let store = try await ScriptedStore()
        let (database, place, look) = (try database(), Self.place(store), Duration.milliseconds(50))
        try await RunningServer.with(
            limits: limits, folder: folder, outboxWaits: outboxWaits, hook: hook, jobLook: look, database: database,
            blobs: place
        ) { first in
            try copySecrets()
            try await RunningServer.with(
                limits: limits, folder: other, clock: first.clock, outboxWaits: outboxWaits, jobLook: look,
                database: database, blobs: place
            ) { second in
                try await waitUntil("each knows of the other") {
                    first.services.peers.count == 2 && second.services.peers.count == 2
                }
                // As behind a proxy.
                second.services.origin.set(first.origin)
                try await onSecond(first, second)
            }
            try await waitUntil("the first one knows that it is alone") { first.services.peers.isAlone }
            try await alone(first)
        }
        await store.stop()
    }

    // MARK: Sessions

    /// The clock stands still: nothing is forgotten for its age.
    @Test func aSessionThatEndsAtOneServerEndsAtTheOther() async throws {
        try await withTwo { first, second in
            let anna = try await TestClient.ready(first)
            for _ in 0..<3 { _ = try await anna.at(second).me() }
            _ = try await anna.call(
                "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), as: Sealkit_V1_AccountResponse.self)
            try await waitUntil("the other one has heard of it") {
                try await refusal { try await anna.at(second).me() } != nil
            }
            try await expectRefusal(.sessionExpired) { try await anna.at(second).me() }
        }
    }

    /// Beside another server nothing is taken for certain between its announcements.
    @Test func aSaveAsksForItsSessionWhereAnotherServerMayEndIt() async throws {
        try await withTwo { first, second in
            let anna = try await Person.ready(first)
            let zone = try await anna.makeZone()
            _ = try await anna.at(second).save([Write("a")], in: zone)
            // Nobody is told.
            try await first.services.database.write(at: .everything) { try $0.execute("DELETE FROM session") }
            try await expectRefusal(.sessionExpired) { try await anna.at(second).save([Write("b")], in: zone) }
        }
    }

    @Test func whatIsNotHeardIsNotRemembered() async throws {
        let clock = SteppingClock()
        let peers = Peers(heardUntil: .min, clock: clock.read)
        #expect(!peers.areHeard && !peers.isAlone && peers.count == 1)
        peers.note([peers.own], heardUntil: clock.read() + 1_000_000)
        #expect(peers.areHeard && peers.isAlone)
        peers.note([peers.own, 7, 8], heardUntil: clock.read() + 1_000_000)
        #expect(peers.areHeard && !peers.isAlone && peers.count == 3)
        clock.advance(2_000_000)
        #expect(!peers.areHeard && peers.count == 3)
        peers.note([peers.own], heardUntil: clock.read() + 1_000_000)
        peers.loseHearing()
        #expect(!peers.areHeard && !peers.isAlone)
        #expect(Peers.none().isAlone)
    }

    // MARK: Logins

    @Test func aChallengeIsGoodAtEitherServerAndOnce() async throws {
        try await withTwo { first, second in
            let anna = try await TestClient.ready(first)
            let request = try await anna.loginRequest(origin: first.origin)
            _ = try await anna.at(second).login(request)
            for server in [first, second] {
                try await expectRefusal(.notAuthenticated) { try await anna.at(server).login(request) }
            }
            // Nor for an account that is made with it elsewhere, by whoever overheard it.
            let ben = try TestClient(first)
            let early = try await ben.loginRequest(origin: first.origin)
            try await expectRefusal(.unknownItem) { try await ben.login(early) }
            let create = Sealkit_V1_CreateAccountRequest(early)
            try await expectRefusal(.notAuthenticated) {
                try await ben.at(second).call(
                    "/1/accounts/create", create, as: Sealkit_V1_SessionResponse.self)
            }
        }
    }

    // MARK: Announcements

    @Test func aStreamHearsOfASaveAtTheOtherServer() async throws {
        try await withTwo { first, second in
            let phone = try await Person.ready(first)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await desk.at(second).listen()
            for number in 1...3 {
                _ = try await phone.save([Write("a\(number)")], in: zone)
                #expect(try await events.next().number == Int64(number))
            }
            events.close()
        }
    }

    // MARK: Limits

    @Test func guessesAreCountedByAllServersTogether() async throws {
        var limits = AbuseLimits()
        limits.recovery = RateLimiter.Rule(count: 5, window: 600_000_000)
        try await withTwo(limits: limits) { first, second in
            func guess(_ server: RunningServer) async throws -> ErrorCode? {
                try await refusal {
                    try await TestClient(server).call(
                        "/1/accounts/recover",
                        Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(repeating: 9, count: 16) },
                        as: Sealkit_V1_RecoverResponse.self)
                }
            }
            for number in 0..<5 { #expect(try await guess(number.isMultiple(of: 2) ? first : second) == .unknownItem) }
            for server in [first, second] { #expect(try await guess(server) == .requestRateLimited) }
            // A fifth of the window brings one, wherever it is asked for.
            first.clock.advance(seconds: 121)
            #expect(try await guess(second) == .unknownItem)
            for server in [first, second] { #expect(try await guess(server) == .requestRateLimited) }
            // Whom it counts does not stand there, and what is full again goes.
            let subjects = try await first.services.database.read { connection in
                try connection.rows("SELECT subject FROM shared_limit") { try $0.bytes("subject") }
            }
            let shows = subjects.contains { $0.contains(bytes: [127, 0, 0, 1]) }
            #expect(subjects.count == 1 && !shows)
            let later = first.clock.now + 10_000_000_000
            _ = try await first.services.database.write(at: .everything) {
                try SharedLimits.sweep(now: later, in: $0)
            }
            #expect(try await first.rows(in: ["shared_limit"]).isEmpty)
        }
    }

    @Test func eachServerHasItsPartOfWhatItCountsAlone() async throws {
        var limits = AbuseLimits()
        limits.anonymousRequest = RateLimiter.Rule(count: 10, window: 600_000_000)
        try await withTwo(limits: limits) { first, second in
            for server in [first, second] {
                let stranger = try TestClient(server)
                for _ in 0..<5 { _ = try await stranger.challenge() }
                try await expectRefusal(.requestRateLimited) { try await stranger.challenge() }
            }
        } alone: { first in
            // All of it again, as far as it has come back.
            first.clock.advance(seconds: 600)
            let stranger = try TestClient(first)
            for _ in 0..<10 { _ = try await stranger.challenge() }
            try await expectRefusal(.requestRateLimited) { try await stranger.challenge() }
        }
    }

    // MARK: What is done beside requests

    /// Nobody else sends what a living server has to send; what it leaves behind another one does.
    @Test func whatAServerLeavesToBeSentTheOtherSends() async throws {
        try await withTwo(outboxWaits: [.seconds(3_600)]) { first, second in
            let anna = try await TestClient.ready(first).at(second)
            second.mail.fail(with: [.unavailable])
            _ = try await anna.begin("anna@example.org")
            try await waitUntil("it was tried") { second.mail.tries == 1 }
            for _ in 0..<3 { try await first.services.jobs.run(.outbox) }
            #expect(first.mail.tries == 0 && second.services.outbox.count == 1)
        } alone: { first in
            _ = try await first.mail.code(1)
            try await waitUntil("it is gone") { try await first.rows(in: ["outgoing_message"]).isEmpty }
            #expect(first.mail.tries == 1)
        }
    }

    /// Others may take a server for gone for a moment.
    @Test func whatAnotherServerHasTakenOverIsNotSentTwice() async throws {
        try await withTwo(outboxWaits: [.seconds(5)]) { first, second in
            let anna = try await TestClient.ready(first)
            first.mail.fail(with: [.unavailable])
            _ = try await anna.begin("anna@example.org")
            try await waitUntil("it was tried") { first.mail.tries == 1 }
            let other = second.services.peers.own
            try await first.services.database.write(at: .everything) {
                try $0.execute("UPDATE outgoing_message SET sender = $1", [.integer(other)])
            }
            try await waitUntil("it is the other one's") { first.services.outbox.count == 0 }
            #expect(first.mail.tries == 1)
            #expect(try await first.rows(in: ["outgoing_message"]).count == 1)
        }
    }

    /// A session that one of them alone has would be none at the other: its device would log in again and again.
    @Test func besideAnotherServerAFullDiskLeavesNoSession() async throws {
        let hook = WriteHook()
        let known = Mutex<TestClient?>(nil)
        try await withTwo(hook: hook) { first, _ in
            var client = try TestClient(first)
            client.token = try await client.create().token
            let reader = client
            hook.arm { _ in throw StorageError.full }
            try await expectRefusal(.storageFull) { try await reader.login() }
            #expect(!hook.isArmed)
            #expect(try await reader.me().account.count == 32)
            known.withLock { $0 = reader }
        } alone: { first in
            let found = known.withLock { $0 }
            let reader = try #require(found)
            hook.arm { _ in throw StorageError.full }
            var again = reader
            again.token = try await again.login().token
            #expect(try await again.me().sessionExpires == first.clock.now + ProvisionalSession.lifetime)
        }
    }

    /// Whoever has a job has it alone, and for no longer than it is there.
    @Test func aJobOfAServerThatIsGoneIsFree() async throws {
        try await withTwo { first, second in
            let now = first.clock.now
            func hold(_ holder: [UInt8]) async throws -> Bool {
                try await first.services.database.write(at: .everything) { connection in
                    do { try JobLease(job: .alerts, holder: holder).hold(now: now, in: connection) } catch is JobLease
                        .HeldElsewhere
                    { return false }
                    return true
                }
            }
            let (one, two) = (first.services.peers.holder, second.services.peers.holder)
            #expect(try await hold(one))
            #expect(try await !hold(two))
            try await first.services.database.write(at: .everything) {
                try $0.execute("UPDATE job SET holder = $1 WHERE name = 'alerts'", [.blob(Peers.holder(5))])
            }
            #expect(try await hold(two))
            #expect(try await !hold(one))
        }
    }

    // MARK: What does not go together

    private func refused(_ blobs: BlobsConfiguration?) async throws -> ConfigurationError? {
        do {
            try await RunningServer.with(folder: other, database: try database(), blobs: blobs) { _ in }
            return nil
        } catch let error as ConfigurationError {
            return error
        }
    }

    /// Each place is refused: the other server's assets are elsewhere.
    private func expectElsewhere(_ places: [BlobsConfiguration?]) async throws {
        for place in places {
            let refusal = try await refused(place)
            guard case .blobsElsewhere = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
        }
    }

    @Test func serversHaveOneStoreOfAssets() async throws {
        let (store, another) = (try await ScriptedStore(), try await ScriptedStore())
        let database = try database()
        try await RunningServer.with(folder: folder, database: database, blobs: Self.place(store)) { _ in
            try copySecrets()
            try await expectElsewhere([nil, Self.place(another)])
            #expect(try await refused(Self.place(store)) == nil)
        }
        await store.stop()
        await another.stop()
    }

    /// A folder is of one server.
    @Test func assetsInAFolderAreOfOneServer() async throws {
        let store = try await ScriptedStore()
        try await RunningServer.with(folder: folder, database: try database()) { first in
            try copySecrets()
            try await expectElsewhere([nil, Self.place(store)])
            let anna = try await Person.ready(first)
            _ = try await anna.save([Write("a")], in: try await anna.makeZone())
        }
        #expect(try await refused(nil) == nil)
        await store.stop()
    }
}
