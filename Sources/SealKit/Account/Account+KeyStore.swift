public import SealEnvelope
import SealPrimitives
import Synchronization

extension Account {
    /// What a ``KeyStore`` keeps of this account: the device's name only where it was given one, since a key file may
    /// be carried to another host.
    public var secrets: AccountSecrets {
        get throws(SealKitError) {
            let name = session.deviceName
            return try AccountSecrets(
                server: server, seeds: keys.all, deviceName: name == Account.defaultDeviceName ? nil : name)
        }
    }

    /// The account that a store keeps. Nothing is asked of the server.
    ///
    /// <!-- swift: @Sendable func askForPassphrase() async throws(SealKitError) -> String {}; func showWelcome() {} -->
    /// ```swift
    /// let store = FileKeyStore(file: keyFile) { () async throws(SealKitError) in
    ///     try await askForPassphrase()
    /// }
    /// guard let account = try await Account.load(from: store) else {
    ///     return showWelcome()  // make an account, or recover one
    /// }
    /// ```
    /// - Parameter store: where the seeds are kept.
    /// - Parameter connect: what reaches the account's server.
    /// - Returns: nil when the store is empty: make an account, or recover it.
    /// - Throws: what `store` throws.
    public static func load(
        from store: any KeyStore,
        connect: (_ server: String) throws(SealKitError) -> any Transport = Account.overHTTP
    ) async throws(SealKitError) -> Account? {
        guard let secrets = try await store.load() else { return nil }
        return try Account(
            seeds: secrets.seeds, transport: try connect(secrets.server),
            deviceName: secrets.deviceName ?? Account.defaultDeviceName, keyStore: store)
    }

    /// Makes an account on a server and keeps it in `store`, before the server hears of it.
    ///
    /// Where it is not certain whether the account was made, the store goes on keeping it: call this again, with the
    /// same code, and the same account is made, or is there. An app that was ended meanwhile finds it in its store:
    /// with `status()` `noAccount` it was not made, and this makes it; else it is there, and `renewRecoveryKey(show:)`
    /// makes the recovery key that was never shown.
    ///
    /// - Returns: the account, and its recovery key. Show the key to the user once and keep it nowhere.
    /// - Parameters:
    ///   - transport: what reaches the server.
    ///   - deviceName: what other devices will call this one.
    ///   - trust: where this device keeps what it has verified, if it has such a place already.
    ///   - registrationCode: as of `create(transport:deviceName:trust:registrationCode:)`.
    ///   - store: keeps nothing, or an account that was begun so.
    /// - Throws: as `create(transport:deviceName:trust:registrationCode:)`, and what the store throws: nothing was made
    ///   then. `constraintViolation` when the store keeps an account that is there, or another server's.
    public static func create(
        transport: any Transport, deviceName: String = Account.defaultDeviceName, trust: TrustStore? = nil,
        registrationCode: String? = nil, in store: any KeyStore
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        try await create(
            client: Client(transport: transport), deviceName: deviceName, trust: trust,
            registrationCode: registrationCode, in: store)
    }

    private static func create(
        client: Client, deviceName: String, trust: TrustStore?, registrationCode: String?, in store: any KeyStore
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        let kept = try await store.load()
        let secrets: AccountSecrets
        if let kept {
            try await checkIsUnmade(kept, client, trust)
            secrets = kept
        } else {
            var random = SystemRandom()
            secrets = try AccountSecrets(
                server: client.transport.origin, seeds: [AccountSeed(random: &random)],
                deviceName: deviceName == Account.defaultDeviceName ? nil : deviceName)
            try await store.save(secrets, replacing: nil)
        }
        let begun = try UnfinishedAccounts.device(of: secrets)
        let account = try Account(
            seeds: secrets.seeds, client: client, deviceName: deviceName, keyStore: store, deviceKeeper: begun)
        if let trust { account.deviceKeeper.attach(trust) }
        let mayBeMade = Mutex(kept != nil)
        do {
            let recoveryKey = try await account.register(code: registrationCode) { mayBeMade.withLock { $0 = true } }
            UnfinishedAccounts.remove(account)
            return (account, recoveryKey)
        } catch {
            // A server that has the account by this key looks at no code: it would have let it in.
            let isRefused = [.permissionFailure, .verificationFailed].contains(error.code)
            if !isRefused, mayBeMade.withLock({ $0 }) {
                UnfinishedAccounts.insert(account)
            } else if kept == nil || begun != nil {
                // What was there before this process is nobody's to take away: another server may know it.
                UnfinishedAccounts.remove(account)
                if let now = try? await store.load(), now.isSame(as: secrets) { try? await store.delete() }
            }
            throw error
        }
    }

    /// - Throws: `constraintViolation` unless it was begun to be made, and no server is known to have it.
    private static func checkIsUnmade(
        _ kept: AccountSecrets, _ client: Client, _ trust: TrustStore?
    ) async throws(SealKitError) {
        let isThere = SealKitError(
            .constraintViolation, "an account is kept there already",
            remedy:
                "load it, or choose another place; renewRecoveryKey(show:) makes a recovery key where none was shown")
        guard kept.server == client.transport.origin, kept.seeds.count == 1 else { throw isThere }
        guard try UnfinishedAccounts.device(of: kept) == nil else { return }
        let account = try Account(seeds: kept.seeds, client: client)
        if let trust { account.deviceKeeper.attach(trust) }
        guard try await !account.session.isUnknown() else { return }
        // To ask takes a device; one that was made for that is none of the account's.
        if trust == nil { _ = try? await account.revokeDevice(try await account.deviceKeeper.identity().id.hex) }
        throw isThere
    }

    /// As `create(transport:deviceName:trust:registrationCode:in:)`, with time and chance of the caller's.
    package static func create(
        transport: any Transport, pacing: Pacing, deviceName: String, trust: TrustStore, in store: any KeyStore
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        try await create(
            client: Client(transport: transport, pacing: pacing), deviceName: deviceName, trust: trust,
            registrationCode: nil, in: store)
    }

    /// As `load(from:connect:)`, with time and chance of the caller's.
    package static func load(from store: any KeyStore, transport: any Transport, pacing: Pacing)
        async throws(SealKitError)
        -> Account?
    {
        guard let secrets = try await store.load() else { return nil }
        return try Account(
            seeds: secrets.seeds, client: Client(transport: transport, pacing: pacing),
            deviceName: secrets.deviceName ?? Account.defaultDeviceName, keyStore: store)
    }

    /// Gets an account back from its recovery key, and keeps it in `store`, which must be empty.
    /// - Parameter trust: where this device keeps what it has verified, if it has such a place already: it is a new
    ///   device to the account, which a store of a device that was removed has to be told.
    /// - Throws: `constraintViolation` when the store keeps an account already; as
    ///   `recover(_:transport:deviceName:trust:)`.
    public static func recover(
        _ recoveryKey: RecoveryKey, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        trust: TrustStore? = nil, in store: any KeyStore
    ) async throws(SealKitError) -> Account {
        try AccountSecrets?.none.checkIsStill(try await store.load())
        return try await recover(recoveryKey, transport: transport, deviceName: deviceName, trust: trust)
            .kept(in: store)
    }

    /// The account that a store keeps, at another address from now on: its server has another name. It stays the same
    /// account, with all that is its own there, and what this device has verified goes on.
    ///
    /// The server at the new address is asked first: where it does not let the account in, the store keeps the address
    /// that it has.
    /// - Parameters:
    ///   - store: where the account is kept.
    ///   - transport: what reaches the server under its new name.
    ///   - trust: where this device keeps what it has verified: without it the server takes it for a new device.
    /// - Throws: `notAuthenticated` when the store is empty, or the server there knows no account with these keys;
    ///   `accountTemporarilyUnavailable` where it calls itself otherwise; what `store` throws.
    public static func move(
        in store: any KeyStore, to transport: any Transport, trust: TrustStore? = nil
    ) async throws(SealKitError) -> Account {
        guard let kept = try await store.load() else {
            throw SealKitError(
                .notAuthenticated, "no account is kept here that could be moved",
                remedy: "make an account first, or recover one")
        }
        let account = try Account(
            seeds: kept.seeds, transport: transport, deviceName: kept.deviceName ?? Account.defaultDeviceName,
            keyStore: store)
        if let trust { account.deviceKeeper.attach(trust) }
        _ = try await account.session.token()
        try await store.save(try account.secrets, replacing: kept)
        return account
    }

    /// HTTP with its usual configuration.
    public static func overHTTP(_ server: String) throws(SealKitError) -> any Transport {
        try HTTPTransport(server: server)
    }

    private func kept(in store: any KeyStore) async throws(SealKitError) -> Account {
        try await store.save(try secrets, replacing: nil)
        return Account(self, keyStore: store)
    }
}

extension AccountProvider {
    /// Signs in whoever `store` keeps, and signs out when it keeps nobody: what an app does at its start.
    ///
    /// When it fails the state stays what it was: with `wrongPassphrase`, say, ask again.
    /// - Returns: the account; nil when nobody is signed in now.
    /// - Throws: what `store` throws.
    @discardableResult
    public func signIn(
        from store: any KeyStore, trust: TrustStore? = nil, journal: OperationJournal? = nil,
        connect: (_ server: String) throws(SealKitError) -> any Transport = Account.overHTTP
    ) async throws(SealKitError) -> Account? {
        guard let account = try await Account.load(from: store, connect: connect) else {
            signOut()
            return nil
        }
        signIn(account, trust: trust, journal: journal)
        return account
    }
}

/// Accounts that this process has told a server of without hearing what came of it, by their first login key, with
/// the device that each is on here: to be gone on with.
private enum UnfinishedAccounts {
    private static let devices = Mutex<[VerificationKey: DeviceKeeper]>([:])

    static func insert(_ account: Account) { devices.withLock { $0[account.keys.rootKey] = account.deviceKeeper } }
    static func remove(_ account: Account) { devices.withLock { $0[account.keys.rootKey] = nil } }

    static func device(of secrets: AccountSecrets) throws(SealKitError) -> DeviceKeeper? {
        let key = try AccountKeys(secrets.seeds).rootKey
        return devices.withLock { $0[key] }
    }
}
