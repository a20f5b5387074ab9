import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealEnvelope
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Rates as clients meet them.
@Suite(.timeLimit(.minutes(60))) struct RateTests {
    private struct Answer {
        let status: UInt
        let headers: HTTPHeaders
        let failure: Sealkit_V1_Failure?
    }

    private func get(_ path: String, _ server: RunningServer, token: String = "") async throws -> Answer {
        var request = HTTPClientRequest(url: server.origin + path)
        request.headers.add(name: "Accept", value: "application/x-protobuf")
        if !token.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        let body = Data(buffer: try await response.body.collect(upTo: 1 << 20))
        return Answer(
            status: response.status.code, headers: response.headers,
            failure: response.status == .ok ? nil : try Sealkit_V1_Failure(serializedBytes: body))
    }

    private func limits(_ change: (inout AbuseLimits) -> Void) -> AbuseLimits {
        var limits = AbuseLimits()
        change(&limits)
        return limits
    }

    @Test func anAccountsRequestsAreCountedWhicheverSessionSendsThem() async throws {
        // One each second, three at once.
        let limits = limits { $0.request = .init(count: 3, window: 3_000_000) }
        try await RunningServer.with(limits: limits) { server in
            var anna = try TestClient(server)
            let first = try await anna.create().token
            // Before there is a session, it is the address that counts.
            let other = try await anna.login().token
            anna.token = first
            for left in [2, 1, 0] {
                let answer = try await get("/1/accounts/me", server, token: left == 1 ? other : anna.token)
                #expect(answer.status == 200)
                #expect(answer.headers.first(name: "X-RateLimit-Limit") == "3")
                #expect(answer.headers.first(name: "X-RateLimit-Remaining") == "\(left)")
                #expect(answer.headers.first(name: "X-RateLimit-Reset") == "\(3 - left)")
            }
            let refused = try await get("/1/accounts/me", server, token: other)
            #expect(refused.status == 429)
            #expect(refused.failure?.errorCode == .requestRateLimited)
            #expect(refused.failure?.retryAfter == 1)
            #expect(refused.headers.first(name: "Retry-After") == "1")
            #expect(refused.failure?.remedy == "Try again in 1 seconds.")
            // Somebody else is not held up by it, nor are requests without a session.
            var bert = try TestClient(server)
            bert.token = try await bert.create().token
            #expect(try await get("/1/accounts/me", server, token: bert.token).status == 200)
            server.clock.advance(seconds: 1)
            #expect(try await get("/1/accounts/me", server, token: anna.token).status == 200)
            #expect(try await get("/1/accounts/me", server, token: anna.token).status == 429)
        }
    }

    @Test func requestsWithoutASessionAreCountedByAddress() async throws {
        let limits = limits { $0.anonymousRequest = .init(count: 2, window: 20_000_000) }
        try await RunningServer.with(limits: limits, behindProxy: true) { server in
            func ask(_ address: String, _ token: String = "") async throws -> ErrorCode? {
                var client = try TestClient(server)
                client.forwardedFor = address
                client.token = token
                let asking = client
                return try await refusal { try await asking.me() }
            }
            // A token that is none makes no difference.
            let outcomes = [
                try await ask("203.0.113.1"), try await ask("203.0.113.1", "none"), try await ask("203.0.113.1"),
                try await ask("203.0.113.1", "none"), try await ask("203.0.113.2"),
            ]
            #expect(
                outcomes == [
                    .notAuthenticated, .sessionExpired, .requestRateLimited, .requestRateLimited, .notAuthenticated,
                ])
            server.clock.advance(seconds: 10)
            let later = try await ask("203.0.113.1")
            #expect(later == .notAuthenticated)
        }
    }

    /// Whoever asks what is behind a link without a session takes of the same bucket as a participant, by address.
    @Test func questionsAboutALinkAreCountedByAddressToo() async throws {
        let limits = limits { $0.sharing = .init(count: 2, window: 20_000_000) }
        try await RunningServer.with(limits: limits, behindProxy: true) { server in
            func ask(_ address: String) async throws -> ErrorCode? {
                var client = try TestClient(server)
                client.forwardedFor = address
                let (asking, request) = (
                    client, Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(randomBytes(16)) }
                )
                return try await refusal {
                    try await asking.call("/1/share/newcomer", request, as: Sealkit_V1_AccountResponse.self)
                }
            }
            let outcomes = [
                try await ask("203.0.113.1"), try await ask("203.0.113.1"), try await ask("203.0.113.1"),
                try await ask("203.0.113.2"),
            ]
            #expect(outcomes == [.unknownItem, .unknownItem, .requestRateLimited, .unknownItem])
        }
    }

    @Test func aBatchCountsAsManyAsItHas() async throws {
        let limits = limits { $0.write = .init(count: 10, window: 10_000_000) }
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let six = (0..<6).map { Write("a\($0)") }
            #expect(try await anna.codes(six, in: zone) == Array(repeating: nil, count: 6))
            let four = (0..<4).map { Write("b\($0)") }
            do {
                _ = try await anna.save(four, in: zone)
                Issue.record("more than the rate was saved")
            } catch let refusal as Refusal {
                // A zone and six records are counted: three are left, the fourth comes in a second.
                #expect(refusal.code == .requestRateLimited)
                #expect(refusal.failure.retryAfter == 1)
            }
            #expect(try await anna.codes(Array(four.prefix(3)), in: zone) == [nil, nil, nil])
            // Reading goes by a rate of its own.
            #expect(try await anna.lookup(["b3"], in: zone).results[0].code == .unknownItem)
            server.clock.advance(seconds: 10)
            #expect(try await anna.codes([four[3]], in: zone) == [nil])
        }
    }

    @Test func readingAndSharingHaveRatesOfTheirOwn() async throws {
        let limits = limits {
            $0.read = .init(count: 20, window: 20_000_000)
            $0.sharing = .init(count: 4, window: 4_000_000)
        }
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // A page of a feed is ten, whatever it has.
            _ = try await anna.changes(in: zone)
            #expect(try await anna.lookup((0..<10).map { "r\($0)" }, in: zone).results.count == 10)
            #expect(try await refusal { try await anna.lookup(["r"], in: zone) } == .requestRateLimited)
            #expect(try await anna.codes([Write("a")], in: zone) == [nil])
            // Registering the identity was one of four.
            for _ in 0..<3 { #expect(try await refusal { try await anna.metadata(randomBytes(16)) } == .unknownItem) }
            #expect(try await refusal { try await anna.metadata(randomBytes(16)) } == .requestRateLimited)
        }
    }

    @Test func whatIsRefusedByRateReachesNoDatabase() async throws {
        let counter = StatementCounter()
        let limits = limits { $0.request = .init(count: 1, window: 1_000_000) }
        try await RunningServer.with(limits: limits, counter: counter) { server in
            var anna = try TestClient(server)
            anna.token = try await anna.create().token
            _ = try await anna.me()
            let before = counter.count
            #expect(before > 0)
            for _ in 0..<5 { #expect(try await get("/1/accounts/me", server, token: anna.token).status == 429) }
            #expect(counter.count == before)
        }
    }

    @Test func ratesAreSettings() async throws {
        let configuration = try await ServerConfiguration.load(
            flags: [
                "data": "/d", "request-rate": "7", "write-rate": "0", "read-rate": "8", "sharing-rate": "9",
                "anonymous-rate": "10", "requests-in-flight": "11", "bytes-in-flight": "12", "storage-quota": "13",
                "public-storage-quota": "14", "records-per-zone": "15", "zones-per-user": "16", "write-budget": "17",
            ], environment: [:])
        var expected = ServerLimits()
        (expected.requestRate, expected.writeRate, expected.readRate) = (7, 0, 8)
        (expected.sharingRate, expected.anonymousRate) = (9, 10)
        (expected.requestsInFlight, expected.bytesInFlight) = (11, 12)
        (expected.storageQuota, expected.publicStorageQuota) = (13, 14)
        (expected.recordsPerZone, expected.zonesPerUser, expected.writeBudget) = (15, 16, 17)
        #expect(configuration.limits == expected)
        let rules = AbuseLimits(configuration.limits)
        #expect(rules.request == .init(count: 4_200, window: 600_000_000))
        #expect(rules.write == nil)
        let file = try await ServerConfiguration.load(
            flags: ["data": "/d"], environment: ["SEALKIT_REQUEST_RATE": "3", "SEALKIT_RECORDS_PER_ZONE": "4"])
        #expect(file.limits.requestRate == 3)
        #expect(file.limits.recordsPerZone == 4)
        for flag in ["request-rate", "storage-quota", "bytes-in-flight"] {
            await #expect(throws: ConfigurationError.self) {
                try await ServerConfiguration.load(flags: ["data": "/d", flag: "-1"], environment: [:])
            }
        }
    }
}
