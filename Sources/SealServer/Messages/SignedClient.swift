import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealStatements
import SealService
import SwiftProtobuf

/// Posts JSON that this server signs (`WebhookSignature`), to the webhooks of subscriptions and the gateway of text
/// messages.
///
/// It follows no redirect and reads no body: whoever was named gets it, and says with the status whether it took it.
struct SignedClient: Sendable {
    private let client: HTTPClient
    private let keys: TokenKeys
    private let clock: @Sendable () -> Int64

    private static let timeout = TimeAmount.seconds(15)

    /// - Parameter clock: microseconds since 1970.
    init(keys: TokenKeys, clock: @escaping @Sendable () -> Int64) {
        (self.keys, self.clock) = (keys, clock)
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        // Whoever answers over HTTP/2 could end this process by a status that is none.
        settings.httpVersion = .http1Only
        settings.timeout = .init(connect: Self.timeout, read: Self.timeout)
        settings.decompression = .disabled
        // What is to come later is the sender's to say.
        settings.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    /// - Parameter token: for the receiver's `Authorization`; nil for none.
    /// - Returns: whether the status was one of success, and which.
    func post(_ message: any Message, to url: String, token: String? = nil) async throws -> (isTaken: Bool, status: Int)
    {
        let body: [UInt8] = try message.jsonUTF8Bytes()
        let (key, time) = (keys.newest, clock() / 1_000_000)
        let signed = WebhookSignature.signedBytes(keyID: key.id, time: time, url: url, body: body)
        let signature = WebhookSignature(keyID: key.id, time: time, signature: key.signingKey.sign(signed))
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "sealkit/1")
        request.headers.add(name: WebhookSignature.header, value: signature.headerValue)
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(bytes: body))
        let status = Int(try await client.execute(request, timeout: Self.timeout).status.code)
        return ((200..<300).contains(status), status)
    }

    func close() async throws { try await client.shutdown() }
}
