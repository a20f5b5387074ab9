import Synchronization

/// Keeps an account as long as the process: for tests, and for apps that ask for the recovery key at each start.
public final class MemoryKeyStore: KeyStore {
    private let kept: Mutex<AccountSecrets?>

    /// - Parameter secrets: what it keeps at first; nil for nothing.
    public init(_ secrets: AccountSecrets? = nil) { kept = Mutex(secrets) }

    public func load() async throws(SealKitError) -> AccountSecrets? { kept.withLock { $0 } }

    public func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
        try secrets.check()
        try kept.withLock { kept throws(SealKitError) in
            try old.checkIsStill(kept)
            kept = secrets
        }
    }

    public func delete() async throws(SealKitError) { kept.withLock { $0 = nil } }
}
