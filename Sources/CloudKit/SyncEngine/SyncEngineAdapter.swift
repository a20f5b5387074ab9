import SealKit
import Synchronization

/// What SealKit's engine tells, in CloudKit's words: one for each engine.
final class SyncEngineAdapter: SealKit.SyncEngineDelegate {
    /// What has failed in the send that a delegate is being asked for.
    @TaskLocal static var failed: Set<SealKit.Record.ID> = []

    /// What has failed in the fetch or send that a call of the app's waits for. It is the call's: the next run, which
    /// begins before the call has returned, has its own, and the engine that tells of it may be a newer one.
    @TaskLocal private static var failures: Shared<Failures>?

    private struct Content: Sendable {
        weak var delegate: (any CKSyncEngineDelegate)?
        weak var face: CKSyncEngine?
        var engine: SealKit.SyncEngine?
        /// Once the app has let go of it.
        weak var left: SealKit.SyncEngine?
        /// Why there is none.
        var failure: SealKitError?
        /// Where there is none.
        var state = SealKit.SyncEngine.State(nil)
        var looking: Task<Void, Never>?
        /// The last batch: its outcome is told with the very objects.
        var given: [SealKit.Record.ID: Given] = [:]
    }

    private struct Given: Sendable {
        let record: CKRecord
        /// Nil for what could not be prepared.
        let sent: SentRecord?
    }

    /// What has failed in a fetch or send.
    private struct Failures: Sendable {
        var zones: [CKRecordZone.ID: CKError] = [:]
        var records: [CKRecord.ID: CKError] = [:]

        var error: CKError? {
            let all = Dictionary<AnyHashable, any Error>(
                zones.map { ($0 as AnyHashable, $1 as any Error) }
                    + records.map { ($0 as AnyHashable, $1 as any Error) }
            ) { $1 }
            return all.isEmpty ? nil : CKError(partial: all)
        }
    }

    private let content: Mutex<Content>
    private let database: CKDatabase
    private var core: ContainerCore { database.core }

    init(_ delegate: any CKSyncEngineDelegate, _ database: CKDatabase) {
        content = Mutex(Content(delegate: delegate))
        self.database = database
    }

    func begin(_ face: CKSyncEngine, _ configuration: CKSyncEngine.Configuration) {
        content.withLock { $0.face = face }
        do throws(SealKitError) {
            var sealed = SealKit.SyncEngine.Configuration(
                container: try core.unreadied(), databaseScope: configuration.database.databaseScope.sealed,
                stateSerialization: configuration.stateSerialization?.sealed, delegate: self)
            sealed.owner = configuration.delegate
            sealed.automaticallySync = configuration.automaticallySync
            sealed.subscriptionID = configuration.subscriptionID
            note(try SealKit.SyncEngine(sealed))
        } catch {
            let state = SealKit.SyncEngine.State(configuration.stateSerialization?.sealed)
            content.withLock { ($0.failure, $0.state) = (error, state) }
        }
        guard configuration.automaticallySync else { return }
        let looking = Task { [core] in await core.findAccount() }
        content.withLock { $0.looking = looking }
    }

    /// The app has let go of the engine. Where that has taken another one's place, the other one keeps it going.
    func end() {
        let (engine, looking) = content.withLock { ($0.engine, $0.looking) }
        looking?.cancel()
        content.withLock { ($0.engine, $0.left) = (nil, engine) }
    }

    var engine: SealKit.SyncEngine? { content.withLock { $0.engine } }

    var state: SealKit.SyncEngine.State {
        let (engine, state) = content.withLock { ($0.engine ?? $0.left, $0.state) }
        return engine?.state ?? state
    }

    /// An engine that syncs by itself may tell something before it is known here.
    private func note(_ engine: SealKit.SyncEngine) { content.withLock { $0.engine = engine } }

    func calling(_ body: (SealKit.SyncEngine) async throws(SealKitError) -> Void) async throws(CKError) {
        let failures = Shared(Failures())
        do throws(SealKitError) {
            let (engine, failure) = content.withLock { ($0.engine, $0.failure) }
            if let failure { throw failure }
            _ = try await core.container()
            guard let engine else { return }
            try await Self.$failures.bound(to: failures) { () async throws(SealKitError) in try await body(engine) }
        } catch {
            throw error.code == .partialFailure ? failures.value.error ?? core.words(error) : core.words(error)
        }
    }

    // MARK: What SealKit's engine tells and asks

    private func faces(_ engine: SealKit.SyncEngine) -> (any CKSyncEngineDelegate, CKSyncEngine)? {
        let (delegate, face) = content.withLock { content in
            if content.face != nil { content.engine = engine }
            return (content.delegate, content.face)
        }
        guard let delegate, let face = face ?? former(engine) else { return nil }
        return (delegate, face)
    }

    /// What the app has in the place of an engine that it has let go of: the one whose place that has taken.
    private func former(_ engine: SealKit.SyncEngine) -> CKSyncEngine? {
        var former = engine.former
        while let engine = former {
            if let face = (engine.delegate as? SyncEngineAdapter)?.content.withLock({ $0.face }) { return face }
            former = engine.former
        }
        return nil
    }

    func handleEvent(_ event: SealKit.SyncEngine.Event, syncEngine: SealKit.SyncEngine) async {
        guard let (delegate, face) = faces(syncEngine) else { return }
        await delegate.handleEvent(await told(event), syncEngine: face)
    }

    func nextRecordZoneChangeBatch(
        _ context: SealKit.SyncEngine.SendChangesContext, syncEngine: SealKit.SyncEngine
    ) async -> SealKit.SyncEngine.RecordZoneChangeBatch? {
        guard let (delegate, face) = faces(syncEngine) else { return nil }
        let batch = await Self.$failed.withValue(context.options.scope.failed) {
            await delegate.nextRecordZoneChangeBatch(CKSyncEngine.SendChangesContext(context), syncEngine: face)
        }
        guard let batch else { return nil }
        return await sealed(batch)
    }

    private func sealed(_ batch: CKSyncEngine.RecordZoneChangeBatch) async -> SealKit.SyncEngine.RecordZoneChangeBatch {
        var sealed = SealKit.SyncEngine.RecordZoneChangeBatch(
            recordIDsToDelete: batch.recordIDsToDelete.map(\.sealed), atomicByZone: batch.atomicByZone)
        var given: [SealKit.Record.ID: Given] = [:]
        var refused: [(SealKit.Share, SealKitError)] = []
        for record in batch.recordsToSave {
            var prepared: SentRecord?
            do throws(SealKitError) {
                let sent = try await SentRecord(record, core)
                switch sent {
                case .record(_, let sent): sealed.recordsToSave.append(sent.record)
                case .share(_, let sent): sealed.sharesToSave.append(sent.share)
                }
                prepared = sent
            } catch {
                guard let share = (record as? CKShare)?.unsent else { continue }
                sealed.sharesToSave.append(share)
                refused.append((share, error))
            }
            given[record.recordID.sealed] = Given(record: record, sent: prepared)
        }
        for (share, error) in refused { sealed.refuse(share, error) }
        content.withLock { [given] in $0.given = given }
        return sealed
    }

    func nextFetchChangesOptions(
        _ context: SealKit.SyncEngine.FetchChangesContext, syncEngine: SealKit.SyncEngine
    ) async -> SealKit.SyncEngine.FetchChangesOptions {
        guard let (delegate, face) = faces(syncEngine) else { return context.options }
        return await delegate.nextFetchChangesOptions(
            CKSyncEngine.FetchChangesContext(context), syncEngine: face
        ).sealed
    }

    // MARK: Events

    private func told(_ event: SealKit.SyncEngine.Event) async -> CKSyncEngine.Event {
        switch event {
        case .stateUpdate(let event): .stateUpdate(.init(event))
        case .accountChange(let event): .accountChange(.init(event))
        case .willFetchChanges(let event): begun(.willFetchChanges(.init(event)))
        case .fetchedDatabaseChanges(let event): .fetchedDatabaseChanges(.init(event, mayBeReset: core.mayBeReset))
        case .willFetchRecordZoneChanges(let event): .willFetchRecordZoneChanges(.init(event))
        case .fetchedRecordZoneChanges(let event):
            .fetchedRecordZoneChanges(.init(event, records: await faces(of: event.modifications.map(\.record)), core))
        case .didFetchRecordZoneChanges(let event): .didFetchRecordZoneChanges(told(event))
        case .didFetchChanges(let event): .didFetchChanges(.init(event, core))
        case .willSendChanges(let event): begun(.willSendChanges(.init(event)))
        case .sentDatabaseChanges(let event): .sentDatabaseChanges(told(event))
        case .sentRecordZoneChanges(let event): .sentRecordZoneChanges(await told(event))
        case .didSendChanges(let event): .didSendChanges(.init(event, core))
        }
    }

    private func begun(_ event: CKSyncEngine.Event) -> CKSyncEngine.Event {
        Self.failures?.value = Failures()
        return event
    }

    private func note(zones: [(CKRecordZone.ID, CKError)] = [], records: [(CKRecord.ID, CKError)] = []) {
        Self.failures?.withLock { failures in
            for (id, error) in zones { failures.zones[id] = error }
            for (id, error) in records { failures.records[id] = error }
        }
    }

    private func told(
        _ event: SealKit.SyncEngine.Event.DidFetchRecordZoneChanges
    ) -> CKSyncEngine.Event.DidFetchRecordZoneChanges {
        let told = CKSyncEngine.Event.DidFetchRecordZoneChanges(event, core)
        if let error = told.error { note(zones: [(told.zoneID, error)]) }
        return told
    }

    private func told(_ event: SealKit.SyncEngine.Event.SentDatabaseChanges) -> CKSyncEngine.Event.SentDatabaseChanges {
        let told = CKSyncEngine.Event.SentDatabaseChanges(event, core)
        note(zones: told.failedZoneSaves.map { ($0.zone.zoneID, $0.error) } + told.failedZoneDeletes.map { ($0, $1) })
        return told
    }

    /// Records of shares as shares. One that has ended meanwhile is left out: that it is gone comes next.
    private func faces(of records: [SealKit.Record]) async -> [CKRecord] {
        var (faces, plain): ([CKRecord], PlainFaces) = ([], PlainFaces())
        faces.reserveCapacity(records.count)
        for record in records {
            guard record.isOfShare, let sealed = try? await database.sealed() else {
                faces.append(plain.face(of: record))
                continue
            }
            do throws(SealKitError) { faces.append(try await sealed.face(of: record)) } catch {
                // The token passes it by: told as what it came as, it is not lost.
                if error.code != .unknownItem { faces.append(plain.face(of: record)) }
            }
        }
        return faces
    }

    private func face(of error: SealKitError) async -> CKError {
        guard error.serverRecord != nil, let sealed = try? await database.sealed() else { return core.words(error) }
        return await sealed.face(of: error, core)
    }

    private func told(
        _ event: SealKit.SyncEngine.Event.SentRecordZoneChanges
    ) async -> CKSyncEngine.Event.SentRecordZoneChanges {
        let given = content.withLock { $0.given }
        let saved =
            event.savedRecords.map { given[$0.recordID]?.sent?.taking($0) ?? CKRecord($0) }
            + event.savedShares.map { given[$0.recordID]?.sent?.taking($0) ?? CKShare($0) }
        var failed: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        for failure in event.failedRecordSaves {
            let given = given[failure.record.recordID]
            failed.append(
                .init(
                    record: given?.record ?? CKRecord(failure.record),
                    error: await face(of: given?.sent?.refusal ?? failure.error)))
        }
        for failure in event.failedShareSaves {
            let given = given[failure.share.recordID]
            failed.append(
                .init(
                    record: given?.record ?? CKShare(failure.share),
                    error: await face(of: given?.sent?.refusal ?? failure.error)))
        }
        let told = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: saved, failedRecordSaves: failed,
            deletedRecordIDs: event.deletedRecordIDs.map { CKRecordID($0) },
            failedRecordDeletes: Dictionary(
                event.failedRecordDeletes.map { (CKRecordID($0), core.words($1)) }
            ) { $1 })
        note(records: failed.map { ($0.record.recordID, $0.error) } + told.failedRecordDeletes.map { ($0, $1) })
        return told
    }
}

extension CKDatabase.Scope {
    var sealed: SealKit.Database.Scope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}
