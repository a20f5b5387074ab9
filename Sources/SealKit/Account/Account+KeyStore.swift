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
    /// One whose making was cut off is none yet: `create(transport:deviceName:trust:registrationCode:in:)` goes on with
    /// it.
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
    /// - Returns: nil when the store keeps no account: make one, or recover it.
    /// - Throws: what `store` throws.
    public static func load(
        from store: any KeyStore,
        connect: (_ server: String) throws(SealKitError) -> any Transport = Account.overHTTP
    ) async throws(SealKitError) -> Account? {
        guard let secrets = try await store.finished() else { return nil }
        return try Account(
            seeds: secrets.seeds, transport: try connect(secrets.server),
            deviceName: secrets.deviceName ?? Account.defaultDeviceName, keyStore: store)
    }

    /// Makes an account on a server and keeps it in `store`: as one that is unfinished before the server hears of it,
    /// as an account at the end.
    ///
    /// Where this fails, or the app is ended meanwhile, call it again, with the same code: the same account is made, or
    /// is there, and the recovery key is the one that comes then. Until it has succeeded `load(from:connect:)` gives
    /// nil, so that an app which makes an account where it loads none comes right by itself.
    ///
    /// - Returns: the account, and its recovery key. Show the key to the user once and keep it nowhere.
    /// - Parameters:
    ///   - transport: what reaches the server.
    ///   - deviceName: what other devices will call this one.
    ///   - trust: where this device keeps what it has verified, if it has such a place already.
    ///   - registrationCode: as of `create(transport:deviceName:trust:registrationCode:)`.
    ///   - store: keeps nothing, or an account that is unfinished.
    /// - Throws: as `create(transport:deviceName:trust:registrationCode:)`, and what the store throws;
    ///   `constraintViolation` when the store keeps an account.
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
        let (begun, recoveryKey) = try await begin(in: store, client, deviceName: deviceName)
        let account = try Account(
            seeds: begun.seeds, client: client, deviceName: deviceName, keyStore: store,
            deviceKeeper: try UnfinishedAccounts.device(of: begun))
        if let trust { account.deviceKeeper.attach(trust) }
        try await account.register(recoveryKey, code: registrationCode)
        let made = try account.secrets
        do throws(SealKitError) { try await store.save(made, replacing: begun) } catch {
            // Another call, or another process, has finished the same account by the same keys.
            guard error.code == .constraintViolation, try await store.load()?.isSame(as: made) == true else {
                throw error
            }
        }
        UnfinishedAccounts.remove(account)
        return (account, recoveryKey)
    }

    /// The account that `store` keeps as unfinished now: nobody has used it, so it may be any server's.
    /// Where there is none, one is kept once the server has answered anything at all.
    private static func begin(
        in store: any KeyStore, _ client: Client, deviceName: String
    ) async throws(SealKitError) -> (AccountSecrets, RecoveryKey) {
        let (kept, server) = (try await store.unfinished(), client.transport.origin)
        if let kept, let key = kept.recoveryKey, kept.server == server { return (kept, key) }
        _ = try await ServerInformation(transport: client.transport)
        var random = SystemRandom()
        let recoveryKey = kept?.recoveryKey ?? RecoveryKey(random: &random)
        var begun: AccountSecrets
        if let kept {
            // The server may have another name since, and the account by these keys.
            begun = kept
            begun.server = server
        } else {
            begun = try AccountSecrets(
                server: server, seeds: [AccountSeed(random: &random)],
                deviceName: deviceName == Account.defaultDeviceName ? nil : deviceName)
            begun.recoveryKey = recoveryKey
        }
        try await store.save(begun, replacing: kept)
        return (begun, recoveryKey)
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
        guard let secrets = try await store.finished() else { return nil }
        return try Account(
            seeds: secrets.seeds, client: Client(transport: transport, pacing: pacing),
            deviceName: secrets.deviceName ?? Account.defaultDeviceName, keyStore: store)
    }

    /// Gets an account back from its recovery key, and keeps it in `store`, which must not keep another: one that is
    /// unfinished gives way.
    /// - Parameters:
    ///   - recoveryKey: as its user has written it down.
    ///   - transport: what reaches the server.
    ///   - deviceName: what other devices will call this one.
    ///   - trust: where this device keeps what it has verified, if it has such a place already: it is a new device to
    ///     the account, which a store of a device that was removed has to be told.
    ///   - store: keeps nothing, or an account that is unfinished.
    /// - Throws: `constraintViolation` when the store keeps an account already; as
    ///   `recover(_:transport:deviceName:trust:)`.
    public static func recover(
        _ recoveryKey: RecoveryKey, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        trust: TrustStore? = nil, in store: any KeyStore
    ) async throws(SealKitError) -> Account {
        _ = try await store.unfinished()
        return try await recover(recoveryKey, transport: transport, deviceName: deviceName, trust: trust)
            .kept(in: store)
    }

    /// Gets an account back by the passphrase that was set for it, and keeps it in `store`: as by its recovery key.
    /// - Throws: `constraintViolation` when the store keeps an account already; as
    ///   `recover(_:transport:deviceName:trust:)`.
    public static func recover(
        _ passphrase: RecoveryPassphrase, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        trust: TrustStore? = nil, in store: any KeyStore
    ) async throws(SealKitError) -> Account {
        _ = try await store.unfinished()
        return try await recover(passphrase, transport: transport, deviceName: deviceName, trust: trust)
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
    /// - Throws: `notAuthenticated` when the store keeps no account, or the server there knows none with these keys;
    ///   `accountTemporarilyUnavailable` where it calls itself otherwise; what `store` throws.
    public static func move(
        in store: any KeyStore, to transport: any Transport, trust: TrustStore? = nil
    ) async throws(SealKitError) -> Account {
        guard let kept = try await store.finished() else {
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

    /// This account, which `store` keeps from now on, in the place of one that is unfinished.
    func kept(in store: any KeyStore) async throws(SealKitError) -> Account {
        try await store.save(try secrets, replacing: try await store.unfinished())
        return Account(self, keyStore: store)
    }
}

extension KeyStore {
    /// The account that is kept; nil also for one that is unfinished.
    fileprivate func finished() async throws(SealKitError) -> AccountSecrets? {
        guard let kept = try await load(), !kept.isUnfinished else { return nil }
        return kept
    }

    /// What may give way to another account, since nobody has used it.
    /// - Throws: `constraintViolation` when an account is kept.
    func unfinished() async throws(SealKitError) -> AccountSecrets? {
        guard let kept = try await load() else { return nil }
        guard kept.isUnfinished else {
            throw SealKitError(
                .constraintViolation, "an account is kept there already", remedy: "load it, or choose another place")
        }
        return kept
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

/// Which device this process is to each account that it has begun and not finished, by the account's login key: where
/// the server has the account by then, making it again is no second device.
private enum UnfinishedAccounts {
    private static let devices = Mutex<[VerificationKey: DeviceKeeper]>([:])

    static func device(of secrets: AccountSecrets) throws(SealKitError) -> DeviceKeeper {
        let (key, new) = (try AccountKeys(secrets.seeds).rootKey, try DeviceKeeper(account: secrets.seeds[0]))
        return devices.withLock { devices in
            if let begun = devices[key] { return begun }
            devices[key] = new
            return new
        }
    }

    static func remove(_ account: Account) { devices.withLock { $0[account.keys.rootKey] = nil } }
}
