public import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// For the receiver of a webhook: tells what this server sent to this URL now from what anybody else sends, or sends
/// again.
///
/// ```swift
/// let verifier = try await WebhookVerifier(url: "https://hooks.example.org/notes", server: transport)
/// let delivery = try verifier.verify(body: body, signature: headers["SealKit-Signature"])
/// ```
///
/// Answer with a status of 200 to 299 within 15 seconds, or the server sends it again, for up to a day. A delivery
/// whose answer was lost comes again under the same `id`.
public final class WebhookVerifier: Sendable {
    /// What a server's webhook keys are published at.
    public static let keysPath = Endpoints.server.webhookKeys.route.template
    /// How far the sender's clock and this one may be apart, in seconds.
    public static let tolerance: TimeInterval = 300

    /// What a webhook was sent, verified.
    public struct Delivery: Sendable {
        /// The same whenever this content is sent again.
        public let id: String
        /// Hints, like those that devices get. Zones of whoever subscribed are named by their owner.
        public let notifications: [Container.Notification.Fired]
    }

    private let url: String
    private let keys: [String: VerificationKey]
    /// Signatures that were accepted, with the time until when they would be again.
    private let seen = Mutex<[[UInt8]: Int64]>([:])

    /// - Parameters:
    ///   - url: exactly as the subscription names it.
    ///   - keys: the server's public keys by name, 32 bytes each; what is not such a key is refused.
    /// - Throws: `invalidArguments`.
    public init(url: String, keys: [String: Data]) throws(SealKitError) {
        var checked: [String: VerificationKey] = [:]
        for (id, bytes) in keys {
            guard let key = try? VerificationKey([UInt8](bytes)), KeyIdentifier.paserk(of: key) == id else {
                throw SealKitError(
                    .invalidArguments, "a webhook key is damaged, or goes by another name",
                    remedy: "fetch the keys from the server's \(WebhookVerifier.keysPath)")
            }
            checked[id] = key
        }
        self.url = url
        self.keys = checked
    }

    /// Fetches the server's keys; the connection to the server vouches for them.
    /// - Throws: what keeps the keys from coming, such as `networkFailure`; `invalidArguments` for damaged keys.
    public convenience init(url: String, server: any Transport) async throws(SealKitError) {
        let response: Sealkit_V1_TokenKeysResponse = try Client.decode(
            try await server.get(WebhookVerifier.keysPath, token: nil))
        try self.init(
            url: url, keys: Dictionary(response.keys.map { ($0.keyID, $0.publicKey) }) { first, _ in first })
    }

    /// - Parameters:
    ///   - body: the bytes as they came.
    ///   - header: the value of the header `SealKit-Signature`.
    ///   - now: this machine's time.
    /// - Throws: `integrityFailure` for what the server did not send to this URL, did not send now, or what was
    ///   verified before.
    public func verify(body: Data, signature header: String?, now: Date = Date()) throws(SealKitError) -> Delivery {
        guard let header, let signature = try? WebhookSignature(header: header), let key = keys[signature.keyID] else {
            throw WebhookVerifier.refused("it is not signed by a key of the server's")
        }
        let signed = WebhookSignature.signedBytes(
            keyID: signature.keyID, time: signature.time, url: url, body: [UInt8](body))
        do { try key.verify(signature.signature, over: signed) } catch {
            throw WebhookVerifier.refused("the signature does not cover this body and URL")
        }
        let seconds = now.timeIntervalSince1970
        guard abs(Double(signature.time) - seconds) <= WebhookVerifier.tolerance else {
            throw WebhookVerifier.refused("it was sent at another time")
        }
        let isNew = seen.withLock { seen in
            seen = seen.filter { Double($0.value) >= seconds }
            return seen.updateValue(signature.time + Int64(WebhookVerifier.tolerance) + 1, forKey: signature.signature)
                == nil
        }
        guard isNew else { throw WebhookVerifier.refused("this very request came before") }
        guard (try? DecodedSize.measure(json: body)) != nil,
            let delivery = try? Sealkit_V1_WebhookDelivery(measuredJSON: body)
        else {
            throw SealKitError(.incompatibleVersion, "the delivery cannot be read", remedy: "update SealKit")
        }
        return Delivery(
            id: delivery.deliveryID,
            notifications: delivery.notifications.compactMap { Container.Notification.Fired($0, own: "") })
    }

    private static func refused(_ reason: String) -> SealKitError {
        SealKitError(.integrityFailure, "the webhook's request is refused: \(reason)", remedy: "answer with status 401")
    }
}

extension WebhookVerifier: CustomReflectable {
    /// The URL may be all that protects its receiver: it shows nowhere.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
