public import Foundation
import SealKit

/// What is asked of one zone: `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
public final class CKFetchRecordZoneChangesConfiguration: NSObject, NSCopying, Sendable {
    private let content: Shared<Content>

    private struct Content {
        var token: CKServerChangeToken?
        var limit: Int
        var keys: [CKRecord.FieldKey]?
    }

    /// Nil for everything.
    public var previousServerChangeToken: CKServerChangeToken? {
        get { content.value.token }
        set { content.withLock { $0.token = newValue } }
    }

    /// 0 lets the server decide; it may give fewer.
    public var resultsLimit: Int {
        get { content.value.limit }
        set { content.withLock { $0.limit = newValue } }
    }

    /// Nil for all fields, empty for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { content.value.keys }
        set { content.withLock { $0.keys = newValue } }
    }

    public init(
        previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        content = Shared(Content(token: previousServerChangeToken, limit: resultsLimit ?? 0, keys: desiredKeys))
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit, desiredKeys: desiredKeys)
    }

    var sealed: SealKit.Database.ZoneChangesConfiguration {
        SealKit.Database.ZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken?.sealed,
            resultsLimit: resultsLimit > 0 ? resultsLimit : nil, desiredKeys: desiredKeys)
    }
}

/// Fetches what changed in zones. A zone's token comes after all records before it.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

    open var recordZoneIDs: [CKRecordZone.ID]?
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? {
        get { configurationsByRecordZoneID }
        set { configurationsByRecordZoneID = newValue }
    }
    /// Goes on until nothing more is coming.
    open var fetchAllChanges = true
    @available(*, deprecated, message: "use recordWasChangedBlock")
    open var recordChangedBlock: ((_ record: CKRecord) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var recordWasChangedBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?
    open var recordWithIDWasDeletedBlock: ((_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) -> Void)?
    open var recordZoneChangeTokensUpdatedBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID, _ serverChangeToken: CKServerChangeToken?,
                _ clientChangeTokenData: Data?
            ) -> Void
        )?
    @available(*, deprecated, message: "use recordZoneFetchResultBlock")
    open var recordZoneFetchCompletionBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID, _ serverChangeToken: CKServerChangeToken?,
                _ clientChangeTokenData: Data?, _ moreComing: Bool, _ recordZoneError: (any Error)?
            ) -> Void
        )?
    {
        get { oldZone }
        set { oldZone = newValue }
    }
    open var recordZoneFetchResultBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID,
                _ fetchChangesResult: Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), any Error
                >
            ) -> Void
        )?
    @available(*, deprecated, message: "use fetchRecordZoneChangesResultBlock")
    open var fetchRecordZoneChangesCompletionBlock: ((_ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchRecordZoneChangesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKRecord) -> Void)?
    private var oldZone: ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    private var oldEnd: (((any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    @available(*, deprecated, renamed: "init(recordZoneIDs:configurationsByRecordZoneID:)")
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID], optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    ) {
        self.init(recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
    }

    override func work() async throws(CKError) {
        let configurations = configurationsByRecordZoneID ?? [:]
        let ids = recordZoneIDs?.eachOnce ?? Array(configurations.keys)
        var asked = Dictionary(
            ids.map { ($0.sealed, configurations[$0]?.sealed ?? SealKit.Database.ZoneChangesConfiguration()) }
        ) { first, _ in first }
        var outcomes: [(CKRecordZone.ID, Result<Void, CKError>)] = []
        let database = try chosenDatabase
        guard !asked.isEmpty else { return }
        // One account's, to the end: where another one signs in meanwhile it takes no call any more.
        let sealed = try await calling {
            let sealed = try await database.sealed()
            return fetchAllChanges ? sealed.readingAhead() : sealed
        }
        // Zones of which nothing had room beside the others: each is asked for by itself.
        var apart: [SealKit.RecordZone.ID: SealKit.Database.ZoneChangesConfiguration] = [:]
        while let request = asked.isEmpty ? apart.first.map({ [$0.key: $0.value] }) : asked {
            for id in request.keys { apart[id] = nil }
            let answers = try await calling { try await sealed.recordZoneChanges(inZonesWith: request) }
            asked = [:]
            for id in ids where request[id.sealed] != nil {
                switch answers[id.sealed] ?? .failure(CKDatabase.lacks(id.zoneName)) {
                case .success(let changes):
                    let modifications = await sealed.faces(of: changes.modifications, database.core)
                    if let loss = untold(modifications) {
                        tell(modifications, changes.deletions)
                        outcomes.append((id, .failure(loss)))
                        tell {
                            self.oldZone?(id, nil, nil, false, loss)
                            self.recordZoneFetchResultBlock?(id, .failure(loss))
                        }
                        continue
                    }
                    let goesOn = fetchAllChanges && changes.moreComing
                    tell(changes, modifications, of: id, goesOn: goesOn)
                    if goesOn {
                        asked[id.sealed] = request[id.sealed]
                        asked[id.sealed]?.previousServerChangeToken = changes.changeToken
                    } else {
                        outcomes.append((id, .success(())))
                    }
                case .failure(let failure):
                    if failure.code == .limitExceeded, request.count > 1 {
                        apart[id.sealed] = request[id.sealed]
                        continue
                    }
                    let error = database.core.words(failure)
                    outcomes.append((id, .failure(error)))
                    tell {
                        self.oldZone?(id, nil, nil, false, error)
                        self.recordZoneFetchResultBlock?(id, .failure(error))
                    }
                }
            }
            // The app has had a page before the next one is asked for: its assets keep their room until then.
            await toldAll()
        }
        try outcomes.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(failure)
        fetchRecordZoneChangesResultBlock?(failure.asResult)
    }

    /// What did not come and cannot be told, as the older block takes records alone: the zone's token stays where it
    /// was, and its records are fetched again.
    private func untold(_ modifications: [(CKRecord.ID, Result<CKRecord, CKError>)]) -> CKError? {
        guard recordWasChangedBlock == nil, oldEach != nil else { return nil }
        do throws(CKError) { try modifications.throwFailures() } catch { return error }
        return nil
    }

    private func tell(
        _ modifications: [(CKRecord.ID, Result<CKRecord, CKError>)],
        _ deletions: [(recordID: SealKit.Record.ID, recordType: String)]
    ) {
        tell {
            for (recordID, result) in modifications {
                if let record = result.value { self.oldEach?(record) }
                self.recordWasChangedBlock?(recordID, result.untyped)
            }
            for (recordID, recordType) in deletions {
                self.recordWithIDWasDeletedBlock?(CKRecordID(recordID), recordType)
            }
        }
    }

    private func tell(
        _ changes: SealKit.Database.RecordZoneChanges, _ modifications: [(CKRecord.ID, Result<CKRecord, CKError>)],
        of id: CKRecordZone.ID, goesOn: Bool
    ) {
        tell(modifications, changes.deletions)
        let (token, isMore) = (CKServerChangeToken(changes.changeToken), changes.moreComing)
        tell {
            if goesOn {
                self.recordZoneChangeTokensUpdatedBlock?(id, token, nil)
            } else {
                self.oldZone?(id, token, nil, isMore, nil)
                self.recordZoneFetchResultBlock?(id, .success((token, nil, isMore)))
            }
        }
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        recordWasChangedBlock = nil
        recordWithIDWasDeletedBlock = nil
        recordZoneChangeTokensUpdatedBlock = nil
        recordZoneFetchResultBlock = nil
        fetchRecordZoneChangesResultBlock = nil
        oldEach = nil
        oldZone = nil
        oldEnd = nil
    }
}
