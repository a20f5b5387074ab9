import Crypto
public import Foundation
import SealPrimitives
import Synchronization

/// Keeps an account in a key file, sealed by a passphrase where one is given (Argon2id).
///
/// A file is replaced whole: it is written beside its place, made durable, and takes the name at the end. Processes
/// take turns by a lock on the folder, and none replaces what it has not seen.
public actor FileKeyStore: KeyStore {
    /// Asks the user for the passphrase of a key file; what it throws is thrown by whoever needed it.
    public typealias Passphrase = @Sendable () async throws(SealKitError) -> String

    /// The key file, which need not be there yet.
    public nonisolated let file: URL
    private let ask: Passphrase?
    private nonisolated let held = Mutex(Held())

    /// What stays in memory between calls.
    private struct Held {
        var asked: SecretBytes?
        /// The file as it was read or written last.
        var last: Kept?
        /// How often it was locked: a call that began before that leaves nothing behind.
        var locks = 0
    }

    private struct Kept {
        let hash: SHA256Digest
        let isSealed: Bool
        let secrets: AccountSecrets
    }

    /// - Parameter file: the key file, which need not be there yet.
    /// - Parameter passphrase: asked for when it is needed, since a sealed file is opened or a new one is written:
    ///   once, and once more after each `lock()` and `delete()`. A new file is unsealed without it. A file that is
    ///   there stays sealed, or unsealed, as it is.
    public init(file: URL, passphrase: Passphrase? = nil) {
        // Where the name is a link, the file that it leads to is what is read and replaced.
        self.file = file.resolvingSymlinksInPath()
        ask = passphrase
    }

    /// - Throws: `wrongPassphrase`; `permissionFailure` when others can read the unsealed file, or replace it;
    ///   `invalidArguments`, `incompatibleVersion` for one that is damaged, or not a key file.
    public func load() async throws(SealKitError) -> AccountSecrets? { try await read()?.secrets }

    public func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
        try secrets.check()
        let locks = locks
        let kept = try await read()
        try old.checkIsStill(kept?.secrets)
        let isSealed = kept?.isSealed ?? (ask != nil)
        try replace(kept, with: secrets, passphrase: isSealed ? try await passphrase() : nil, since: locks)
    }

    /// Seals the file by another passphrase.
    /// - Parameter passphrase: nil for an unsealed file: whoever reads it is the user.
    /// - Throws: `notAuthenticated` when there is no file; `invalidArguments` for an empty passphrase; what `load`
    ///   throws.
    public func changePassphrase(to passphrase: String?) async throws(SealKitError) {
        guard passphrase?.isEmpty != true else { throw KeyFile.emptyPassphrase }
        let locks = locks
        guard let kept = try await read() else { throw KeyFile.missing(file) }
        let new = passphrase.map(SecretBytes.init(passphrase:))
        try replace(kept, with: kept.secrets, passphrase: new, since: locks)
        keep(since: locks) { $0.asked = new }
    }

    /// Forgets passphrase and seeds, which are in the file: the next call reads it, and asks where it is sealed.
    public nonisolated func lock() {
        held.withLock { held in
            held.asked = nil
            held.last = nil
            held.locks += 1
        }
    }

    private nonisolated var locks: Int { held.withLock { $0.locks } }

    private nonisolated func keep(since locks: Int, _ change: (inout Held) -> Void) {
        held.withLock { held in if held.locks == locks { change(&held) } }
    }

    public func delete() async throws(SealKitError) {
        try PrivateFile.locked(file) { () throws(SealKitError) in try PrivateFile.remove(file) }
        lock()
    }

    private func read() async throws(SealKitError) -> Kept? {
        let locks = locks
        guard let content = try PrivateFile.read(file) else { return nil }
        let hash = SHA256.hash(data: content.bytes)
        if let last = held.withLock({ $0.last }), last.hash == hash { return last }
        let keyFile = try KeyFile(content.bytes, name: file.path)
        try PrivateFile.checkAccess(content, of: file, isSecret: !keyFile.isSealed)
        let kept = Kept(hash: hash, isSealed: keyFile.isSealed, secrets: try await open(keyFile))
        keep(since: locks) { $0.last = kept }
        return kept
    }

    /// - Parameters:
    ///   - kept: what the file has to hold still; nil when there is to be none.
    ///   - locks: how often the store had been locked when the call began.
    private func replace(
        _ kept: Kept?, with secrets: AccountSecrets, passphrase: SecretBytes?, since locks: Int
    ) throws(SealKitError) {
        // Before the lock is taken: to derive a key takes a second.
        let content = try KeyFile.content(secrets, passphrase: passphrase)
        try PrivateFile.locked(file) { () throws(SealKitError) in
            guard try PrivateFile.read(file).map({ SHA256.hash(data: $0.bytes) }) == kept?.hash else {
                throw SealKitError(
                    .constraintViolation, "another process has changed \(file.path) meanwhile", remedy: "load it again")
            }
            try PrivateFile.replace(file, with: content)
        }
        let written = Kept(hash: SHA256.hash(data: content), isSealed: passphrase != nil, secrets: secrets)
        keep(since: locks) { $0.last = written }
    }

    private func open(_ keyFile: KeyFile) async throws(SealKitError) -> AccountSecrets {
        guard keyFile.isSealed else { return try keyFile.secrets { () throws(SealKitError) in "" } }
        let passphrase = try await passphrase()
        do throws(SealKitError) {
            return try keyFile.secrets(passphrase: passphrase)
        } catch {
            // The next try asks again.
            if error.code == .wrongPassphrase { held.withLock { $0.asked = nil } }
            throw error
        }
    }

    private func passphrase() async throws(SealKitError) -> SecretBytes {
        if let asked = held.withLock({ $0.asked }) { return asked }
        let locks = locks
        guard let ask else {
            throw SealKitError(
                .wrongPassphrase, "\(file.path) is sealed, and no passphrase was given", remedy: "give the store one")
        }
        let typed = try await ask()
        guard !typed.isEmpty else { throw KeyFile.emptyPassphrase }
        let passphrase = SecretBytes(passphrase: typed)
        keep(since: locks) { $0.asked = passphrase }
        return passphrase
    }
}

extension FileKeyStore: CustomStringConvertible {
    public nonisolated var description: String { "FileKeyStore(\(file.path))" }
}
