public import Foundation
import SealClient
public import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf

extension Account {
    /// A passphrase that brings the account back as its recovery key does, together with a name that the user
    /// remembers.
    ///
    /// Neither the server nor anybody who asks it finds what they seal without an Argon2id for every passphrase tried.
    /// Whoever guesses both has the account: choose a passphrase that nobody guesses, and none that is in use
    /// elsewhere.
    public struct RecoveryPassphrase: Sendable {
        /// How many characters a passphrase has at least; the name is not counted.
        public static let leastCharacters = 12

        let name: String
        let passphrase: SecretBytes

        /// - Parameter passphrase: several words that nobody puts together.
        /// - Parameter name: an e-mail address, say; it keeps people with the same passphrase apart, and is sent
        ///   nowhere.
        /// - Throws: `invalidArguments` for a passphrase of fewer than 12 characters; for no name, or one above 255
        ///   bytes.
        public init(name: String, passphrase: String) throws(SealKitError) {
            guard passphrase.count >= Self.leastCharacters else {
                throw SealKitError(
                    .invalidArguments, "a recovery passphrase has at least \(Self.leastCharacters) characters",
                    remedy: "whoever guesses it has the account: take several words that nobody puts together")
            }
            let trimmed = name.trimmingCharacters(in: .whitespaces)
            guard !trimmed.isEmpty, name.utf8.count <= 255 else {
                throw SealKitError(
                    .invalidArguments, "a recovery name has 1 to 255 bytes",
                    remedy: "give a name that you will remember, such as your e-mail address")
            }
            self.name = name.precomposedStringWithCanonicalMapping
            self.passphrase = SecretBytes(passphrase: passphrase)
        }

        func key(origin: String) throws(SealKitError) -> RecoveryKey {
            do {
                return try RecoveryKey(passphrase: passphrase, name: name, origin: origin)
            } catch {
                throw SealKitError(
                    .internalError, "there is not enough memory for the recovery passphrase",
                    remedy: "Argon2id needs 256 MiB; close something else")
            }
        }
    }

    /// Which ways back into the account the server keeps.
    public struct RecoveryStatus: Sendable, Equatable {
        /// When the printed recovery key was made; nil for none.
        public var recoveryKeySaved: Date?
        /// When the passphrase was set; nil for none.
        public var passphraseSaved: Date?
        /// When somebody's browser made one with a passkey; nil for none.
        public var passkeySaved: Date?
    }

    // MARK: Getting back

    /// Gets an account back from its recovery key alone. To the account this is a new device, whatever it was before.
    /// - Parameter recoveryKey: as it was shown when the account was made, or since.
    /// - Parameter transport: what reaches the account's server.
    /// - Parameter deviceName: what other devices call this one.
    /// - Parameter trust: where this device keeps what it has verified, if it has such a place already.
    /// - Throws: `unknownItem` when the server has no bundle for it; `integrityFailure` when the bundle does not open;
    ///   `keysReplaced` when the account has newer keys than the bundle: the server has kept, or shows, an old one.
    public static func recover(
        _ recoveryKey: RecoveryKey, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        trust: TrustStore? = nil
    ) async throws(SealKitError) -> Account {
        let seeds = try await fetchBundle(of: recoveryKey, transport: transport)
        let account = try Account(seeds: seeds, transport: transport, deviceName: deviceName)
        if let trust { try await account.deviceKeeper.begin(with: trust) } else { account.deviceKeeper.beginAnew() }
        try await account.requireSession()
        return account
    }

    /// Gets an account back by the passphrase that was set for it. It takes a second, and 256 MiB of memory.
    /// - Throws: `unknownItem` when no account has this passphrase under this name; `invalidArguments` where the server
    ///   calls itself otherwise than the transport's address; otherwise as with the recovery key.
    public static func recover(
        _ passphrase: RecoveryPassphrase, transport: any Transport, deviceName: String = Account.defaultDeviceName,
        trust: TrustStore? = nil
    ) async throws(SealKitError) -> Account {
        do {
            return try await recover(
                try passphrase.key(origin: transport.origin), transport: transport, deviceName: deviceName, trust: trust
            )
        } catch let error where error.code == .unknownItem {
            // The server's name is part of what the passphrase opens.
            if let misnaming = await Client(transport: transport).misnaming(as: .invalidArguments) { throw misnaming }
            throw SealKitError(
                .unknownItem, "no account can be recovered by this name and passphrase",
                remedy: "check both, and that this is the account's server")
        }
    }

    private static func fetchBundle(
        of recoveryKey: RecoveryKey, transport: any Transport
    ) async throws(SealKitError) -> [AccountSeed] {
        let request = Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(recoveryKey.bundleID.bytes) }
        let response = try await Client(transport: transport).call(
            Endpoints.accounts.recover, request)
        return try verifying("the recovery bundle") { () throws(SealError) in
            try recoveryKey.open([UInt8](response.sealed))
        }
    }

    // MARK: Changing the ways back

    /// Makes a new recovery key. The one before opens nothing on the server any more, at once.
    /// - Parameter show: shows the key to the user, before the server hears of it: where it goes to a file, return when
    ///   it is on the disk. What it throws leaves the old one in force.
    /// - Returns: the key. Keep it nowhere.
    /// - Throws: `constraintViolation` while the account is being given new keys in this process; what `show` throws.
    @discardableResult
    public func renewRecoveryKey(
        show: (RecoveryKey) async throws(SealKitError) -> Void
    ) async throws(SealKitError) -> RecoveryKey {
        // Nobody is shown a key that cannot be saved.
        try await requireSession()
        var random = SystemRandom()
        let key = RecoveryKey(random: &random)
        try await show(key)
        try keys.beginRotation()
        defer { keys.endRotation() }
        try await requireNewestSession()
        let _: Sealkit_V1_AccountResponse = try await call(
            Endpoints.accounts.saveRecovery, bundle(of: seeds, by: key, .printedKey))
        return key
    }

    /// Sets the passphrase by which the account can be recovered, in the place of any before.
    /// - Throws: `serverRejectedRequest` when another account of this server has the same name and passphrase;
    ///   `constraintViolation` while the account is being given new keys in this process.
    public func setRecoveryPassphrase(_ passphrase: RecoveryPassphrase) async throws(SealKitError) {
        try keys.beginRotation()
        defer { keys.endRotation() }
        try await requireNewestSession()
        let key = try passphrase.key(origin: server)
        do {
            let _: Sealkit_V1_AccountResponse = try await call(
                Endpoints.accounts.saveRecovery, bundle(of: seeds, by: key, .passphrase))
        } catch let error where error.code == .serverRejectedRequest {
            throw Account.takenPassphrase
        }
    }

    /// Another account of the server has them.
    static let takenPassphrase = SealKitError(
        .serverRejectedRequest, "this name and passphrase cannot be used", remedy: "choose another passphrase")

    /// From now on no passphrase brings the account back.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func removeRecoveryPassphrase() async throws(SealKitError) {
        let request = Sealkit_V1_DeleteRecoveryBundleRequest.with { $0.kind = RecoveryBundle.Kind.passphrase.rawValue }
        let _: Sealkit_V1_AccountResponse = try await call(Endpoints.accounts.deleteRecovery, request)
    }

    /// Whether a recovery key that the user has typed would bring this account back, with its newest keys.
    ///
    /// What the server hands out for it is opened and compared, so that a lost, replaced or old bundle is noticed while
    /// there is still a device that can make a new one.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func isGood(_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Bool {
        try await requireSession()
        do {
            let opened = try await Account.fetchBundle(of: recoveryKey, transport: client.transport)
            return RecoveryBundle.brings(opened, back: seeds)
        } catch let error where error.code == .unknownItem {
            return false
        }
    }

    /// As the server says.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func recoveryStatus() async throws(SealKitError) -> RecoveryStatus {
        let response: Sealkit_V1_RecoveryBundlesResponse = try await call(
            Endpoints.accounts.listRecovery, Sealkit_V1_RecoveryBundlesRequest())
        var status = RecoveryStatus()
        for bundle in response.bundles {
            switch RecoveryBundle.Kind(rawValue: bundle.kind) {
            case .printedKey: status.recoveryKeySaved = Date(microseconds: bundle.saved)
            case .passphrase: status.passphraseSaved = Date(microseconds: bundle.saved)
            case .passkey: status.passkeySaved = Date(microseconds: bundle.saved)
            case nil: break
            }
        }
        return status
    }

    func bundle(
        of seeds: [AccountSeed], by key: RecoveryKey, _ kind: RecoveryBundle.Kind
    ) -> Sealkit_V1_RecoveryBundle {
        var random = SystemRandom()
        let bundle = RecoveryBundle(of: seeds, by: key, kind, random: &random)
        return .with {
            $0.recoveryID = Data(bundle.id.bytes)
            $0.sealed = Data(bundle.sealed)
            $0.kind = bundle.kind.rawValue
        }
    }
}

extension Account.RecoveryPassphrase: CustomStringConvertible {
    public var description: String { "RecoveryPassphrase" }
}
