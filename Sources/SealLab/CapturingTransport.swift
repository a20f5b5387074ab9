public import Foundation
public import NIOCore
public import SealKit
import Synchronization

/// Lets the SDK do all its work but the sending: changes of records are kept, sealed and signed as they are, everything
/// else goes through.
public final class CapturingTransport: Transport {
    /// A request as the server would have got it.
    public struct Captured: Sendable {
        public let path: String
        public let body: Data
        public let token: String
    }

    private let next: HTTPTransport
    private let captured = Mutex<[Captured]>([])
    private let isCapturing = Mutex(false)

    public init(_ next: HTTPTransport) { self.next = next }

    public var origin: String { next.origin }

    /// What `body` would have sent.
    public func capture(_ body: () async throws -> Void) async throws -> [Captured] {
        isCapturing.withLock { $0 = true }
        defer { isCapturing.withLock { $0 = false } }
        do { try await body() } catch SealKitError.Code.operationCancelled {}
        return captured.withLock { captured in
            defer { captured = [] }
            return captured
        }
    }

    public func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        guard isCapturing.withLock({ $0 }), path.hasSuffix("records/modify") else {
            return try await next.post(path, body: body, token: token)
        }
        captured.withLock { $0.append(Captured(path: path, body: body, token: token ?? "")) }
        throw SealKitError(.operationCancelled, "the request was kept, not sent")
    }

    public func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await next.get(path, token: token)
    }

    public func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await next.upload(path, length: length, parts: parts, token: token)
    }

    public func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await next.download(path, range: range, token: token, consume: consume)
    }
}
