import Foundation
import NIOCore
import SealKit
import SealLab
import Synchronization

/// To several servers of one origin, by turns, as a proxy before them has it: who is known to be away gets nothing.
final class ProxyTransport: PassingTransport {
    /// Who of them is there; for all that go by the same proxy.
    final class Upstreams: Sendable {
        private let state: Mutex<(away: Set<Int>, turn: Int)>
        private let count: Int

        init(count: Int) {
            self.count = count
            state = Mutex(([], 0))
        }

        func set(_ server: Int, isThere: Bool) {
            state.withLock { _ = isThere ? $0.away.remove(server) : $0.away.insert(server).memberAfterInsert }
        }

        /// The next that is there; anyone where nobody is.
        func next() -> Int {
            state.withLock { state in
                for _ in 0..<count {
                    state.turn = (state.turn + 1) % count
                    if !state.away.contains(state.turn) { break }
                }
                return state.turn
            }
        }
    }

    let origin: String
    private let servers: [HTTPTransport]
    private let upstreams: Upstreams
    /// Asks again for as long as nobody answers, or says that the database is away.
    private let isPatient: Bool

    /// - Parameter servers: their own addresses.
    init(origin: String, servers: [String], _ upstreams: Upstreams, isPatient: Bool) throws {
        self.origin = origin
        self.servers = try servers.map { try HTTPTransport(server: $0) }
        self.upstreams = upstreams
        self.isPatient = isPatient
    }

    /// Another one each time.
    var next: any Transport { servers[upstreams.next()] }

    private func repeated(
        _ ask: (any Transport) async throws(SealKitError) -> TransportResponse
    ) async throws(SealKitError) -> TransportResponse {
        let end = ContinuousClock.now + patience
        while isPatient, ContinuousClock.now < end {
            if let response = try? await ask(next), response.status != 503 { return response }
            do { try await Task.sleep(for: .milliseconds(200)) } catch { break }
        }
        return try await ask(next)
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try await repeated { server throws(SealKitError) in try await server.post(path, body: body, token: token) }
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await repeated { server throws(SealKitError) in try await server.get(path, token: token) }
    }

    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await next.events(path, token: token, lastEventID: lastEventID, consume: consume)
    }
}
