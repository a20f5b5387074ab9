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
    public func configuredWith<R, E: Error>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) async throws(E) -> R
    ) async throws(E) -> R {
        try await OperationConfiguration.bound(configuration?.sealed, group: group?.sealed) { () async throws(E) in
            try await body(self)
        }
    }

    public override var description: String { "<CKDatabase: \(databaseScope) of \(core.identifier)>" }
}
