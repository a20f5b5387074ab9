import Foundation
import SealPrimitives
import SealStatements
import SealWire

/// An app's data on one server: CloudKit's `CKContainer`.
///
/// ```swift
/// let container = try Container("com.example.notes", account: account)
/// var note = Record(recordType: "Note")
/// note.encryptedValues["body"] = "only people I share with can read this"
/// try await container.privateDatabase.save(note)
/// ```
public struct Container: Sendable {
    private let store: ContainerStore
    var core: ContainerCore { store.core() }

    /// Of the two that each container has, with data and a schema of their own.
    public enum Environment: String, Sendable {
        /// Record types and fields appear with the first record that has them.
        case development
        /// Takes what was deployed, and refuses the rest.
        case production
    }

    /// - Parameters:
    ///   - account: in whose name everything is done.
    ///   - identifier: letters, digits, dots and hyphens, like `com.example.notes`.
    ///   - environment: development, where record types and fields appear when they are first saved, or production,
    ///     which takes what was deployed from there. Each has its own data. What you ship names production.
    ///   - trust: what this device has verified; keep it beside the account's keys. Without one, protection against
    ///     rollback lasts as long as the process.
    ///   - journal: of the account's long-lived operations on this device; those of another account are removed from
    ///     it. Without one there are none.
    /// - Throws: `badContainer`; where the journal cannot be written to.
    public init(
        _ identifier: String, environment: Environment = .development, account: Account, trust: TrustStore? = nil,
        journal: OperationJournal? = nil
    ) throws(SealKitError) {
        let known: TrustStore
        if let trust { known = trust } else { known = try TrustStore() }
        store = try ContainerStore(
            identifier, environment, accounts: AccountProvider(account, trust: known, journal: journal))
    }

    /// A container whose account comes, goes and changes while the app runs.
    ///
    /// Its databases belong to the account that is signed in when they are taken from it: take them again when the
    /// account changes. One that was taken before fails with `notAuthenticated`, so that nothing ends up in another
    /// account.
    /// - Throws: `badContainer`.
    public init(
        _ identifier: String, environment: Environment = .development, accounts: AccountProvider
    ) throws(SealKitError) {
        store = try ContainerStore(identifier, environment, accounts: accounts)
    }

    /// The container's name, as it was given.
    public var containerIdentifier: String { store.identifier }
    /// Where its databases are.
    public var environment: Environment { store.environment == .production ? .production : .development }
    /// Who is signed in.
    public var accounts: AccountProvider { store.accounts }
    /// Whether the account that is signed in has given keys up: it has newer ones than it began with, or took another
    /// account's place. Known to this device; no server says it.
    package var hasOtherKeys: Bool {
        (accounts.account?.seeds.count ?? 0) > 1 || !accounts.replacedUserRecordIDs.isEmpty
    }
    /// The zones of whoever is signed in.
    public var privateDatabase: Database { Database(core: core, scope: .private) }
    /// The zones that others share with whoever is signed in, under their names.
    public var sharedDatabase: Database { Database(core: core, scope: .shared) }
    /// Readable by everybody, an account or not; who may write says the schema. Nothing in it is sealed.
    public var publicDatabase: Database { Database(core: core, scope: .public) }

    /// CloudKit's database scopes.
    public func database(with scope: Database.Scope) -> Database { Database(core: core, scope: scope) }

    /// Makes the account known in this container, so that others can invite it by `userRecordID()`: for one that was
    /// only made. Any other call does it on its way, and `accountStatus()` as well.
    /// - Throws: `notAuthenticated`; why the server could not be asked.
    public func register() async throws(SealKitError) { try await core.register() }

    /// Gives up the uploads that broke off, and that saving their records again would go on with: for a process that
    /// ends, or does not save them again. Otherwise the server keeps what came of them, and counts them as stored, for
    /// a day, as it does with files that it has all of. Those of long-lived operations stay, since another process may
    /// go on with them.
    public func abandonBrokenUploads() async { await core.unsavedUploads.abandonAll() }

    /// Whether calls can be made. Ask again after each of `accountChanges`.
    /// - Throws: `operationCancelled`.
    public func accountStatus() async throws(SealKitError) -> AccountStatus {
        let status = try await currentStatus()
        // Whoever may use the account is known in the container by then; what keeps it from that, the next call tells.
        if status == .available {
            do { try await register() } catch let error where error.code == .operationCancelled { throw error } catch {}
        }
        return status
    }

    private func currentStatus() async throws(SealKitError) -> AccountStatus {
        switch store.accounts.current.state {
        case .undetermined: .couldNotDetermine
        case .signedOut: .noAccount
        case .restricted: .restricted
        case .locked: .temporarilyUnavailable
        case .signedIn(let account, _): try await account.status()
        }
    }

    /// Sign-ins, sign-outs, switches and changes of the account's status from now on: CloudKit's `CKAccountChanged`,
    /// which is also posted as `Notification.Name.accountChanged`.
    public var accountChanges: AsyncStream<AccountChange> { store.accounts.changes }

    init(store: ContainerStore) { self.store = store }

    /// This account's name in this container, or that of the server-to-server key. It commits to the keys; another
    /// container has another one. It also names the user's own record, of the type `Users`, in the public and in the
    /// private database.
    ///
    /// It is computed here, without asking the server: others find the account under it from the first call on that the
    /// account makes in the container, or from `register()` on.
    /// - Throws: `notAuthenticated`, `accountTemporarilyUnavailable` while nobody is signed in.
    public func userRecordID() throws(SealKitError) -> Record.ID {
        let core = core
        try core.requireSignedIn()
        return Record.ID(recordName: core.userID().recordName)
    }
}
