public import Foundation
import SealKit

/// One of a container's three databases, of the account that is in use when it is called.
public final class CKDatabase: NSObject, Sendable {
    public enum Scope: Int, Sendable {
        case `public` = 1
        case `private` = 2
        case shared = 3
    }

    public let databaseScope: Scope
    let core: ContainerCore
    /// Operations that were added to this database.
    let queue = OperationQueue()

    init(_ core: ContainerCore, scope: Scope) {
        self.core = core
        databaseScope = scope
    }

    /// Taken anew for each call: an app that keeps a database goes on with another account, as on Apple's platforms.
    func sealed() async throws(SealKitError) -> SealKit.Database {
        let container = try await core.container()
        switch databaseScope {
        case .public: return container.publicDatabase
        case .private: return container.privateDatabase
        case .shared: return container.sharedDatabase
        }
    }

    public func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        queue.addOperation(operation)
    }

    /// Runs calls with another configuration, or as part of a group: for all that `body` awaits.
    @discardableResult
    public func configuredWith<R, E: Error>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) async throws(E) -> R
    ) async throws(E) -> R {
        try await OperationConfiguration.bound(configuration?.sealed, group: group?.sealed) { () async throws(E) in
            try await body(self)
        }
    }

    /// The same of the calls with handlers that `body` makes.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) throws -> R
    ) rethrows -> R {
        try OperationConfiguration.bound(configuration?.sealed, group: group?.sealed) { try body(self) }
    }

    /// Databases are handles, as their containers are.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKDatabase else { return false }
        return other.core === core && other.databaseScope == databaseScope
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(core))
        hasher.combine(databaseScope)
        return hasher.finalize()
    }

    public override var description: String { "<CKDatabase: \(databaseScope) of \(core.identifier)>" }
}
