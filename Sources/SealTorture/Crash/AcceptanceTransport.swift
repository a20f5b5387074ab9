import Foundation
import SealKit
import SealLab
import Synchronization

/// Keeps the last acceptance of a share that was sent, so that it can be sent once more.
final class AcceptanceTransport: PassingTransport {
    struct Sent: Sendable {
        let path: String
        let body: Data
        let token: String
        /// nil where none came that says that it was done.
        var answer: Data?
    }

    /// Of one device.
    final class Notes: Sendable {
        private let last = Mutex<Sent?>(nil)

        func note(_ sent: Sent) { last.withLock { $0 = sent } }
        /// What was sent since it was last taken.
        func take() -> Sent? { last.withLock { $0.take() } }
    }

    let next: any Transport
    private let notes: Notes

    init(_ next: any Transport, _ notes: Notes) { (self.next, self.notes) = (next, notes) }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        guard path.hasSuffix("share/accept"), let token else {
            return try await next.post(path, body: body, token: token)
        }
        var sent = Sent(path: path, body: body, token: token)
        notes.note(sent)
        let response = try await next.post(path, body: body, token: token)
        if response.status == 200 { sent.answer = response.body }
        notes.note(sent)
        return response
    }
}
