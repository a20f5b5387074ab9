import SealClient
public import SealEnvelope
import SealPrimitives
import SealStatements

extension Account {
    /// Gives up everything encrypted that the account has on the server, and its keys with it: for a user who fears
    /// that somebody has read along, or wants to start anew (CloudKit's reset of encrypted data).
    ///
    /// The account's zones end with the reason `encryptedDataReset`, which tells the apps on all its devices to keep
    /// what they have, make their zones again and upload it; fetches of a zone fail with `zoneNotFound` and
    /// `userDidResetEncryptedDataKey` until then. The account leaves every share that it takes part in, so that others
    /// open a new key before they next write. The public database stays. The rest is `rotateKeys`: new keys, signed by
    /// the former ones, no session, passkey, server-to-server key or webhook, and a new recovery key.
    ///
    /// It can be cut off anywhere: `finishKeyRotation(trust:progress:)` goes on once the server has the new keys;
    /// before that nothing is given up, and this is to be called again.
    ///
    /// - Parameters: as of `rotateKeys` and `finishKeyRotation`.
    /// - Throws: as these do.
    public func resetEncryptedData(
        trust: TrustStore, passphrase: RecoveryPassphrase? = nil,
        keep: (_ seeds: [AccountSeed]) async throws(SealKitError) -> Void,
        show: (_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Void,
        progress: (KeyRotationProgress) -> Void = { _ in }
    ) async throws(SealKitError) {
        let isNoted = try await replaceKeys(
            passphrase: passphrase, keep: keep, show: show,
            note: { key async throws(SealKitError) in try await noteAll(trust, for: key) })
        // It was cut off before the server had the new keys: until it has them nothing can be asked.
        if !isNoted { try await noteAll(trust, for: keys.loginKey.verificationKey) }
        try await trust.acknowledgeAll(account: deviceKeeper.account)
        try await finishKeyRotation(trust: trust, progress: progress)
    }

    private func noteAll(_ trust: TrustStore, for key: VerificationKey) async throws(SealKitError) {
        var scopes: [TrustStore.GivenUp] = []
        for core in try await cores(trust) {
            for (_, scope) in try await core.allScopes() {
                guard let incarnations = try await core.keeper(of: scope).lives() else { continue }
                scopes.append(TrustStore.GivenUp(scope: scope, incarnations: incarnations))
            }
        }
        try await trust.noteGivenUp(scopes, of: self, for: key)
    }

    /// What was noted as given up, and is still there.
    func giveUp(_ trust: TrustStore, _ cores: [ContainerCore]) async throws(SealKitError) {
        var failure: SealKitError?
        for given in try await trust.givenUp(of: self) {
            guard let core = cores.first(where: { $0.isPlace(of: given.scope) }) else { continue }
            do { try await core.giveUp(given) } catch {
                if error.concernsWholeRequest { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        try await trust.forgetGivenUp(of: self)
    }
}

extension ContainerCore {
    fileprivate func isPlace(of scope: Scope) -> Bool {
        scope.container == identifier && scope.environment == environment
    }

    fileprivate func giveUp(_ given: TrustStore.GivenUp) async throws(SealKitError) {
        let scope = given.scope
        let keeper = keeper(of: scope)
        guard let view = try await keeper.present(), view.isMember, view.roster.incarnations == given.incarnations
        else { return }
        let isOwn = scope.owner == userID()
        // With an own zone its shares end.
        guard !isOwn || scope.shareRecordName.isEmpty else { return }
        let database = Database(core: self, scope: isOwn ? .private : .shared)
        do {
            if isOwn {
                try await database.deleteRecordZone(withID: zoneID(of: scope), reason: .encryptedDataReset)
            } else {
                try await database.leave(scope)
            }
        } catch {
            // Another device, or the share's owner, was faster.
            guard error.code == .zoneNotFound || error.code == .unknownItem else { throw error }
        }
    }
}

extension ZoneKeeper {
    /// The lives of a scope that this account takes part in; nil where it does not. Of one that does not verify now,
    /// as it was verified last: nobody's share keeps somebody who fears for the keys from new ones.
    fileprivate func lives() async throws(SealKitError) -> Incarnations? {
        do throws(SealKitError) {
            guard let view = try await present(), view.isMember else { return nil }
            return view.roster.incarnations
        } catch {
            if error.concernsWholeRequest { throw error }
            guard let roster = try await known(), roster.members[user] != nil else { return nil }
            return roster.incarnations
        }
    }

    /// The scope as it is now; nil where there is none, or none for this account.
    func present() async throws(SealKitError) -> ZoneView? {
        do { return try await refresh() } catch {
            guard error.code == .zoneNotFound || error.code == .unknownItem else { throw error }
            return nil
        }
    }
}
