import Foundation
import SealCoding
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct DirectoryTests {
    func lookup(
        _ client: TestClient, _ handles: [Sealkit_V1_LookupInfo], container: String = TestClient.container
    ) async throws -> [Sealkit_V1_IdentityResult] {
        try await client.call(
            "/1/directory/lookup",
            Sealkit_V1_LookupIdentitiesRequest.with {
                $0.container = container
                $0.handles = handles
            }, as: Sealkit_V1_LookupIdentitiesResponse.self
        ).results
    }

    func name(_ text: String) -> Sealkit_V1_LookupInfo { .with { $0.userRecordName = text } }
    func email(_ text: String) -> Sealkit_V1_LookupInfo { .with { $0.email = text } }
    func phone(_ text: String) -> Sealkit_V1_LookupInfo { .with { $0.phone = text } }

    @Test func byNameAndByProvenAddress() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let bob = try await TestClient.ready(server)
            let begun = try await alice.begin("Alice@Example.org")
            _ = try await alice.complete(begun.verificationID, server.mail.code(1), discoverable: true)

            let handles = [
                name(alice.chain.userID.recordName), email("aLICE@example.ORG"), email("bob@example.org"),
                phone("+4930123456"), name("_" + String(repeating: "0", count: 32)), name(bob.chain.userID.recordName),
            ]
            let results = try await lookup(bob, handles)
            #expect(results.map(\.handle) == handles)
            #expect(results.map(\.hasChain) == [true, true, false, false, false, true])
            #expect(results[0].chain == alice.chain.wire)
            #expect(results[1].chain == alice.chain.wire)
            // Known elsewhere, but not in this container.
            #expect(try await lookup(bob, handles, container: "org.example.other").allSatisfy { !$0.hasChain })
            #expect(try await lookup(bob, []).isEmpty)
        }
    }

    @Test func lookupsThatAreRefused() async throws {
        var limits = AbuseLimits()
        limits.lookup = RateLimiter.Rule(count: 184, window: 60_000_000)
        try await RunningServer.with(limits: limits) { server in
            var client = try await TestClient.ready(server)
            let unknown = name("_" + String(repeating: "0", count: 32))
            let long = String(repeating: "a", count: 10_000)
            for bad in [
                name("x"), name(unknown.userRecordName.uppercased() + "0"), name("_abc"),
                name("_ABCDEF00000000000000000000000000"),
                name(long), email("nobody"), email(""), email("a@b"), email("\(long)@example.org"),
                email("\0@example.org"),
                email("a@example.org\r\nBcc: b@example.org"), email("+4930123456"), phone("123"), phone("+0000000000"),
                phone("+49 30 1234567"), phone("a@example.org"), .init(),
            ] {
                let results = try await lookup(client, [unknown, bad])
                #expect(results.map(\.hasFailure) == [false, true] && !results[1].hasChain)
                #expect(results[1].failure.errorCode == .invalidArguments)
                #expect(!results[1].failure.remedy.isEmpty)
            }
            try await expectRefusal(.badContainer) { try await lookup(client, [unknown], container: "") }
            try await expectRefusal(.limitExceeded) { try await lookup(client, Array(repeating: unknown, count: 101)) }
            #expect(try await lookup(client, Array(repeating: unknown, count: 100)).count == 100)
            try await expectRefusal(.requestRateLimited) {
                try await lookup(client, Array(repeating: unknown, count: 51))
            }
            // Another session of the same account is no way around.
            client.token = try await client.login().token
            try await expectRefusal(.requestRateLimited) {
                try await lookup(client, Array(repeating: unknown, count: 51))
            }
            server.clock.advance(seconds: 60)
            #expect(try await lookup(client, Array(repeating: unknown, count: 51)).count == 51)
            client.token = ""
            try await expectRefusal(.notAuthenticated) { try await lookup(client, [unknown]) }
        }
    }
}
