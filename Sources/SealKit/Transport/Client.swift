import Foundation
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Typed calls over a transport, with a session and retries where repeating is safe.
struct Client: Sendable {
    let transport: any Transport

    /// Every mutation carries an operation id, so a call whose answer was lost is sent again, and has one effect.
    /// - Parameter isRepeatable: false where the request holds something that is good once, like a challenge.
    func call<Request: Message, Response: Message>(
        _ path: String, _ request: Request, as: Response.Type = Response.self, token: String?, isRepeatable: Bool = true
    ) async throws(SealKitError) -> Response {
        let body: Data
        do { body = try request.serializedData() } catch {
            throw SealKitError(.internalError, "the request could not be encoded")
        }
        var attempt = 0
        while true {
            do {
                let response = try await transport.post(path, body: body, token: token)
                return try Client.decode(response)
            } catch {
                attempt += 1
                guard isRepeatable, attempt < 4, error.code == .networkFailure || error.code == .serviceUnavailable else { throw error }
                let delay = min(error.retryAfter ?? 0.1, 2) * Double(attempt) * Double.random(in: 0.05...0.15) * 10 / 4
                do { try await Task.sleep(for: .seconds(delay)) } catch {
                    throw SealKitError(.operationCancelled, "the operation was cancelled")
                }
            }
        }
    }

    func get<Response: Message>(_ path: String, token: String?) async throws(SealKitError) -> Response {
        try Client.decode(try await transport.get(path, token: token))
    }

    static func decode<Response: Message>(_ response: TransportResponse) throws(SealKitError) -> Response {
        guard response.status < 400 else { throw response.failure }
        do { return try Response(serializedBytes: response.body) } catch {
            throw SealKitError(
                .serverRejectedRequest, "the server's answer is not a SealKit message",
                remedy: "check that the address is that of a SealKit server")
        }
    }
}

/// A fresh id for a mutation.
func newOperationID() -> Data {
    var random = SystemRandom()
    return Data(random.bytes(16))
}

/// The clock of statements: microseconds since 1970.
func currentTime() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
