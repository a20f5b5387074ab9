import SealKit

/// Keeps an app's own copy of the private or the shared database and the server's in step.
///
/// Note what has changed in `state`, give records when the delegate is asked for them, and take what it is told. It
/// fetches and sends by itself unless the configuration says otherwise. A second engine of the same delegate for the
/// same database takes the first one's place; containers with another `Setup` have databases of their own.
public final class CKSyncEngine: Sendable {
    public let database: CKDatabase
    /// What is to be sent, and how far the server's changes are known.
    public let state: State
    private let adapter: SyncEngineAdapter

    /// Begins at once where it syncs by itself. An engine for the public database, which has no changes to fetch, or in
    /// a container that is none, fails with each fetch and send (`badDatabase`, `badContainer`).
    public init(_ configuration: Configuration) {
        database = configuration.database
        adapter = SyncEngineAdapter(configuration.delegate, configuration.database)
        state = State(adapter)
        adapter.begin(self, configuration)
    }

    deinit { adapter.end() }

    /// Fetches what has changed on the server; the delegate has been told all of it when this returns.
    /// - Throws: why the server could not be asked; a zone's failure, or `partialFailure` of several;
    ///   `invalidArguments` inside the delegate's functions.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        try await adapter.calling { engine async throws(SealKitError) in
            try await engine.fetchChanges(options.sealed)
        }
    }

    /// Sends pending changes; the delegate has been told what became of each when this returns.
    /// - Throws: why the server could not be asked; `partialFailure` when single changes have failed;
    ///   `invalidArguments` inside the delegate's functions, and for a batch with changes that were not asked for.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        try await adapter.calling { engine async throws(SealKitError) in
            try await engine.sendChanges(options.sealed)
        }
    }

    /// Ends what is under way, and what waits for it, with `operationCancelled`.
    public func cancelOperations() async { await adapter.engine?.cancelOperations() }
}

extension CKSyncEngine: CustomStringConvertible {
    public var description: String { "<CKSyncEngine: \(database)>" }
}

extension CKSyncEngine {
    /// What an engine is made of.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The private or the shared one.
        public var database: CKDatabase
        /// What the last `stateUpdate` gave; nil for a device that has never synced.
        public var stateSerialization: State.Serialization?
        /// The engine holds it weakly.
        public var delegate: any CKSyncEngineDelegate
        /// Whether it fetches and sends by itself.
        public var automaticallySync = true
        /// Under which the engine subscribes to the database's changes; nil for its own name.
        public var subscriptionID: CKSubscription.ID?

        public init(
            database: CKDatabase, stateSerialization: State.Serialization?, delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }

        public var description: String {
            "<CKSyncEngine.Configuration: \(database), \(automaticallySync ? "automatic" : "manual")>"
        }
    }
}
