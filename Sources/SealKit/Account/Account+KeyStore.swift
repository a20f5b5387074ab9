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

    /// Makes an account on a server and keeps it in `store`, which must be empty.
    ///
    /// - Returns: the account, and its recovery key. Show the key to the user once and keep it nowhere.
    /// - Throws: as `create(transport:deviceName:trust:registrationCode:)`; `constraintViolation` when the store keeps
    ///   an account already: nothing was made. When the account cannot be kept, what the store throws: the account on
    ///   the server is then nobody's, and holds nothing.
    public static func create(
        transport: any Transport, deviceName: String = Account.defaultDeviceName, registrationCode: String? = nil,
        in store: any KeyStore
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        try AccountSecrets?.none.checkIsStill(try await store.load())
        let (account, recoveryKey) = try await create(
            transport: transport, deviceName: deviceName, registrationCode: registrationCode)
        return (try await account.kept(in: store), recoveryKey)
    }

    /// As `create(transport:deviceName:registrationCode:in:)`, with time and chance of the caller's.
    package static func create(
        transport: any Transport, pacing: Pacing, deviceName: String, trust: TrustStore, in store: any KeyStore
    ) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey) {
        let (account, recoveryKey) = try await create(
            client: Client(transport: transport, pacing: pacing), deviceName: deviceName, trust: trust,
            registrationCode: nil)
        return (try await account.kept(in: store), recoveryKey)
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
    /// - Throws: `constraintViolation` when the store keeps an account already; as `recover(_:transport:deviceName:)`.
    public static func recover(
        _ recoveryKey: RecoveryKey, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        in store: any KeyStore
    ) async throws(SealKitError) -> Account {
        try AccountSecrets?.none.checkIsStill(try await store.load())
        return try await recover(recoveryKey, transport: transport, deviceName: deviceName).kept(in: store)
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
