import Foundation
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealKit

/// A server that says that it does not know one login key.
final class DenyingTransport: PassingTransport {
    let isDenying = Mutex(true)
    /// The login keys that it was asked to let in by.
    let logins = Mutex<[Data]>([])
    let next: any Transport
    private let key: Data

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
}
