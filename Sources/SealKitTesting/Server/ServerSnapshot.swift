public import Foundation

/// All that a test server had at one time. Taken with ``TestServer/snapshot()``.
///
/// It is a server by itself, which answers as the other one did then, and goes on from there: devices that
/// ``ServerFault/rollback(to:)`` sends to it see each other's changes, and nothing of what the others do.
public final class ServerSnapshot: Sendable {
    let host: LocalHost
    /// Where its data and secrets are until its server stops.
    public var folder: URL { host.folderURL }

    init(_ host: LocalHost) { self.host = host }
}
