public import Foundation
import SealKit

/// For the program behind a subscription's `webhook`: tells what this server sent there now from what anybody else
/// sends, or sends again, and gives what an app delegate would have got. Not CloudKit's.
///
/// ```swift
/// let receiver = try await CKWebhookReceiver(
///     url: "https://hooks.example.org/notes", server: URL(string: "https://notes.example.org")!)
/// for userInfo in try receiver.notifications(in: body, signature: headers["SealKit-Signature"]) {
///     let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// }
/// ```
///
/// Answer with a status of 200 to 299 within 15 seconds, or the server sends it again, for up to a day.
public final class CKWebhookReceiver: Sendable {
    private let verifier: WebhookVerifier

    /// - Parameters:
    ///   - url: exactly as the subscription names it.
    ///   - keys: the server's public keys by name, 32 bytes each.
    /// - Throws: `invalidArguments` for what is no such key.
    public init(url: String, keys: [String: Data]) throws {
        do throws(SealKitError) { verifier = try WebhookVerifier(url: url, keys: keys) } catch { throw CKError(error) }
    }

    /// Fetches the server's keys; the connection to the server vouches for them.
    /// - Parameters:
    ///   - url: exactly as the subscription names it.
    ///   - server: where the account is.
    ///   - certificateAuthorityFile: a PEM file of the authority that signed the server's certificate, where the system
    ///     does not know it.
    /// - Throws: why the server could not be asked.
    public init(url: String, server: URL, certificateAuthorityFile: String? = nil) async throws {
        do throws(SealKitError) {
            let transport = try HTTPTransport(
                server: server.absoluteString,
                configuration: HTTPTransport.Configuration(certificateAuthorityFile: certificateAuthorityFile))
            verifier = try await WebhookVerifier(url: url, server: transport)
        } catch { throw CKError(error) }
    }

    /// - Parameters:
    ///   - body: the request's bytes as they came.
    ///   - signature: the value of the header `SealKit-Signature`.
    ///   - now: this machine's time.
    /// - Returns: a dictionary for each notification, as `CKContainer.remoteNotificationHandler` gets it, but that
    ///   zones are named by their owners, also those of whoever subscribed.
    /// - Throws: `serverRejectedRequest` for what the server did not send to this URL, did not send now, or what came
    ///   before: answer with status 401; `incompatibleVersion` for what cannot be read.
    public func notifications(
        in body: Data, signature: String?, now: Date = Date()
    ) throws -> [[AnyHashable: Any]] {
        do throws(SealKitError) {
            return try verifier.verify(body: body, signature: signature, now: now).notifications.map {
                $0.dictionary(id: nil, user: nil)
            }
        } catch { throw CKError(error) }
    }
}
