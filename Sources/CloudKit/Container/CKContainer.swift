public import Foundation
import SealKit
import Synchronization

/// An app's data on one server.
///
/// Containers are handles: two of one identifier are one. In whose name they work the process says, in this order: by
/// ``configure(_:)``, by its environment (`SEALKIT_KEY_FILE` or `SEALKIT_ACCOUNT`, `SEALKIT_PASSPHRASE`,
/// `SEALKIT_CONTAINER`, `SEALKIT_CA_FILE`, `SEALKIT_ENVIRONMENT`, `SEALKIT_STATE`), by the file `CloudKit.json` beside
/// the executable with the same keys, and by the account that `sealkit account create` has made.
public final class CKContainer: NSObject, Sendable {
    private static let process = Mutex(Process())

    private struct Process {
        var setup: Result<CKContainer.Setup, SealKitError>?
        var cores: ContainerCores?
        /// A container was made: what it goes by cannot change any more.
        var isUsed = false
    }

    let core: ContainerCore
    public let privateCloudDatabase: CKDatabase
    public let publicCloudDatabase: CKDatabase
    public let sharedCloudDatabase: CKDatabase
    /// Operations that were added to this container.
    let queue = OperationQueue()

    /// Says on whose behalf this process works: before its first container, and once. Not CloudKit's.
    ///
    /// Saying the same again is nothing. Another setup, or one that comes after the first container, is a programmer's
    /// error, and ends the process: containers would be another account's than their app believes.
    public static func configure(_ setup: Setup) {
        let isTaken = process.withLock { process in
            if case .success(let known)? = process.setup, known.isSame(as: setup) { return true }
            guard process.setup == nil, !process.isUsed else { return false }
            process.setup = .success(setup)
            return true
        }
        precondition(
            isTaken,
            "CKContainer.configure has to come before the first container, and to say one thing only: call it once, where the process starts"
        )
    }

    /// The container that the process was configured with.
    ///
    /// Without one there is nothing to go by, and the process ends with a sentence that says how to name it.
    public static func `default`() -> CKContainer {
        do { return try defaultContainer() } catch {
            preconditionFailure(error.localizedDescription)
        }
    }

    /// - Throws: `badContainer` where the process was told of none.
    static func defaultContainer() throws(CKError) -> CKContainer {
        switch setup() {
        case .success(let setup):
            if let identifier = setup.containerIdentifier { return CKContainer(identifier: identifier) }
        // Each call says what is wrong.
        case .failure(let error): return CKContainer(ContainerCore("", failing: error))
        }
        throw CKError(
            SealKitError(
                .badContainer,
                "no container is named: call CKContainer.configure first, or set SEALKIT_CONTAINER, or write CloudKit.json with that key beside the executable, or use CKContainer(identifier:) with the account of ~/.config/sealkit"
            ))
    }

    /// Never fails by itself: a bad identifier makes each call fail (`badContainer`), and nobody's account
    /// (`notAuthenticated`).
    public convenience init(identifier containerIdentifier: String) {
        let setup = Self.setup()
        switch setup {
        case .success(let setup):
            let cores = Self.process.withLock { process in
                process.isUsed = true
                if let cores = process.cores { return cores }
                let cores = ContainerCores(setup)
                process.cores = cores
                return cores
            }
            self.init(cores.core(containerIdentifier))
        case .failure(let error): self.init(ContainerCore(containerIdentifier, failing: error))
        }
    }

    /// A container with a setup of its own: for tests, and processes that work for several accounts. Keep it: another
    /// one of the same key store is another device's to a `CKSyncEngine`. Not CloudKit's.
    public convenience init(identifier containerIdentifier: String, setup: Setup) {
        self.init(ContainerCores(setup).core(containerIdentifier))
    }

    private init(_ core: ContainerCore) {
        self.core = core
        privateCloudDatabase = CKDatabase(core, scope: .private)
        publicCloudDatabase = CKDatabase(core, scope: .public)
        sharedCloudDatabase = CKDatabase(core, scope: .shared)
    }

    /// What the process was told; found out once.
    private static func setup() -> Result<Setup, SealKitError> {
        process.withLock { process in
            if let setup = process.setup { return setup }
            let setup: Result<Setup, SealKitError> = Result { () throws(SealKitError) in
                try ProcessSetup.ofThisProcess().setup()
            }
            process.setup = setup
            return setup
        }
    }

    /// Runs a call of SealKit's, failing in CloudKit's words.
    func inCloudKitsWords<T>(_ body: () async throws -> T) async throws(CKError) -> T {
        try await core.inWords(body)
    }

    public var containerIdentifier: String? { core.identifier.isEmpty ? nil : core.identifier }

    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        switch databaseScope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }

    public func add(_ operation: CKOperation) {
        if operation.configuration.container == nil { operation.configuration.container = self }
        queue.addOperation(operation)
    }

    /// Runs calls with another configuration, or as part of a group: for all that `body` awaits.
    @discardableResult
    public func configuredWith<R, E: Error>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) async throws(E) -> R
    ) async throws(E) -> R {
        try await OperationConfiguration.bound(configuration?.sealed, group: group?.sealed) { () async throws(E) in
            try await body(self)
        }
    }

    /// The same of the calls with handlers that `body` makes.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) throws -> R
    ) rethrows -> R {
        try OperationConfiguration.bound(configuration?.sealed, group: group?.sealed) { try body(self) }
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKContainer)?.core === core }
    public override var hash: Int { ObjectIdentifier(core).hashValue }
    public override var description: String { "<CKContainer: \(core.identifier)>" }
}
