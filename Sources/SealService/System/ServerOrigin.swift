import Foundation
import Synchronization

/// The origin that clients know this server by: what a login signs, what a token names as its issuer.
///
/// It is configured, or it is the listen address, whose port may be known only once the server runs.
package final class ServerOrigin: Sendable {
    private let stored: Mutex<String>

    package init(_ origin: String) { stored = Mutex(Self.normalized(origin)) }

    package var value: String { stored.withLock { $0 } }

    package func set(_ origin: String) { stored.withLock { $0 = Self.normalized(origin) } }

    /// Scheme and host in lower case, no default port, no path: the one spelling in which both sides sign it. A name
    /// beyond ASCII is its A-label (`xn--…`), as every resolver and certificate has it.
    package static func normalized(_ origin: String) -> String {
        guard let parts = URLComponents(string: origin), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost?.lowercased()
        else { return origin }
        let standardPort = scheme == "https" ? 443 : 80
        guard let port = parts.port, port != standardPort else { return "\(scheme)://\(host)" }
        return "\(scheme)://\(host):\(port)"
    }
}
