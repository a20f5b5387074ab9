import Foundation
import SealWire

/// Where webhooks may go: the origins that the operator allows, and no others. None by default, since a server that
/// fetches what strangers name can be made to reach into its own network.
package struct WebhookTargets: Sendable {
    /// Normalized (`ServerOrigin.normalized`).
    package let origins: Set<String>

    package init(origins: [String]) { self.origins = Set(origins.map(ServerOrigin.normalized)) }

    /// - Throws: `invalidArguments`, `limitExceeded`.
    package func check(_ url: String) throws(ServerError) {
        guard url.utf8.count <= PushLimits.webhookBytes else {
            throw ServerError(
                .limitExceeded, "The webhook's URL takes more than \(PushLimits.webhookBytes) bytes.",
                remedy: "Use a shorter one.")
        }
        guard !origins.isEmpty else {
            throw ServerError(
                .invalidArguments, "This server sends no webhooks.",
                remedy: "Ask the server's operator to allow the origin with --webhook-allow.")
        }
        guard let origin = Self.origin(of: url) else {
            throw ServerError(
                .invalidArguments, "The webhook is not a URL that can be sent to.",
                remedy: "Use https://host/path, with neither user nor fragment.")
        }
        guard origins.contains(origin) else {
            throw ServerError(
                .invalidArguments, "The server's operator does not allow webhooks to that origin.",
                remedy: "Use an allowed origin, or ask the operator to allow it with --webhook-allow.")
        }
    }

    /// Asked again at each attempt: what was allowed once may not be any more.
    package func allows(_ url: String) -> Bool { Self.origin(of: url).map(origins.contains) ?? false }

    /// The normalized origin of a URL without user and fragment; nil for anything else. Plain http stays on this
    /// machine.
    package static func origin(of url: String) -> String? {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }), let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.fragment == nil
        else { return nil }
        guard scheme == "https" || (scheme == "http" && Loopback.contains(urlHost: host)) else { return nil }
        return ServerOrigin.normalized(url)
    }

    /// Whether the operator may allow it: an origin and nothing more.
    package static func isAllowable(_ text: String) -> Bool {
        guard origin(of: text) != nil, let parts = URLComponents(string: text) else { return false }
        return parts.path.isEmpty && parts.query == nil
    }
}
