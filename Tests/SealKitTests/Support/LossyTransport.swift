import Foundation
import NIOCore
import Synchronization

@testable import SealKit

/// A network that loses what a test says: before the server has it, or the server's answer.
final class LossyTransport: Transport {
    enum Loss: Sendable {
        /// The request never arrives.
        case request
        /// The request arrives and is answered, and the answer is lost.
        case answer
        /// The request arrives, and the client is told something else than the answer.
        case late(SealKitError)
        /// The request arrives, which is told, and nothing more comes until whoever waits for it is cancelled.
        case held(_ arrived: @Sendable () -> Void)
        /// It goes through.
        case nothing
        /// The server says something instead of doing anything.
        case refusal(SealKitError)
    }

    private struct State {
        var losses: [Loss] = []
        var bodies: [Data] = []
        var calls: [String] = []
    }

    private let next: any Transport
    private let suffix: String
    private let state: Mutex<State>
    /// Calls that `suffix` does not name are lost as well, for ever: the network is gone.
    private let isDown = Mutex(false)
    var origin: String { next.origin }

    /// - Parameters:
    ///   - suffix: of the paths that losses happen to.
    ///   - losses: one an attempt, in this order; then everything goes through.
    init(_ next: any Transport, losing suffix: String, _ losses: [Loss]) {
        self.next = next
        self.suffix = suffix
        state = Mutex(State(losses: losses))
    }

    /// What was sent on the lossy paths, attempt by attempt.
    var bodies: [Data] { state.withLock { $0.bodies } }
    /// Every path that was called, in order.
    var calls: [String] { state.withLock { $0.calls } }

    func lose(_ losses: [Loss]) { state.withLock { $0.losses = losses } }
    func goDown() { isDown.withLock { $0 = true } }

    private func through<T>(_ path: String, body: Data, _ send: () async throws(SealKitError) -> T)
        async throws(SealKitError) -> T
    {
        let loss = state.withLock { state -> Loss? in
            state.calls.append(path)
            guard path.contains(suffix) else { return nil }
            state.bodies.append(body)
            return state.losses.isEmpty ? nil : state.losses.removeFirst()
        }
        if isDown.withLock({ $0 }) { throw SealKitError(.networkFailure, "the network is down") }
        switch loss {
        case .request: throw SealKitError(.networkFailure, "the test lost the request")
        case .refusal(let error): throw error
        case .answer:
            _ = try await send()
            throw SealKitError(.serverResponseLost, "the test lost the answer")
        case .late(let error):
            _ = try await send()
            throw error
        case .held(let arrived):
            _ = try await send()
            arrived()
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            throw SealKitError(.operationCancelled, "the test cancelled it")
        case .nothing, nil: return try await send()
        }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try await through(path, body: body) { () async throws(SealKitError) in
            try await next.post(path, body: body, token: token)
        }
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await through(path, body: Data()) { () async throws(SealKitError) in try await next.get(path, token: token)
        }
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await through(path, body: Data()) { () async throws(SealKitError) in
            try await next.upload(path, length: length, parts: parts, token: token)
        }
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await through(path, body: Data()) { () async throws(SealKitError) in
            try await next.download(path, range: range, token: token, consume: consume)
        }
    }
}

/// Time that passes only by sleeping, and chance that is always the greatest: what waits for what is exact.
final class FakePacing: Sendable {
    private let state = Mutex((now: ContinuousClock.now, sleeps: [Duration]()))

    var sleeps: [Duration] { state.withLock { $0.sleeps } }
    func advance(_ duration: Duration) { state.withLock { $0.now += duration } }

    var pacing: Pacing {
        Pacing(
            now: { self.state.withLock { $0.now } },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.now += duration
                    state.sleeps.append(duration)
                }
            }, chance: { 1 })
    }
}

/// A value behind a lock.
final class LockedValue<Value: Sendable>: Sendable {
    private let content: Mutex<Value>
    init(_ value: Value) { content = Mutex(value) }
    var value: Value { content.withLock { $0 } }
    func change(_ body: @Sendable (inout Value) -> Void) { content.withLock { body(&$0) } }
}
