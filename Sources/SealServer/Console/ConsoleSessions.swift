import SealPrimitives
import SealService
import Synchronization

/// Who has signed in to the console: in memory alone, so that the server's end ends them all. The server keeps hashes.
final class ConsoleSessions: Sendable {
    /// Twelve hours, in microseconds.
    static let lifetime: Int64 = 12 * 3_600_000_000
    private static let most = 100
    /// A minute, in microseconds, by which a clock that is set right may go back.
    private static let tolerance: Int64 = 60_000_000
    static let cookie = "__Host-sealkit-console"

    private struct Entry {
        let expires: Int64
        let formKey: [UInt8]
        let grant: ManagementTokens.Grant?
    }

    /// One that is good.
    struct Session: Sendable {
        let hash: [UInt8]
        fileprivate let formKey: [UInt8]
        /// Of whoever has signed in with a container's token; nil for the operator.
        let grant: ManagementTokens.Grant?

        /// The one that is managed; nil for the operator.
        var container: String? { grant?.container }

        /// What a form that does something has to bring along: another one for each path.
        func formToken(_ path: String) -> String {
            Hex.encode(ServerHash.digest(.consoleForm, formKey, Array(path.utf8)))
        }

        func allows(_ token: String, for path: String) -> Bool {
            constantTimeEqual(Array(token.utf8), Array(formToken(path).utf8))
        }
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - randomBytes: that many bytes that nobody can guess.
    ///   - clock: microseconds since 1970.
    init(randomBytes: @escaping @Sendable (Int) -> [UInt8], clock: @escaping @Sendable () -> Int64) {
        (self.randomBytes, self.clock) = (randomBytes, clock)
    }

    /// - Parameter grant: a container's; nil for the operator.
    /// - Returns: what the browser keeps as its cookie; it is shown this once.
    func begin(for grant: ManagementTokens.Grant? = nil) -> String {
        let bytes = randomBytes(32)
        let entry = Entry(expires: clock() + Self.lifetime, formKey: randomBytes(32), grant: grant)
        let now = clock()
        entries.withLock { entries in
            entries = entries.filter { $0.value.expires > now }
            // The one that ends first makes room, among those who may as much: managers do not put the operator out.
            let alike = entries.filter { ($0.value.grant == nil) == (grant == nil) }
            if alike.count >= Self.most, let first = alike.min(by: { $0.value.expires < $1.value.expires }) {
                entries[first.key] = nil
            }
            entries[Self.hash(bytes)] = entry
        }
        return Base64URL.encode(bytes)
    }

    /// Nil for a cookie that is none, or no longer good.
    func find(_ cookie: String) -> Session? {
        guard cookie.utf8.count == 43, let bytes = try? Base64URL.decode(cookie) else { return nil }
        // Looked up by hash: what a comparison's time could tell about a hash is of no use to find a session.
        let (hash, now) = (Self.hash(bytes), clock())
        return entries.withLock { entries in
            guard let entry = entries[hash] else { return nil }
            // One that would last for longer than any was begun while the clock was ahead.
            guard entry.expires > now, entry.expires - now <= Self.lifetime + Self.tolerance else {
                entries[hash] = nil
                return nil
            }
            return Session(hash: hash, formKey: entry.formKey, grant: entry.grant)
        }
    }

    func end(_ session: Session) { entries.withLock { $0[session.hash] = nil } }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { ServerHash.digest(.consoleSession, bytes) }
}
