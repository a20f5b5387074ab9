import Foundation
import NIOCore
import SealKit

/// Sends, and writes down what was sent and answered. Once the server is to be killed it sends no more, and tells the
/// SDK not to try again: what happens after the restart is the torture's to decide.
final class JournalTransport: Transport {
    private let next: any Transport
    private let journal: Journal
    /// Otherwise it only goes down with the server.
    private let isWriting: Bool

    init(_ next: any Transport, journal: Journal, isWriting: Bool = true) {
        self.next = next
        self.journal = journal
        self.isWriting = isWriting
    }

    var origin: String { next.origin }

    static let down = SealKitError(.operationCancelled, "the server was killed")

    private func guarded<T>(_ body: () async throws(SealKitError) -> T) async throws(SealKitError) -> T {
        guard !journal.isDown else { throw Self.down }
        do {
            return try await body()
        } catch {
            throw journal.isDown ? Self.down : error
        }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        if isWriting, let token { journal.saw(token: token) }
        return try await guarded { () throws(SealKitError) in
            guard isWriting, path.hasSuffix("records/modify") else {
                return try await next.post(path, body: body, token: token)
            }
            let id: Data
            do { id = try journal.send(path: path, body: body, token: token ?? "") } catch {
                throw SealKitError(.internalError, "the SDK sent what does not decode")
            }
            let response = try await next.post(path, body: body, token: token)
            journal.settle(
                id, response.status == 200 ? .answered(response.body) : response.status < 500 ? .refused : .unknown)
            return response
        }
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try await guarded { () throws(SealKitError) in try await next.get(path, token: token) }
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try await guarded { () throws(SealKitError) in
            try await next.upload(path, length: length, parts: parts, token: token)
        }
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        // The closure is not sendable into another one: guarded by hand.
        guard !journal.isDown else { throw Self.down }
        do { try await next.download(path, range: range, token: token, consume: consume) } catch {
            throw journal.isDown ? Self.down : error
        }
    }
}
