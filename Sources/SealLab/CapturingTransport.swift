public import Foundation
public import SealKit
import Synchronization

/// Lets the SDK do all its work but the sending: changes of records are kept, sealed and signed as they are, everything
/// else goes through.
public final class CapturingTransport: PassingTransport {
    /// A request as the server would have got it.
    public struct Captured: Sendable {
        public let path: String
        public let body: Data
        public let token: String
    }

    public let next: any Transport
    private let captured = Mutex<[Captured]>([])
    private let isCapturing = Mutex(false)

    public init(_ next: HTTPTransport) { self.next = next }

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
}
