import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
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

/// Requests that were under way when their session, key or token ended.
@Suite(.timeLimit(.minutes(60))) struct EndedSessionTests {
    /// Sends the head and the first byte, calls `meanwhile`, then sends the rest: of many requests at once.
    private static func heldBack(
        _ requests: [(HTTPClientRequest, [UInt8])], on server: RunningServer, _ meanwhile: () async throws -> Void
    ) async throws -> [(UInt, Sealkit_V1_Failure?)] {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = requests.count
        let client = HTTPClient(configuration: configuration)
        defer { client.shutdown { _ in } }
        let bodies = requests.map { _ in AsyncStream<ByteBuffer>.makeStream() }
        var tasks: [Task<(UInt, Sealkit_V1_Failure?), any Error>] = []
        for ((var request, bytes), body) in zip(requests, bodies) {
            request.body = .stream(body.stream, length: .unknown)
            if let first = bytes.first { body.continuation.yield(ByteBuffer(bytes: [first])) }
            tasks.append(
                Task { [request] in
                    let response = try await client.execute(request, timeout: .seconds(300))
                    let data = Data(buffer: try await response.body.collect(upTo: 1 << 24))
                    return (response.status.code, try? Sealkit_V1_Failure(serializedBytes: data))
                })
        }
        try await waitUntil("all have come") { server.services.transfers.count == requests.count }
        try await meanwhile()
        for ((_, bytes), body) in zip(requests, bodies) {
            body.continuation.yield(ByteBuffer(bytes: bytes.dropFirst()))
            body.continuation.finish()
        }
        var answers: [(UInt, Sealkit_V1_Failure?)] = []
        for task in tasks { answers.append(try await task.value) }
        return answers
    }

    private static func post(_ url: String, token: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: RefusalClient.protobuf)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        return request
    }

    private static func unbounded() -> ServerLimits {
        var limits = ServerLimits()
        limits.bytesInFlight = 0
        return limits
    }

    /// On every route that needs a session and reads a message.
    @Test func aBodyThatComesAfterTheEndOfItsSessionIsRefused() async throws {
        try await RunningServer.with(serverLimits: Self.unbounded()) { server in
            for endsByTime in [false, true] {
                let anna = try await Person.ready(server)
                _ = try await anna.makeZone()
                let routes = RefusalTable.routes.filter {
                    if case .session = $0.access { $0.sample != nil } else { false }
                }
                let requests = try routes.map { route in
                    (
                        Self.post(server.origin + route.filled(), token: anna.client.token),
                        try route.sample?.serializedBytes() ?? [UInt8]()
                    )
                }
                let answers = try await Self.heldBack(requests, on: server) {
                    if endsByTime {
                        server.clock.advance(seconds: Sessions.lifetime / 1_000_000)
                    } else {
                        _ = try await anna.client.call(
                            "/1/accounts/logout", Sealkit_V1_AccountResponse(), as: Sealkit_V1_AccountResponse.self)
                    }
                }
                for (route, (status, failure)) in zip(routes, answers) {
                    #expect(status == 401, "\(route.path): \(status) \(failure.debugDescription)")
                    #expect(
                        failure?.errorCode == .sessionExpired, "\(route.path): \(status) \(failure.debugDescription)")
                }
            }
        }
    }

    /// What a thief would hold back: a bundle that takes the new one's place once the user has made the account safe.
    @Test func noBundleIsSavedForAnAccountThatEndedMeanwhile() async throws {
        try await RunningServer.with(serverLimits: Self.unbounded()) { server in
            let owner = try TestClient(server)
            let token = try await owner.create().token
            let bundle = Sealkit_V1_RecoveryBundle.with {
                $0.recoveryID = Data(repeating: 9, count: 16)
                $0.sealed = Data([1, 2, 3])
            }
            let request = (
                Self.post(server.origin + "/1/accounts/recovery", token: token), try bundle.serializedBytes() as [UInt8]
            )
            let answer = try await Self.heldBack([request], on: server) {
                let challenge = try await owner.challenge()
                let time = server.clock.now
                let signed = Challenges.deletion(origin: server.origin, challenge: challenge, time: time)
                _ = try await owner.call(
                    "/1/accounts/delete",
                    Sealkit_V1_DeleteAccountRequest.with {
                        $0.loginKey = Data(owner.loginKey.verificationKey.bytes)
                        $0.challenge = Data(challenge)
                        $0.time = time
                        $0.signature = Data(owner.loginKey.sign(signed))
                    }, as: Sealkit_V1_DeleteAccountResponse.self)
            }
            #expect(answer[0].1?.errorCode == .sessionExpired)
            let rows = try await server.services.database.read { connection in
                try connection.exists("SELECT 1 FROM recovery_bundle")
            }
            #expect(!rows)
        }
    }

    /// Between the body and the transaction, on routes of every kind.
    @Test func whatASessionChangesIsNotChangedOnceItHasEnded() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let ready = try await Person.ready(server)
            let (zone, fresh) = (try await ready.makeZone(), try await ready.makeZone("fresh"))
            // The next save there by this user goes the short way.
            _ = try await ready.save([Write("first")], in: zone)
            let spare = try TestClient(server)
            let enrolment = ID16.random()
            _ = try await ready.client.openEnrolment(enrolment)
            let bundle = Sealkit_V1_RecoveryBundle.with {
                $0.recoveryID = Data(repeating: 9, count: 16)
                $0.sealed = Data([1, 2, 3])
            }
            let calls: [(String, @Sendable (Person) async throws -> Void)] = [
                (
                    "a bundle",
                    {
                        _ = try await $0.client.call(
                            "/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
                    }
                ),
                (
                    "no bundle",
                    {
                        _ = try await $0.client.call(
                            "/1/accounts/recovery/delete", Sealkit_V1_DeleteRecoveryBundleRequest(),
                            as: Sealkit_V1_AccountResponse.self)
                    }
                ),
                ("a device's name", { try await $0.client.name($0.client.device, "renamed") }),
                ("a device's end", { try await $0.client.revoke($0.client.device) }),
                ("an enrolment", { _ = try await $0.client.claimEnrolment(enrolment) }),
                ("an identity", { _ = try await $0.client.register(chain: $0.chain.wire, signer: $0.keys.signingKey) }),
                (
                    "an address",
                    {
                        _ = try await $0.client.call(
                            "/1/addresses/unlink",
                            Sealkit_V1_UnlinkAddressRequest.with { $0.address.address = "a@example.org" },
                            as: Sealkit_V1_UnlinkAddressResponse.self)
                    }
                ),
                ("a code", { _ = try await $0.client.begin("a@example.org") }),
                ("a zone", { _ = try await $0.makeZone("other") }),
                (
                    "a roster",
                    {
                        var zone = zone
                        try await $0.append(try $0.next(on: zone, rotating: true), to: &zone)
                    }
                ),
                ("records", { _ = try await $0.save([Write("short")], in: zone) }),
                ("records of a zone that is new", { _ = try await $0.save([Write("long")], in: fresh) }),
                ("public records", { _ = try await $0.savePublic([PublicWrite("public")]) }),
                ("a subscription", { try await $0.subscribe(.database()) }),
                ("a server's key", { _ = try await $0.createServerKey(spare.chain, signer: spare.signingKey) }),
            ]
            for (what, call) in calls {
                var client = ready.client
                client.token = try await client.login().token
                // Remembered, and the device's hour begins.
                _ = try await client.me()
                let person = Person(client: client, keys: ready.keys, chain: ready.chain)
                hook.arm { connection in
                    let account = try connection.first("SELECT MIN(id) AS first FROM account") { try $0.int64("first") }
                    try Sessions.endAll(of: try #require(account), in: connection)
                }
                try await expectRefusal(.sessionExpired, "\(what)") { try await call(person) }
                #expect(!hook.isArmed, "\(what)")
            }
        }
    }

    @Test func aServersKeyThatWasRevokedMeanwhileUploadsNothing() async throws {
        try await RunningServer.with(serverLimits: Self.unbounded()) { server in
            let owner = try await Person.ready(server)
            let key = try await ServerKeyClient.ready(by: owner)
            let blob = Hex.encode(randomBytes(16))
            var call = try key.call(
                Person.publicPath("assets/-/\(Names.defaultZone)/\(blob)"), Sealkit_V1_AccountResponse())
            call.method = "PUT"
            var request = HTTPClientRequest(url: server.origin + call.path)
            request.method = .PUT
            for (name, value) in try key.headers(call) { request.headers.add(name: name, value: value) }
            let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
            request.body = .stream(parts, length: .known(Int64(20)))
            async let answer = HTTPClient.shared.execute(request, timeout: .seconds(300))
            continuation.yield(ByteBuffer(repeating: 1, count: 10))
            try await waitUntil("the upload has begun") {
                try await server.services.database.read { connection in
                    try connection.exists("SELECT 1 FROM blob WHERE id = $1", [.text(blob)])
                }
            }
            _ = try await owner.revokeServerKey(key.user)
            continuation.yield(ByteBuffer(repeating: 1, count: 10))
            continuation.finish()
            #expect(try await answer.status == .unauthorized)
        }
    }

    @Test func aManagementTokenThatWasRevokedMeanwhileChangesNothing() async throws {
        try await RunningServer.with(serverLimits: Self.unbounded()) { server in
            let boss = try Management(server)
            let made = try await boss.client.call(
                "/1/management-tokens/create",
                Sealkit_V1_CreateManagementTokenRequest.with { ($0.container, $0.name) = (TestClient.container, "CI") },
                as: Sealkit_V1_CreateManagementTokenResponse.self, token: boss.token)
            let routes = RefusalTable.routes.filter { $0.path.contains("/schema/") }
            let requests = try routes.map { route in
                (
                    Self.post(server.origin + route.filled(), token: made.secret),
                    try route.sample?.serializedBytes() ?? [UInt8]()
                )
            }
            let answers = try await Self.heldBack(requests, on: server) {
                _ = try await boss.client.call(
                    "/1/management-tokens/revoke",
                    Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = made.token.id },
                    as: Sealkit_V1_RevokeManagementTokenResponse.self, token: boss.token)
            }
            for (route, (status, failure)) in zip(routes, answers) {
                #expect(status == 401, "\(route.path): \(status)")
                #expect(failure?.errorCode == .notAuthenticated, "\(route.path): \(status)")
            }
        }
    }
}
