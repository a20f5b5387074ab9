import AsyncHTTPClient
import Foundation
import NIOCore
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// That each route counts what its endpoint says, against the rate that it names.
@Suite(.timeLimit(.minutes(60))) struct EndpointWorkTests {
    /// One an hour: whoever has had it gets nothing more.
    private static let once = RateLimiter.Rule(count: 1, window: 3_600_000_000)

    @Test(arguments: [RateClass.write, .read, .sharing]) func whereARateIsUsedUpAllOfItsRoutesAreRefused(
        _ rate: RateClass
    ) async throws {
        let (kind, limits) = Self.limiting(rate)
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let account = try await server.services.database.read {
                try $0.first("SELECT id FROM account", []) { try $0.int64("id") }
            }
            let file = server.folder.file("data.secrets/" + ManagementTokens.fileName)
            let operatorToken = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").first
            let client = RefusalClient(
                origin: server.origin, token: anna.client.token, managementToken: String(operatorToken ?? ""))
            for subject in [RateLimiter.Subject.account(try #require(account)), .client([127, 0, 0, 1])] {
                _ = try? server.services.rates.limiter.count(kind, subject, rule: Self.once, now: server.clock.now)
            }
            // The session ends last, and a stream of events does not end.
            let routes = RefusalTable.routes.filter { $0.route.answer != .events || $0.route.rate == rate }
            let logout = Endpoints.accounts.logout.route.name
            for route in routes.filter({ $0.route.name != logout }) + routes.filter({ $0.route.name == logout }) {
                var body: HTTPClientRequest.Body?
                if let sample = route.sample {
                    body = .bytes(ByteBuffer(bytes: try sample.serializedBytes() as [UInt8]))
                }
                let answer = try await client.permitted(route).send(
                    route.method, route.filled(), type: RefusalClient.protobuf, body)
                #expect((answer.status == 429) == (route.route.rate == rate), "\(route.route.name): \(answer.status)")
            }
        }
    }

    private static func limiting(_ rate: RateClass) -> (RateLimiter.Kind, AbuseLimits) {
        var limits = AbuseLimits()
        switch rate {
        case .write:
            limits.write = once
            return (.write, limits)
        case .read:
            limits.read = once
            return (.read, limits)
        case .sharing:
            limits.sharing = once
            return (.sharing, limits)
        case .request: return (.request, limits)
        }
    }

    /// A batch counts as what is in it, and never as nothing.
    @Test func workIsMeasuredByWhatAMessageHolds() {
        let records = Sealkit_V1_ModifyRecordsRequest.with { $0.records = [.init(), .init(), .init()] }
        #expect(Endpoints.records.modify.work.amount(records) == 3)
        #expect(Endpoints.records.modify.work.amount(.init()) == 1)
        let zones = Sealkit_V1_ZonesRecordChangesRequest.with { $0.zones = [.init(), .init()] }
        #expect(Endpoints.records.changesOfZones.work.amount(zones) == 20)
        #expect(Endpoints.records.changesOfZones.work.amount(.init()) == 10)
        #expect(Endpoints.records.query.work.amount(.init()) == 100)
        #expect(Endpoints.assets.upload.work.amount == 1)
    }
}
