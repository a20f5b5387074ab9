import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Hands text messages to a gateway: one HTTP POST each, JSON, signed as webhooks of subscriptions are.
final class SMSMessenger: Messenger {
    private let configuration: SMSConfiguration
    private let client: SignedClient
    private let slots = AsyncSlots(count: 8)

    init(configuration: SMSConfiguration, keys: TokenKeys, clock: @escaping @Sendable () -> Int64) {
        self.configuration = configuration
        client = SignedClient(keys: keys, clock: clock)
    }

    func send(_ message: OutgoingMessage) async throws {
        guard let phone = try? Address(phone: message.recipient) else { throw MessengerError.invalidRecipient }
        let delivery = Sealkit_V1_TextMessage.with {
            $0.id = message.id
            $0.recipient = phone.normalized
            $0.text = message.body
            $0.language = message.language
        }
        try await slots.run {
            let answer: (isTaken: Bool, status: Int)
            do {
                answer = try await client.post(delivery, to: configuration.url, token: configuration.token)
            } catch {
                try Task.checkCancellation()
                // Whatever the client says of it could repeat the URL, which may hold a secret.
                throw MessengerError.gateway(status: 0)
            }
            guard answer.isTaken else { throw MessengerError.gateway(status: answer.status) }
        }
    }

    func close() async {
        // Fails where it was closed before, and then there is nothing left to do.
        try? await client.close()
    }
}
