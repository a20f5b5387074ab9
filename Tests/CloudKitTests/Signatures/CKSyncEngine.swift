import CloudKit

func syncEngines(
    _ database: CKDatabase, _ delegate: any CKSyncEngineDelegate, _ state: CKSyncEngine.State.Serialization?
) async throws {
    var configuration: CKSyncEngine.Configuration = CKSyncEngine.Configuration(
        database: database, stateSerialization: state, delegate: delegate)
    configuration.database = database
    configuration.stateSerialization = nil
    configuration.delegate = delegate
    configuration.automaticallySync = false
    configuration.subscriptionID = "changes"
    let engine: CKSyncEngine = CKSyncEngine(configuration)
    let _: CKDatabase = engine.database
    let _: CKSyncEngine.State = engine.state
    try await engine.fetchChanges(CKSyncEngine.FetchChangesOptions())
    try await engine.sendChanges(CKSyncEngine.SendChangesOptions())
    await engine.cancelOperations()
    let _: String = engine.description
}

func syncStates(
    _ state: CKSyncEngine.State, _ id: CKRecord.ID, _ zone: CKRecordZone, _ decoder: any Decoder, _ encoder: any Encoder
) throws {
    let _: [CKSyncEngine.PendingRecordZoneChange] = state.pendingRecordZoneChanges
    let _: [CKSyncEngine.PendingDatabaseChange] = state.pendingDatabaseChanges
    state.hasPendingUntrackedChanges = true
    let _: [CKRecordZone.ID] = state.zoneIDsWithUnfetchedServerChanges
    state.add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange.saveRecord(id)])
    state.remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange.deleteRecord(id)])
    state.add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange.saveZone(zone)])
    state.remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange.deleteZone(zone.zoneID)])
    let serialization = try CKSyncEngine.State.Serialization(from: decoder)
    try serialization.encode(to: encoder)
}

func syncBatches(_ record: CKRecord, _ changes: [CKSyncEngine.PendingRecordZoneChange]) async {
    var batch: CKSyncEngine.RecordZoneChangeBatch = CKSyncEngine.RecordZoneChangeBatch(
        recordsToSave: [record], recordIDsToDelete: [], atomicByZone: true)
    batch.recordsToSave = []
    batch.recordIDsToDelete = [record.recordID]
    batch.atomicByZone = false
    let _: CKSyncEngine.RecordZoneChangeBatch? = await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: changes, recordProvider: { (_: CKRecord.ID) in nil })
}

func syncOptions(
    _ group: CKOperationGroup, _ zone: CKRecordZone.ID, _ id: CKRecord.ID, _ fetch: CKSyncEngine.FetchChangesContext,
    _ send: CKSyncEngine.SendChangesContext
) {
    var fetching = CKSyncEngine.FetchChangesOptions(
        scope: CKSyncEngine.FetchChangesOptions.Scope.all, operationGroup: group)
    fetching.scope = CKSyncEngine.FetchChangesOptions.Scope.allExcluding([zone])
    fetching.scope = CKSyncEngine.FetchChangesOptions.Scope.zoneIDs([zone])
    let _: CKOperationGroup = fetching.operationGroup
    fetching.prioritizedZoneIDs = [zone]
    let _: Bool = fetching.scope.contains(zone)
    let _: CKSyncEngine.SyncReason = fetch.reason
    let _: CKSyncEngine.FetchChangesOptions = fetch.options
    var sending = CKSyncEngine.SendChangesOptions(
        scope: CKSyncEngine.SendChangesOptions.Scope.all, operationGroup: group)
    sending.scope = CKSyncEngine.SendChangesOptions.Scope.allExcluding([zone])
    sending.scope = CKSyncEngine.SendChangesOptions.Scope.zoneIDs([zone])
    sending.scope = CKSyncEngine.SendChangesOptions.Scope.recordIDs([id])
    let _: CKOperationGroup = sending.operationGroup
    let _: Bool = sending.scope.contains(id)
    let _: Bool = sending.scope.contains(.saveRecord(id))
    let _: CKSyncEngine.SyncReason = send.reason
    let _: CKSyncEngine.SendChangesOptions = send.options
    let _: [CKSyncEngine.SyncReason] = [.scheduled, .manual]
}
