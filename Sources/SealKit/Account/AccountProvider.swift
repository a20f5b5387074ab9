import Foundation
import SealPrimitives
import SealWire
import Synchronization

/// Who is signed in on this device: one for the whole app, handed to each of its containers.
///
/// ```swift
/// let accounts = AccountProvider()
/// let container = try Container("com.example.notes", accounts: accounts)
/// // The key file has been read, or the user has made an account:
/// accounts.signIn(account, trust: try TrustStore(file: trustFile))
/// ```
/// Until the app says who is signed in the status is `couldNotDetermine`, and calls fail with `notAuthenticated`.
public final class AccountProvider: Sendable {
    enum State {
        case undetermined
        case signedOut
        /// The keys are gone from memory; `rootKey` tells whether the same account comes back.
        case locked(rootKey: VerificationKey)
        /// Nobody may use an account here.
        case restricted
        case signedIn(Account, trust: TrustStore?)

        /// With its keys at hand.
        var account: Account? { if case .signedIn(let account, _) = self { account } else { nil } }

        /// Also of an account that is locked.
        var rootKey: VerificationKey? {
            switch self {
            case .signedIn(let account, _): account.keys.rootKey
            case .locked(let rootKey): rootKey
            case .undetermined, .signedOut, .restricted: nil
            }
        }
    }

    private struct Content {
        var state = State.undetermined
        /// Goes up with each change: what was made for one account does nothing for the next.
        var generation = 0
        /// Under which names, in whichever container, the user of the account in use was known before all keys were
        /// lost.
        var replaced: Set<String> = []
        /// Of the account that is signed in, or locked.
        var temporaryAssets = TemporaryAssets.Drawer()
        /// What that account has begun on this device.
        var journal: OperationJournal?
        /// Of a locked account: where downloads that are not whole lie, since nothing opens that any more.
        var lockedParts: [URL] = []
        var listeners: [Int: AsyncStream<AccountChange>.Continuation] = [:]
        var nextListener = 0
        /// Of the containers that are made with it.
        var stores = Watchers<Int>()
    }

    private let content = Mutex(Content())

    /// Nobody is signed in yet: containers that are made with it say `couldNotDetermine`.
    public init() {}

    /// - Throws: where the journal cannot be written to.
    init(_ account: Account, trust: TrustStore, journal: OperationJournal?) throws(SealKitError) {
        try journal?.keepOnly(account.keys.rootKey)
        account.deviceKeeper.attach(trust)
        content.withLock { content in
            content.state = .signedIn(account, trust: trust)
            content.journal = journal
        }
        watch(account)
    }

    /// A container's, which lets go of what it has made for an account once another state is there.
    func add(_ store: ContainerStore) {
        content.withLock { $0.stores.add(store) { [weak store] in store?.forget(before: $0) } }
    }

    /// The account that is signed in, and not locked.
    public var account: Account? { content.withLock { $0.state.account } }

    /// Whom the account that is signed in was said to replace.
    public var replacedUserRecordIDs: Set<Record.ID> {
        content.withLock { Set($0.replaced.map { Record.ID(recordName: $0) }) }
    }

    /// The one account that it was made with, while nothing has come in its place.
    private var given: (server: String, rootKey: VerificationKey)? {
        let current = current
        guard current.generation == 0, case .signedIn(let account, _) = current.state else { return nil }
        return (account.server, account.keys.rootKey)
    }

    /// Whether what is done by the one is done in the same name by the other: two containers that were each made with
    /// the same account are one.
    func isAsOne(with other: AccountProvider) -> Bool {
        if self === other { return true }
        guard let given, let others = other.given else { return false }
        return given == others
    }

    /// What databases are made of now.
    var current: Current {
        content.withLock { content in
            Current(
                state: content.state, generation: content.generation, temporaryAssets: content.temporaryAssets,
                journal: content.journal)
        }
    }

    struct Current {
        let state: State
        let generation: Int
        let temporaryAssets: TemporaryAssets.Drawer
        let journal: OperationJournal?
    }

    /// Takes an account into use, in the place of another one or of nobody. A locked account is unlocked by signing it
    /// in.
    ///
    /// - Parameters:
    ///   - account: with its keys at hand.
    ///   - trust: what this device has verified as this account; keep it beside the account's keys. Without one,
    ///     protection against rollback begins anew.
    ///   - journal: of this account's long-lived operations on this device; those of another one are removed from it.
    ///     Without one there are none.
    ///   - replaced: who the same user was (`Container.userRecordID()`, of each container) in the account whose keys
    ///     are all lost, and in the place of which this one was made: apps keep what they have of that account, and of
    ///     no other one, as with CloudKit's reset of encrypted data. An account that is signed in until now has to be
    ///     that one; they are told `statusChanged` instead of `switchAccounts`.
    public func signIn(
        _ account: Account, trust: TrustStore? = nil, journal: OperationJournal? = nil,
        replacing replaced: Set<Record.ID> = []
    ) {
        if let trust { account.deviceKeeper.attach(trust) }
        change { content in
            let rootKey = account.keys.rootKey
            let change: AccountChange
            if let previous = content.state.rootKey {
                change = previous == rootKey || !replaced.isEmpty ? .statusChanged(.available) : .switchAccounts
            } else {
                change = .signIn
            }
            content.state = .signedIn(account, trust: trust)
            content.replaced = Set(replaced.map(\.recordName))
            content.journal = journal
            return change
        }
        // What cannot be removed opens for nobody else, and is not listed; the next sign-in tries again.
        try? journal?.keepOnly(account.keys.rootKey)
        watch(account)
    }

    /// Nobody is signed in any more. Calls under way end with `notAuthenticated` at their next request, and fetched
    /// assets that were not moved away are removed, and so is what its journal holds, as they are when somebody else
    /// signs in. The account's key store is locked. What the app itself has kept of the account, and its trust file,
    /// are the app's to remove.
    public func signOut() {
        change { content in
            if case .signedOut = content.state { return nil }
            content.state = .signedOut
            content.journal = nil
            return .signOut
        }
    }

    /// Drops the account's keys from memory until it is signed in again: the user has to give the passphrase, say. The
    /// account's key store is locked as well, and a ``FileKeyStore`` asks again (``KeyStore/lock()``). What the app
    /// itself holds, the account and databases that it has taken, keeps them there as long as it does. Calls fail with
    /// `accountTemporarilyUnavailable`.
    public func lock() {
        var held: (account: Account, journal: OperationJournal?)?
        change { content in
            guard case .signedIn(let account, _) = content.state else { return nil }
            content.state = .locked(rootKey: account.keys.rootKey)
            held = (account, content.journal)
            return .statusChanged(.temporarilyUnavailable)
        }
        // Who signs out while it is locked has no key any more that opens where they lie. Read once nothing new is
        // begun: a part journaled before that is among them.
        guard let (account, journal) = held, let parts = try? journal?.parts(of: account) else { return }
        let isGone = content.withLock { content in
            if case .locked(account.keys.rootKey) = content.state { content.lockedParts = parts }
            return content.state.rootKey != account.keys.rootKey
        }
        if isGone { remove(parts) }
    }

    /// No account may be used on this device: parental controls or its management forbid it. Calls fail with
    /// `notAuthenticated` until somebody is signed in.
    public func restrict() {
        change { content in
            if case .restricted = content.state { return nil }
            content.state = .restricted
            return .statusChanged(.restricted)
        }
    }

    /// Account changes from now on; ends when the task that reads it does.
    public var changes: AsyncStream<AccountChange> {
        let (stream, continuation) = AsyncStream<AccountChange>.makeStream()
        let number = content.withLock { content in
            defer { content.nextListener += 1 }
            content.listeners[content.nextListener] = continuation
            return content.nextListener
        }
        continuation.onTermination = { [weak self] _ in self?.content.withLock { $0.listeners[number] = nil } }
        return stream
    }

    /// - Throws: unless what was made in `generation` may still be used: CloudKit's codes for each state.
    func require(_ generation: Int) throws(SealKitError) {
        let current = current
        switch current.state {
        case .signedIn where current.generation == generation: return
        case .signedIn:
            throw SealKitError(
                .notAuthenticated, "another account is signed in than the one that this database was taken for",
                remedy: "take the database from its container again")
        case .locked:
            throw SealKitError(
                .accountTemporarilyUnavailable, "the account's keys are locked on this device",
                remedy: "unlock the key file and sign the account in again; keep what is cached")
        case .restricted:
            throw SealKitError(
                .notAuthenticated, "no account may be used on this device", remedy: "ask whoever manages the device")
        case .undetermined:
            throw SealKitError(
                .notAuthenticated, "it is not known yet who is signed in on this device",
                remedy: "sign an account in, or out")
        case .signedOut:
            throw SealKitError(.notAuthenticated, "nobody is signed in on this device", remedy: "sign an account in")
        }
    }

    private func change(_ body: (inout Content) -> AccountChange?) {
        let (change, gone, former) = content.withLock { content in
            let former = content.journal
            let before = content.state
            let parts = content.lockedParts
            let change = body(&content)
            let isGone = before.rootKey != content.state.rootKey
            let gone = (
                account: isGone ? before.account : nil, parts: isGone ? parts : [],
                // Nobody's keys are at hand from now on: nor in what they came from.
                store: content.state.account == nil ? before.account?.keyStore : nil
            )
            if isGone || content.state.account != nil { content.lockedParts = [] }
            if change != nil { content.generation += 1 }
            switch change {
            case .signOut, .switchAccounts, .statusChanged(.restricted):
                content.temporaryAssets.close()
                content.temporaryAssets = TemporaryAssets.Drawer()
            case .signIn, .statusChanged, .newDevice, nil: break
            }
            return (change, gone, (journal: former, isKept: former === content.journal))
        }
        gone.store?.lock()
        // With what containers have made for it goes the last that has its keys, but for databases that the app has.
        let (generation, stores) = content.withLock { ($0.generation, $0.stores) }
        for forget in stores.bodies { forget(generation) }
        // What an account has begun ends with it. What cannot be removed opens for nobody else.
        if let account = gone.account { try? former.journal?.removeParts(of: account) }
        remove(gone.parts)
        switch change {
        case .signOut, .switchAccounts: if !former.isKept { try? former.journal?.removeAll() }
        default: break
        }
        if let change { tell(change) }
    }

    private func remove(_ parts: [URL]) { for part in parts { try? FileManager.default.removeItem(at: part) } }

    private func watch(_ account: Account) {
        account.standing.watch(self) { [weak self, weak account] status in
            guard let self, let account, self.account === account else { return }
            tell(.statusChanged(status))
        }
        account.deviceKeeper.watch(self) { [weak self, weak account] device in
            guard let self, let account, self.account === account else { return }
            tell(.newDevice(device))
        }
    }

    private func tell(_ change: AccountChange) {
        for listener in content.withLock({ Array($0.listeners.values) }) { listener.yield(change) }
        // The account itself is as it was.
        if case .newDevice = change { return }
        NotificationCenter.default.post(name: .accountChanged, object: nil)
    }
}

/// What the server has last shown of an account's status, and who wants to know when that changes.
final class AccountStanding: Sendable {
    private struct Content {
        var last: AccountStatus?
        var watchers = Watchers<AccountStatus>()
    }

    private let content = Mutex(Content())

    /// - Parameter owner: who is told, as long as it is there.
    func watch(_ owner: any AnyObject & Sendable, _ body: @escaping @Sendable (AccountStatus) -> Void) {
        content.withLock { $0.watchers.add(owner, body) }
    }

    /// The first status is no change.
    func note(_ status: AccountStatus) {
        let watchers = content.withLock { content in
            defer { content.last = status }
            return content.last == nil || content.last == status ? [] : content.watchers.bodies
        }
        for watcher in watchers { watcher(status) }
    }
}
