import CloudKit

final class SyncDelegate: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

func syncDelegates(
    _ delegate: any CKSyncEngineDelegate, _ event: CKSyncEngine.Event, _ engine: CKSyncEngine,
    _ fetch: CKSyncEngine.FetchChangesContext, _ send: CKSyncEngine.SendChangesContext
) async {
    await delegate.handleEvent(event, syncEngine: engine)
    let _: CKSyncEngine.RecordZoneChangeBatch? = await delegate.nextRecordZoneChangeBatch(send, syncEngine: engine)
    let _: CKSyncEngine.FetchChangesOptions = await delegate.nextFetchChangesOptions(fetch, syncEngine: engine)
}
