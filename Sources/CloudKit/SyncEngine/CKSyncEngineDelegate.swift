/// What an app does for its sync engine. Its functions are called one at a time for each database, and the engine waits
/// for them; in them no engine of the delegate's fetches or sends (`invalidArguments`).
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Something happened. Keep what came before you return: it does not come again.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// What to send next; nil for nothing more. Called until it gives nil.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// What to fetch, at the beginning of each fetch. Without it, what the context says.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions { context.options }
}
