/// Where a device keeps one account's secrets: a file, the platform's keychain, or memory.
///
/// The SDK has ``FileKeyStore`` and ``MemoryKeyStore``; an app writes its own for a keychain, with
/// ``AccountSecrets/encoded()`` as what lies in it:
///
/// <!-- swift: func read() throws(SealKitError) -> Data? {}; func write(_: Data) throws(SealKitError) {};
/// func remove() throws(SealKitError) {} -->
/// ```swift
/// struct Keychain: KeyStore {
///     func load() async throws(SealKitError) -> AccountSecrets? {
///         guard let data = try read() else { return nil }
///         return try AccountSecrets(encoded: data)
///     }
///     func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
///         try old.checkIsStill(try await load())
///         try write(secrets.encoded())
///     }
///     func delete() async throws(SealKitError) { try remove() }
/// }
/// ```
/// An app gets the account by `Account.load(from:)`: what a store keeps may be one whose making was cut off.
///
/// What it keeps is the account: whoever reads it is the user. Where it is lost, another device, the recovery key or a
/// recovery passphrase brings the account back.
public protocol KeyStore: Sendable {
    /// - Returns: nil when nothing is kept.
    /// - Throws: `wrongPassphrase`, `invalidArguments` for what cannot be read; never nil for something damaged.
    func load() async throws(SealKitError) -> AccountSecrets?

    /// Keeps `secrets` in the place of `old`, whole or not at all: when this returns they outlast a power cut, and when
    /// it throws, `old` is still there.
    /// - Parameters:
    ///   - secrets: what is to be kept from now on.
    ///   - old: what has been loaded or saved before; nil when nothing is kept yet.
    /// - Throws: `constraintViolation` when something else is kept than `old`: another process was faster. Load again.
    func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError)

    /// Forgets the account on this device. Nothing to forget is no error.
    func delete() async throws(SealKitError)

    /// Drops what it holds in memory of what it keeps, a passphrase as well: ``AccountProvider/lock()`` asks for it.
    /// Without one of its own a store does nothing.
    func lock()
}

extension KeyStore {
    public func lock() {}

    /// Changes what is kept, once more when another process has changed it meanwhile.
    /// - Returns: what is kept now.
    /// - Throws: `notAuthenticated` when nothing is kept; what `load`, `save` and `change` throw.
    @discardableResult
    public func update(
        _ change: (inout AccountSecrets) throws(SealKitError) -> Void
    ) async throws(SealKitError) -> AccountSecrets {
        var tries = 0
        while true {
            guard let old = try await load() else {
                throw SealKitError(
                    .notAuthenticated, "this device keeps no account there",
                    remedy: "make an account, or recover it, first")
            }
            var new = old
            try change(&new)
            do throws(SealKitError) {
                try await save(new, replacing: old)
                return new
            } catch let error where error.code == .constraintViolation && tries < 4 {
                tries += 1
            }
        }
    }
}

extension AccountSecrets? {
    /// What every store checks before it replaces anything.
    /// - Throws: `constraintViolation` unless `kept` is the same.
    public func checkIsStill(_ kept: AccountSecrets?) throws(SealKitError) {
        switch (self, kept) {
        case (nil, nil): return
        case (nil, _?):
            throw SealKitError(.constraintViolation, "an account is kept there already", remedy: "choose another place")
        case (_?, nil):
            throw SealKitError(.constraintViolation, "the account is not kept there any more", remedy: "load it again")
        case (let old?, let kept?):
            guard old.isSame(as: kept) else {
                throw SealKitError(
                    .constraintViolation, "another process has changed the account's keys meanwhile",
                    remedy: "load them again")
            }
        }
    }
}
