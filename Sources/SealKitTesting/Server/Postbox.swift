import SealService
import Synchronization

/// What the server has sent, in the place of a mail relay or a gateway for text messages.
final class Postbox: Messenger {
    private let sent = Mutex<[OutgoingMessage]>([])

    func send(_ message: OutgoingMessage) async throws { sent.withLock { $0.append(message) } }

    func messages(to address: String) -> [OutgoingMessage] {
        sent.withLock { $0.filter { $0.recipient == address } }
    }
}
