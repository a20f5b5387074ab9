import Synchronization

/// Keeps an app's own copy of a private or shared database and the server's in step: CloudKit's `CKSyncEngine`.
///
/// The app notes which records have changed (``State``), hands them over when it is asked to, and is told of what came
/// and what became of what was sent (``SyncEngineDelegate``). When and in which order all of that goes over the
/// network, what is repeated and what is waited for is the engine's. See <doc:Syncing>.
///
/// What does not verify is told and never skipped: the fetch of that zone ends there, and begins there the next time.
/// What verifies and does not open is told by its name, and keeps nothing else from coming
/// (``Event/FetchedRecordZoneChanges/unopened``).
public final class SyncEngine: Sendable {
    /// What an engine is made of.
    public struct Configuration: Sendable {
        /// The engine takes its database from there at the beginning of each fetch and send, so that it follows the
        /// account; what is under way when that changes ends with `notAuthenticated`.
        public var container: Container
        /// Which database it keeps in step: the private or the shared one.
        public var databaseScope: Database.Scope
        /// What the last ``Event/stateUpdate(_:)`` gave; nil for a device that has never synced.
        public var stateSerialization: State.Serialization?
        /// Held weakly, by the engine too.
        public weak var delegate: (any SyncEngineDelegate)?
        /// Whose engines take each other's place, where the delegate is another object for each engine.
        package weak var owner: (any AnyObject & Sendable)?
        /// Whether the engine fetches and sends by itself: at the start, when something was added, when the server
        /// tells of a change and when it can be reached again. Otherwise call ``SyncEngine/fetchChanges(_:)`` and
        /// ``SyncEngine/sendChanges(_:)``.
        public var automaticallySync = true
        /// Under which the engine subscribes to the database's changes where it syncs by itself; one that is there
        /// already stays as it is. nil for the engine's own name.
        public var subscriptionID: Subscription.ID?
        /// Whether assets come with their records. One that cannot be had ends the fetch of its zone, as what does not
        /// verify does; a record with one that its author made such that it does not open is told as such.
        public var assetFetching = Database.AssetFetching.automatic

        /// - Parameters:
        ///   - container: of whoever is signed in, now and later.
        ///   - databaseScope: private or shared; the public database has no change feed (`badDatabase`).
        ///   - stateSerialization: what the last ``Event/stateUpdate(_:)`` gave; nil for a device that has never
        ///     synced.
        ///   - delegate: the app, held weakly.
        public init(
            container: Container, databaseScope: Database.Scope = .private, stateSerialization: State.Serialization?,
            delegate: any SyncEngineDelegate
        ) {
            self.container = container
            self.databaseScope = databaseScope
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }
    }

    let configuration: Configuration
    let pacing: Pacing
    /// What this engine has in common with those that it supersedes.
    let place: SyncPlace
    let ownState: State
    let schedule: SyncSchedule
    let listening: SyncListening
    private let runs = Mutex(Runs())
    private let successor = Mutex<Successor?>(nil)
    private let predecessor = Mutex(Predecessor())
    let telling: Mutex<Telling>

    /// How much of the state the delegate knows.
    struct Telling {
        var version: Int
        /// A task is going to tell the rest.
        var isComing = false
    }

    /// The engine that has taken this one's place, for as long as this one may be called.
    private struct Successor: Sendable {
        let engine: SyncEngine
        /// A delegate that is another object for each engine may have nobody else who keeps it.
        let delegate: (any SyncEngineDelegate)?
    }

    private struct Predecessor: Sendable { weak var engine: SyncEngine? }

    private struct Runs {
        var underWay: UnderWay?
        /// Goes up with each cancellation: who has waited for its turn since before is cancelled too.
        var cancellations = 0
    }

    private struct UnderWay: Sendable {
        let cancel: @Sendable () -> Void
        let end: @Sendable () async -> Void
    }

    /// Makes an engine; one that syncs by itself begins at once.
    ///
    /// One delegate has one engine for a database. A second one takes the first one's place, whatever that is at: what
    /// is called on the first one from then on happens on the second, and nothing more is told in the first one's name.
    /// Another account's database is another one, and so is that of a container with another ``AccountProvider``: a
    /// delegate may have an engine for each.
    /// - Throws: `badDatabase` for the public database, which has no change feed.
    public convenience init(_ configuration: Configuration) throws(SealKitError) {
        try self.init(configuration, pacing: .real)
    }

    init(_ configuration: Configuration, pacing: Pacing) throws(SealKitError) {
        guard configuration.databaseScope != .public else {
            throw SealKitError(
                .badDatabase, "the public database has no changes to sync",
                remedy: "query it, or sync the private or the shared database")
        }
        self.configuration = configuration
        self.pacing = pacing
        ownState = State(configuration.stateSerialization)
        telling = Mutex(Telling(version: ownState.version))
        schedule = SyncSchedule(pacing: pacing)
        listening = SyncListening()
        place = SyncPlaces.place(of: configuration)
        ownState.watch { [weak self] added in self?.stateChanged(hasNewChanges: added) }
        let former = place.settle(self)
        predecessor.withLock { $0.engine = former }
        former?.retire(for: self)
        guard configuration.automaticallySync else { return }
        schedule.begin { [weak self] wanted throws(SealKitError) in try await self?.sync(wanted) }
        listening.begin(self)
        schedule.want(.both, after: .zero)
    }

    deinit {
        schedule.end()
        listening.end()
    }

    // MARK: What it is about

    /// What is to be sent and what is known of the server; that of the engine that has taken this one's place, where
    /// one has.
    public var state: State { newest.ownState }

    /// The database as it is for whoever is signed in now.
    public var database: Database {
        configuration.container.database(with: configuration.databaseScope).fetchingAssets(configuration.assetFetching)
    }

    // MARK: Syncing now

    /// Fetches what has changed on the server; the delegate has been told all of it when this returns.
    ///
    /// - Throws: why the server could not be asked; one zone's failure; `partialFailure` where several zones have
    ///   failed, each of which was told with ``Event/DidFetchRecordZoneChanges``; `notAuthenticated` when another
    ///   account is signed in meanwhile; `invalidArguments` inside the delegate's functions.
    public func fetchChanges(_ options: FetchChangesOptions = FetchChangesOptions()) async throws(SealKitError) {
        let failures = try await run { (engine) async throws(SealKitError) in try await engine.fetch(options, .manual) }
        if let failure = SealKitError.syncFailure(failures, of: "zones") { throw failure }
    }

    /// Sends pending changes, in as many requests as it takes; the delegate has been told what became of each when this
    /// returns.
    ///
    /// - Throws: why the server could not be asked, with what was not sent still pending; `partialFailure` when single
    ///   changes have failed; `notAuthenticated` when another account is signed in meanwhile, with what was not sent
    ///   still pending; `invalidArguments` inside the delegate's functions, and for a batch with changes that were not
    ///   asked for.
    public func sendChanges(_ options: SendChangesOptions = SendChangesOptions()) async throws(SealKitError) {
        let failures = try await run { (engine) async throws(SealKitError) in try await engine.send(options, .manual) }
            .failures
        guard failures.isEmpty else { throw SealKitError.partialFailure(failures, of: "changes") }
    }

    /// Ends the fetch or send under way, and those that wait for it, with `operationCancelled`. Returns when they have
    /// ended; called by the delegate while it is told of something, at once.
    public func cancelOperations() async {
        let engine = newest
        let underWay = engine.runs.withLock { runs in
            runs.cancellations += 1
            return runs.underWay
        }
        underWay?.cancel()
        if !SyncHandling.isActive(in: engine.place) { await underWay?.end() }
    }

    // MARK: One run at a time

    /// Runs on the newest engine, and once more there when this one is superseded on the way.
    func run<T: Sendable>(
        _ body: @escaping @Sendable (SyncEngine) async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        guard !SyncHandling.isActive(in: place) else {
            throw SealKitError(
                .invalidArguments, "a sync engine cannot fetch or send while its delegate is being told something",
                remedy: "add to the engine's state, or fetch and send in a task of its own (Task.detached)")
        }
        var engine = newest
        while true {
            do throws(SealKitError) {
                return try await engine.runAlone(body)
            } catch {
                let newer = newest
                guard newer !== engine else { throw error }
                engine = newer
            }
        }
    }

    /// On this engine only: what it does by itself is not for the one that supersedes it.
    func runAlone<T: Sendable>(
        _ body: @escaping @Sendable (SyncEngine) async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        let cancellations = runs.withLock { $0.cancellations }
        await place.runs.take()
        defer { place.runs.give() }
        let task = runs.withLock { runs -> Task<Result<T, SealKitError>, Never>? in
            guard runs.cancellations == cancellations else { return nil }
            let task = Task { () -> Result<T, SealKitError> in
                do throws(SealKitError) {
                    try self.checkGoingOn()
                    return .success(try await body(self))
                } catch {
                    return .failure(error)
                }
            }
            runs.underWay = UnderWay(cancel: { task.cancel() }, end: { _ = await task.value })
            return task
        }
        guard let task else { throw SealKitError.cancelled }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        runs.withLock { $0.underWay = nil }
        return try result.get()
    }

    /// - Throws: `operationCancelled` for a run that was cancelled, or whose engine was superseded.
    func checkGoingOn() throws(SealKitError) {
        guard !Task.isCancelled, newest === self else { throw SealKitError.cancelled }
    }

    // MARK: Superseding

    /// The engine that has taken this one's place, or this one.
    var newest: SyncEngine {
        var engine = self
        while let next = engine.successor.withLock({ $0?.engine }) { engine = next }
        return engine
    }

    /// The engine whose place this one has taken, as long as there is one.
    package var former: SyncEngine? { predecessor.withLock { $0.engine } }

    package var delegate: (any SyncEngineDelegate)? { configuration.delegate }

    private func retire(for next: SyncEngine) {
        let delegate = next.configuration.owner == nil ? nil : next.configuration.delegate
        successor.withLock { $0 = Successor(engine: next, delegate: delegate) }
        schedule.end()
        listening.end()
        runs.withLock { $0.underWay }?.cancel()
    }
}
