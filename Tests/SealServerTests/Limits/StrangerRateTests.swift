import Foundation
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Tokens and keys that nobody has given out, and those of many who come from one address.
@Suite(.timeLimit(.minutes(60))) struct StrangerRateTests {
    private static let address = "203.0.113.9"

    private func withServer(_ counter: StatementCounter? = nil, _ body: @Sendable (RunningServer) async throws -> Void)
        async throws
    {
        var limits = AbuseLimits()
        limits.anonymousRequest = RateLimiter.Rule(count: 4, window: 4_000_000_000)
        try await RunningServer.with(limits: limits, behindProxy: true, counter: counter, body)
    }

    /// Logged in from an address of its own.
    private func client(_ server: RunningServer, _ number: Int) async throws -> TestClient {
        var client = try TestClient(server)
        client.forwardedFor = "198.51.100.\(number)"
        client.token = try await client.create().token
        client.forwardedFor = Self.address
        return client
    }

    private func stranger(_ server: RunningServer) throws -> TestClient {
        var client = try TestClient(server)
        client.forwardedFor = Self.address
        client.token = Base64URL.encode(randomBytes(32))
        return client
    }

    @Test func tokensThatAreMadeUpReachTheDatabaseWithinTheLimitOnly() async throws {
        let counter = StatementCounter()
        try await withServer(counter) { server in
            var codes: [ErrorCode?] = []
            for number in 0..<12 {
                let client = try stranger(server)
                let before = counter.count
                codes.append(try await refusal { try await client.me() })
                // A snapshot and a look-up.
                if number < 4 { continue }
                #expect(counter.count == before)
            }
            #expect(
                codes == Array(repeating: .sessionExpired, count: 4) + Array(repeating: .requestRateLimited, count: 8))
        }
    }

    @Test func manyBehindOneAddressDoNotUseItUp() async throws {
        try await withServer { server in
            var people: [TestClient] = []
            for number in 0..<10 { people.append(try await client(server, number)) }
            // Each is looked up, more than strangers may be; so again when what is remembered is too old.
            for _ in 0..<3 {
                for person in people { _ = try await person.me() }
                server.clock.advance(seconds: 11)
            }
            for _ in 0..<4 {
                let client = try stranger(server)
                try await expectRefusal(.sessionExpired) { try await client.me() }
            }
            let last = try stranger(server)
            try await expectRefusal(.requestRateLimited) { try await last.me() }
            // Who was found good before is let in all the same.
            for person in people { _ = try await person.me() }
            // A session that is over is a stranger's from then on.
            let gone = people[0]
            _ = try await gone.call(
                "/1/accounts/logout", Sealkit_V1_AccountResponse(), as: Sealkit_V1_AccountResponse.self)
            try await expectRefusal(.requestRateLimited) { try await gone.me() }
            let kept = people[1]
            server.clock.advance(seconds: Sessions.lifetime / 1_000_000)
            try await expectRefusal(.sessionExpired) { try await kept.me() }
            for _ in 0..<3 {
                let client = try stranger(server)
                try await expectRefusal(.sessionExpired) { try await client.me() }
            }
            try await expectRefusal(.requestRateLimited, "looked up once, then forgotten") { try await kept.me() }
        }
    }

    @Test func keysThatAreMadeUpReachTheDatabaseWithinTheLimitOnly() async throws {
        let counter = StatementCounter()
        var limits = AbuseLimits()
        limits.anonymousRequest = RateLimiter.Rule(count: 20, window: 20_000_000_000)
        limits.request = RateLimiter.Rule(count: 100, window: 100_000_000_000)
        try await RunningServer.with(limits: limits, counter: counter) { server in
            let owner = try await Person.ready(server)
            let key = try await ServerKeyClient.ready(by: owner)
            let message = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] }
            func send(_ client: ServerKeyClient, signer: SigningKey? = nil) async throws -> ErrorCode? {
                let call = try client.call(Person.publicPath("records/lookup"), message)
                return try await client.send(call, headers: client.headers(call, signer: signer)).code
            }
            // A good key's requests are its account's, however many.
            for _ in 0..<60 { #expect(try await send(key) == nil) }
            // Unknown ones, and signatures that do not hold.
            var codes: [ErrorCode?] = []
            let other = try ServerKeyClient(server)
            for number in 0..<40 {
                let before = counter.count
                codes.append(number % 2 == 0 ? try await send(other) : try await send(key, signer: other.key))
                if codes.last == .requestRateLimited { #expect(counter.count == before) }
            }
            #expect(codes.contains(.notAuthenticated))
            #expect(codes.last == .requestRateLimited)
        }
    }

    @Test func aKeysRequestsAreCountedBeforeTheyAreKept() async throws {
        let counter = StatementCounter()
        var limits = AbuseLimits()
        limits.request = RateLimiter.Rule(count: 5, window: 5_000_000_000)
        try await RunningServer.with(limits: limits, counter: counter) { server in
            let key = try await ServerKeyClient.ready(by: try await Person.ready(server))
            let message = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] }
            var codes: [ErrorCode?] = []
            for _ in 0..<8 {
                codes.append(try await key.send(try key.call(Person.publicPath("records/lookup"), message)).code)
            }
            #expect(codes == Array(repeating: nil, count: 5) + Array(repeating: .requestRateLimited, count: 3))
            let kept = try await server.services.database.read { connection in
                try connection.first("SELECT COUNT(*) AS count FROM server_request") { try $0.int64("count") }
            }
            #expect(kept == 5)
        }
    }
}
