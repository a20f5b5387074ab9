public import Foundation
public import NIOCore
public import SealKit

/// Passes everything on but what a test does otherwise.
public protocol PassingTransport: Transport {
    var next: any Transport { get }
}

extension PassingTransport {
    public var origin: String { next.origin }

    public func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try await next.post(path, body: body, token: token)
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
