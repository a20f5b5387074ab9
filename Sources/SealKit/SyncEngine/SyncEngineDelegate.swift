/// What an app does for its sync engine: CloudKit's `CKSyncEngineDelegate`.
///
/// Its functions are called one at a time for each database, and the engine waits for them. In them none of its engines
/// fetches or sends (`invalidArguments`).
public protocol SyncEngineDelegate: AnyObject, Sendable {
    /// Something happened. Keep what came in your own store before you return: what is told after this does not come
    /// again.
    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async

    /// What to send next; nil for nothing more. Called until it gives nil.
    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch?

    /// What to fetch, at the beginning of each fetch. Without it, what `fetchChanges` was given, and everything when
    /// the engine fetches by itself.
    func nextFetchChangesOptions(
        _ context: SyncEngine.FetchChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.FetchChangesOptions
}

extension SyncEngineDelegate {
    public func nextFetchChangesOptions(
        _ context: SyncEngine.FetchChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.FetchChangesOptions { context.options }
}
