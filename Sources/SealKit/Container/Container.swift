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
    let core: ContainerCore

    public enum Environment: String, Sendable {
        case development, production
    }

    /// - Parameters:
    ///   - identifier: letters, digits, dots and hyphens, like `com.example.notes`.
    ///   - environment: development, where record types and fields appear when they are first saved, or production, which
    ///     takes what was deployed from there. Each has its own data. What you ship names production.
    ///   - trust: what this device has verified; keep it beside the account's keys. Without one, protection against
    ///     rollback lasts as long as the process.
    /// - Throws: `badContainer`.
    public init(
        _ identifier: String, environment: Environment = .development, account: Account, trust: TrustStore? = nil
    ) throws(SealKitError) {
        let store: TrustStore
        if let trust { store = trust } else { store = try TrustStore() }
        core = try ContainerCore(
            account: account, identifier: identifier, environment: environment == .production ? .production : .development,
            trust: store)
    }

    public var containerIdentifier: String { core.identifier }
    public var privateDatabase: Database { Database(core: core, scope: .private) }
    public var sharedDatabase: Database { Database(core: core, scope: .shared) }
    /// Readable by everybody, an account or not; who may write says the schema. Nothing in it is sealed.
    public var publicDatabase: Database { Database(core: core, scope: .public) }

    /// CloudKit's database scopes.
    public func database(with scope: Database.Scope) -> Database { Database(core: core, scope: scope) }

    public func accountStatus() async throws(SealKitError) -> AccountStatus { try await core.account.status() }

    init(core: ContainerCore) { self.core = core }

    /// This account's name in this container. It commits to the account's keys; another container has another one. Without an
    /// account it is nobody's: an underscore and 32 zeros.
    public func userRecordID() -> Record.ID { Record.ID(recordName: core.userID().recordName) }
}
