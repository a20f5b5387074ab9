public import SealEnvelope
import SealPrimitives

/// New keys of an account that a ``KeyStore`` keeps.
extension Account {
    /// `rotateKeys`, kept in the account's key store.
    /// - Throws: as there; `constraintViolation` as well when another process of this device is giving the account new
    ///   keys; `invalidArguments` for an account without a store.
    public func rotateKeys(
        trust: TrustStore, passphrase: RecoveryPassphrase? = nil,
        show: (_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Void,
        progress: (KeyRotationProgress) -> Void = { _ in }
    ) async throws(SealKitError) {
        let store = try requiredStore()
        try await rotateKeys(
            trust: trust, passphrase: passphrase,
            keep: { seeds async throws(SealKitError) in try await Account.keep(seeds, in: store) }, show: show,
            progress: progress)
    }

    /// `resetEncryptedData`, with the new keys kept in the account's key store.
    /// - Throws: as `rotateKeys`.
    public func resetEncryptedData(
        trust: TrustStore, passphrase: RecoveryPassphrase? = nil,
        show: (_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Void,
        progress: (KeyRotationProgress) -> Void = { _ in }
    ) async throws(SealKitError) {
        let store = try requiredStore()
        try await resetEncryptedData(
            trust: trust, passphrase: passphrase,
            keep: { seeds async throws(SealKitError) in try await Account.keep(seeds, in: store) }, show: show,
            progress: progress)
    }

    private func requiredStore() throws(SealKitError) -> any KeyStore {
        guard let keyStore else {
            throw SealKitError(
                .invalidArguments, "nothing keeps this account on this device",
                remedy: "load it from a KeyStore, or pass `keep` to keep its seeds yourself")
        }
        return keyStore
    }

    private static func keep(_ seeds: [AccountSeed], in store: any KeyStore) async throws(SealKitError) {
        try await store.update { kept throws(SealKitError) in
            // A seed that another process has kept is never lost under this one's.
            let shared = min(seeds.count, kept.seeds.count)
            let ours = SecretBytes(joining: seeds.prefix(shared).map(\.bytes))
            guard SecretBytes.areEqual(ours, SecretBytes(joining: kept.seeds.prefix(shared).map(\.bytes))) else {
                throw SealKitError(
                    .constraintViolation, "another process of this device is giving the account new keys",
                    remedy: "wait for its end, and load the account again")
            }
            kept.seeds = seeds
        }
    }
}
