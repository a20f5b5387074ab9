import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer

/// What the server does when more comes than it can hold at once.
@Suite(.timeLimit(.minutes(60))) struct LoadTests {
    @Test func theGateGivesBackWhatItGave() throws {
        let gate = LoadGate(requests: 2, bytes: 100)
        var passes = [try gate.enter(bytes: 60)]
        #expect(throws: ServerError.self) { try gate.enter(bytes: 41) }
        passes.append(try gate.enter(bytes: 40))
        #expect { try gate.enter(bytes: 0) } throws: { error in
            (error as? ServerError)?.code == .serviceUnavailable && (error as? ServerError)?.retryAfter == 1
        }
        passes.removeFirst()
        // Refused ones have left nothing behind.
        passes.append(try gate.enter(bytes: 60))
        passes = []
        // What is larger than everything goes alone.
        passes.append(try gate.enter(bytes: 1_000))
        #expect(throws: ServerError.self) { try gate.enter(bytes: 1) }
        passes = []
        // Answers have room of their own.
        passes = [try gate.enter(bytes: 100), try gate.hold(answer: 100)]
        #expect(throws: ServerError.self) { try gate.hold(answer: 1) }
        passes.removeLast()
        passes.append(try gate.hold(answer: 1))
        let open = LoadGate(requests: 0, bytes: 0)
        for _ in 0..<10 { passes.append(try open.enter(bytes: 1 << 40)) }
    }

    /// Keeps one thread, the writer's, until it is let go.
    private final class Brake: Sendable {
        private let isHeld = Mutex(true)
        private let hasBegun = Mutex(false)
        func hold() {
            hasBegun.withLock { $0 = true }
            while isHeld.withLock({ $0 }) { usleep(1_000) }
        }
        func release() { isHeld.withLock { $0 = false } }
        func waitUntilHeld() async throws {
            while !hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test func whatFindsNoRoomIsToldWhenToComeAgain() async throws {
        var limits = ServerLimits()
        limits.requestsInFlight = 1
        let brake = Brake()
        try await RunningServer.with(serverLimits: limits) { server in
            var anna = try TestClient(server)
            anna.token = try await anna.create().token
            let client = anna
            // The writer is held; a logout waits for it, and is all that the server takes.
            async let held: Void = server.services.database.write { _ in brake.hold() }
            try await brake.waitUntilHeld()
            async let waiting: Void = logOut(client)
            var refused: Refusal?
            try await waitUntil("the logout has come") {
                do {
                    _ = try await client.me()
                } catch let refusal as Refusal {
                    refused = refusal
                }
                return refused != nil
            }
            #expect(refused?.status == 503 && refused?.code == .serviceUnavailable && refused?.failure.retryAfter == 1)
            // Load balancers still get their answer.
            var health = HTTPClientRequest(url: server.origin + "/health")
            health.method = .GET
            #expect(try await HTTPClient.shared.execute(health, timeout: .seconds(30)).status == .ok)
            brake.release()
            _ = try await (held, waiting)
            try await expectRefusal(.sessionExpired) { try await client.me() }
        }
    }

    /// Until there is room for it.
    private func logOut(_ client: TestClient) async throws {
        for _ in 0..<1_000 {
            let code = try await refusal {
                try await client.call("/1/accounts/logout", Sealkit_V1_AccountResponse(), as: Sealkit_V1_AccountResponse.self)
            }
            guard code == .serviceUnavailable else { return }
        }
    }

    @Test func bodiesThatAreReadAreBounded() async throws {
        var limits = ServerLimits()
        limits.bytesInFlight = 5 << 20
        try await RunningServer.with(serverLimits: limits) { server in
            // A body that never ends holds as much room as a message may have; the next one does not fit beside it.
            let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
            func post(_ body: HTTPClientRequest.Body) async throws -> UInt {
                var request = HTTPClientRequest(url: server.origin + "/1/accounts/challenge")
                request.method = .POST
                request.headers.add(name: "Content-Type", value: "application/x-protobuf")
                request.body = body
                return try await HTTPClient.shared.execute(request, timeout: .seconds(30)).status.code
            }
            async let slow = post(.stream(parts, length: .unknown))
            continuation.yield(ByteBuffer(repeating: 0, count: 10))
            let large = ByteBuffer(repeating: 0, count: 2 << 20)
            try await waitUntil("the body is under way") { server.services.gate.bytesUnderWay != 0 }
            #expect(server.services.gate.bytesUnderWay == server.services.configuration.maximumMessageSize)
            let refused = try await post(.bytes(large))
            #expect(refused == 503)
            // Small ones still do.
            #expect(try await post(.bytes(ByteBuffer(string: "{"))) == 400)
            continuation.finish()
            #expect(try await slow == 400)
            #expect(try await post(.bytes(large)) == 400)
        }
    }
}
