import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Hands text messages to a gateway: one HTTP POST each, JSON, signed as webhooks of subscriptions are.
final class SMSMessenger: Messenger {
    private let configuration: SMSConfiguration
    private let keys: TokenKeys
    private let clock: @Sendable () -> Int64
    private let client: HTTPClient
    private let slots = AsyncSlots(count: 8)

    private static let timeout = TimeAmount.seconds(15)

    init(configuration: SMSConfiguration, keys: TokenKeys, clock: @escaping @Sendable () -> Int64) {
        (self.configuration, self.keys, self.clock) = (configuration, keys, clock)
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.timeout = .init(connect: Self.timeout, read: Self.timeout)
        settings.decompression = .disabled
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    func send(_ message: OutgoingMessage) async throws {
        guard let phone = try? Address(phone: message.recipient) else { throw MessengerError.invalidRecipient }
        let delivery = Sealkit_V1_TextMessage.with {
            $0.id = message.id
            $0.recipient = phone.normalized
            $0.text = message.body
            $0.language = message.language
        }
        let body: [UInt8] = try delivery.jsonUTF8Bytes()
        let key = keys.newest
        let time = clock() / 1_000_000
        let signed = WebhookSignature.signedBytes(keyID: key.id, time: time, url: configuration.url, body: body)
        let signature = WebhookSignature(keyID: key.id, time: time, signature: key.signingKey.sign(signed))
        var request = HTTPClientRequest(url: configuration.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "sealkit/1")
        request.headers.add(name: WebhookSignature.header, value: signature.headerValue)
        if let token = configuration.token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(bytes: body))
        try await slots.run {
            let status: Int
            do {
                status = Int(try await client.execute(request, timeout: Self.timeout).status.code)
            } catch {
                try Task.checkCancellation()
                // Whatever the client says of it could repeat the URL, which may hold a secret.
                throw MessengerError.gateway(status: 0)
            }
            guard (200..<300).contains(status) else { throw MessengerError.gateway(status: status) }
        }
    }

    func close() async {
        // Fails where it was closed before, and then there is nothing left to do.
        try? await client.shutdown()
    }
}
