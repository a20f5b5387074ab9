import Foundation
import SealClient
public import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Account {
    /// How far the rosters know an account's new keys.
    public struct KeyRotationProgress: Sendable, Equatable {
        /// Zones and shares that know them.
        public let done: Int
        /// Zones and shares of the account that have to know them.
        public let total: Int
    }

    /// Gives the account new keys, when the ones it has may have come into wrong hands.
    ///
    /// They are a new generation, signed by the one before: the user record names stay, and whoever has verified this
    /// account is told to compare its number again. Every session ends, so that all other devices have to be enrolled
    /// again, and a new recovery key takes the place of the one before. What goes on without a session ends too, since
    /// it may be a thief's: server-to-server keys, and the webhooks of subscriptions, which stay for the devices; make
    /// your own anew. Then every zone and share is told, and gets a new key. Devices that were new (`newDevices()`) are
    /// none of the account's any more, and are not told of again.
    ///
    /// It can be cut off anywhere. Where the server was not told yet (`hasUntoldKeys`), logins fail with
    /// `notAuthenticated` from the next start on; call it again, and the seed that was kept is used. Once the server
    /// has been told, `finishKeyRotation(trust:progress:)` goes on.
    ///
    /// - Parameters:
    ///   - progress: after each step.
    ///   - trust: the one that the containers of this account have.
    ///   - passphrase: sets the recovery passphrase for the new keys; without one, no passphrase brings the account
    ///     back. A passkey that a browser made does so no more in either case (`recoveryStatus()` names it before).
    ///   - keep: keeps all seeds durably in the place of those that the device has, before the server is told of the
    ///     new one.
    ///   - show: shows the new recovery key to the user, before it counts; what it throws leaves everything as it was.
    /// - Throws: `keysReplaced` when another device was faster: enrol this one again; `limitExceeded` after 63
    ///   rotations; `constraintViolation` while another one is under way in this process; `serverRejectedRequest` when
    ///   another account of this server has the same name and passphrase: as a rule nothing has changed then, and
    ///   `hasUntoldKeys` says where that is not certain; what `keep` and `show` throw.
    public func rotateKeys(
        trust: TrustStore, passphrase: RecoveryPassphrase? = nil,
        keep: (_ seeds: [AccountSeed]) async throws(SealKitError) -> Void,
        show: (_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Void,
        progress: (KeyRotationProgress) -> Void = { _ in }
    ) async throws(SealKitError) {
        // A reset that was begun, and is not wanted any more, is none.
        try await trust.forgetGivenUp(of: self)
        try await replaceKeys(passphrase: passphrase, keep: keep, show: show)
        try await trust.acknowledgeAll(account: deviceKeeper.account)
        try await finishKeyRotation(trust: trust, progress: progress)
    }

    /// - Parameter note: what is to happen with these keys, before anything does: called with the new login key, which
    ///   counts once the account has it. Not called where nothing can be asked of the server before it has the new
    ///   keys.
    /// - Returns: whether `note` was called.
    @discardableResult
    func replaceKeys(
        passphrase: RecoveryPassphrase?, keep: (_ seeds: [AccountSeed]) async throws(SealKitError) -> Void,
        show: (_ recoveryKey: RecoveryKey) async throws(SealKitError) -> Void,
        note: (_ loginKey: VerificationKey) async throws(SealKitError) -> Void = { (_) async throws(SealKitError) in }
    ) async throws(SealKitError) -> Bool {
        try keys.beginRotation()
        defer { keys.endRotation() }
        let isOwnSeed = try await hasOwnSeed(keep: keep)
        let former = isOwnSeed ? keys.loginKey : try await session.formerKey()
        var random = SystemRandom()
        let recoveryKey = RecoveryKey(random: &random)
        do throws(SealKitError) {
            if isOwnSeed { try await note(keys.loginKeys[0].verificationKey) }
            try await show(recoveryKey)
            var bundles = [bundle(of: keys.all, by: recoveryKey, .printedKey)]
            if let passphrase {
                bundles.append(bundle(of: keys.all, by: try passphrase.key(origin: server), .passphrase))
            }
            do throws(SealKitError) {
                try await session.rotate(from: former, to: keys.loginKeys[0], recovery: bundles)
            } catch let error where error.code == .constraintViolation && passphrase != nil {
                throw Account.takenPassphrase
            }
            return isOwnSeed
        } catch {
            // What was lost on the way may have arrived, and an older seed may be in use: neither is given up.
            if isOwnSeed, keys.dropUntold(becauseOf: error.code == .keysReplaced) { try await keep(keys.all) }
            throw error
        }
    }

    /// Makes and keeps a seed, unless there is one already that the server has not been told of.
    /// - Returns: whether this process has made it, so that nothing can rest on it yet.
    private func hasOwnSeed(
        keep: (_ seeds: [AccountSeed]) async throws(SealKitError) -> Void
    ) async throws(SealKitError) -> Bool {
        do { try await requireSession() } catch {
            // Cut off in another process, or forgotten by a server that was restored: it is told of the newest again.
            guard keys.isNewestUnknown else { throw error }
            return false
        }
        guard !keys.hasUntold else { return true }
        guard keys.all.count < Limits.identityGenerations else {
            throw SealKitError(
                .limitExceeded, "an account has at most \(Limits.identityGenerations) generations of keys",
                remedy: "move the data to a new account")
        }
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        try await keep(keys.all + [seed])
        try keys.add(seed)
        return true
    }

    /// Whether the server does not have the newest keys: `rotateKeys` was cut off, or the server was restored from a
    /// backup, and `rotateKeys` is to be called (again). Known once a login was tried.
    public var hasUntoldKeys: Bool { keys.hasUntold || keys.isNewestUnknown }

    /// How many times the account has taken new keys.
    public var generation: Int { seeds.count - 1 }

    /// Tells every zone and share that this account takes part in of its new keys, each of which then gets a new key of
    /// its own, and seals by them what the account keeps on the server.
    ///
    /// Call it at each start: it asks nothing of the server unless a rotation is to be finished. What it does not come
    /// to is told before this account next writes there.
    ///
    /// - Parameters:
    ///   - trust: the one that the containers of this account have.
    ///   - progress: called after each zone and share.
    /// - Throws: the first failure, after everything else was done; call it again.
    public func finishKeyRotation(
        trust: TrustStore, progress: (KeyRotationProgress) -> Void = { _ in }
    ) async throws(SealKitError) {
        guard try await mayHaveToFinish(trust) else { return }
        try await requireNewestSession()
        guard !keys.hasUntold else { return }
        let count = seeds.count
        let cores = try await cores(trust)
        var failure: SealKitError?
        do { try await giveUp(trust, cores) } catch {
            if error.concernsWholeRequest { throw error }
            failure = error
        }
        var found: [(database: Database, scope: SealStatements.Scope)] = []
        for core in cores { found += try await core.allScopes() }
        for (index, (database, scope)) in found.enumerated() {
            do { try await database.state(scope) } catch {
                if error.concernsWholeRequest { throw error }
                failure = failure ?? error
            }
            progress(KeyRotationProgress(done: index + 1, total: found.count))
        }
        if let failure { throw failure }
        try await trust.noteStated(count, of: self)
    }

    private func mayHaveToFinish(_ trust: TrustStore) async throws(SealKitError) -> Bool {
        try await trust.statedGenerations(of: self) < keys.all.count
    }
}

extension ContainerCore {
    /// Every scope that the server lists or this device has seen, with the database to reach it through: zones before
    /// the shares in them. A share is told of new keys after its zone, which from then on refuses what was signed by
    /// the former ones and takes a record out of the share.
    func allScopes() async throws(SealKitError) -> [(database: Database, scope: SealStatements.Scope)] {
        var scopes = Set(try await knownScopes())
        for database in [Database(core: self, scope: .private), Database(core: self, scope: .shared)] {
            scopes.formUnion(try await database.listedScopes())
        }
        return scopes.sorted { one, other in
            one.shareRecordName.isEmpty == other.shareRecordName.isEmpty
                ? one.id.hex < other.id.hex : one.shareRecordName.isEmpty
        }.map { scope in
            (Database(core: self, scope: scope.owner == userID() ? .private : .shared), scope)
        }
    }
}

extension Database {
    /// What there is to do in one scope. One that has ended, or that this account is out of, has nothing.
    fileprivate func state(_ scope: SealStatements.Scope) async throws(SealKitError) {
        let view: ZoneView
        do { view = try await stateKeys(core.keeper(of: scope)) } catch {
            guard error.code == .zoneNotFound || error.code == .unknownItem else { throw error }
            return
        }
        guard view.isMember, view.roster.isShared, view.mayAdminister else { return }
        try await ShareLinks.keepAnew(self, view: view)
    }
}
