import Foundation
import NIOCore
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealKit

/// A server that says that it does not know one login key.
final class DenyingTransport: Transport {
    let isDenying = Mutex(true)
    /// The login keys that it was asked to let in by.
    let logins = Mutex<[Data]>([])
    private let next: HTTPTransport
    private let key: Data
    var origin: String { next.origin }

    init(_ next: HTTPTransport, key: Data) { (self.next, self.key) = (next, key) }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        if path.hasSuffix("accounts/login"), let login = try? Sealkit_V1_LoginRequest(serializedBytes: body) {
            logins.withLock { $0.append(login.loginKey) }
            if login.loginKey == key, isDenying.withLock({ $0 }) {
                throw SealKitError(.unknownItem, "No account has this login key.")
            }
        }
        return try await next.post(path, body: body, token: token)
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await next.get(path, token: token)
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await next.upload(path, length: length, parts: parts, token: token)
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await next.download(path, range: range, token: token, consume: consume)
    }
}
