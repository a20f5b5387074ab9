import Foundation
import NIOCore
import SealLab
import Synchronization

@testable import SealKit

/// Takes connections and whatever fits into the system's buffers, and never says a word; or always the same ones.
final class SilentServer: Sendable {
    let origin: String
    private let descriptor: Int32

    struct NoSocket: Error {}

    init(saying answer: String? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.descriptor = descriptor
        guard listens else { throw NoSocket() }
        origin = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        guard let answer else { return }
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 65_536)
                _ = recv(connection, &request, request.count, 0)
                _ = Array(answer.utf8).withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
    }

    deinit {
        // Wakes the thread that accepts, where there is one.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}

/// Passes on to two servers: assets to one, everything else to the other.
final class SplitTransport: PassingTransport {
    let next: any Transport
    private let assets: HTTPTransport

    init(_ next: HTTPTransport, assets: HTTPTransport) {
        self.next = next
        self.assets = assets
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await assets.upload(path, length: length, parts: parts, token: token)
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) { try await assets.download(path, range: range, token: token, consume: consume) }
}

/// Holds one kind of call back until the test lets it go.
final class HoldingTransport: PassingTransport {
    let next: any Transport
    private let suffix: String
    private let calls = Mutex(0)
    private let arrival = AsyncStream<Void>.makeStream()
    private let release = AsyncStream<Void>.makeStream()
    var count: Int { calls.withLock { $0 } }

    init(_ next: HTTPTransport, holding suffix: String) {
        self.next = next
        self.suffix = suffix
    }

    func reached() async { for await _ in arrival.stream { return } }
    func open() { release.continuation.finish() }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        if path.hasSuffix(suffix) {
            calls.withLock { $0 += 1 }
            arrival.continuation.yield()
            for await _ in release.stream {}
        }
        return try await next.post(path, body: body, token: token)
    }
}

/// Cancels the task that calls, at one of its calls: before it is sent, or once it has been answered.
final class CancellingTransport: PassingTransport {
    let next: any Transport
    private let step: Int
    private let afterwards: Bool
    private let calls = Mutex((armed: false, count: 0))

    init(_ next: HTTPTransport, at step: Int, afterwards: Bool) {
        self.next = next
        self.step = step
        self.afterwards = afterwards
    }

    func arm() { calls.withLock { $0.armed = true } }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        // The identity is registered by a task that all callers share: nobody cancels that one.
        let isNow = calls.withLock { calls in
            guard calls.armed, !path.hasPrefix("/1/accounts") else { return false }
            calls.count += 1
            return calls.count == step
        }
        if isNow, !afterwards { withUnsafeCurrentTask { $0?.cancel() } }
        let response = try await next.post(path, body: body, token: token)
        if isNow, afterwards { withUnsafeCurrentTask { $0?.cancel() } }
        return response
    }
}
