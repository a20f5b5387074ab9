import Foundation
import SealKit

/// Makes and deletes zones.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    open var recordZonesToSave: [CKRecordZone]?
    open var recordZoneIDsToDelete: [CKRecordZone.ID]?
    open var perRecordZoneSaveBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, any Error>) -> Void)?
    open var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, any Error>) -> Void)?
    @available(*, deprecated, message: "use modifyRecordZonesResultBlock")
    open var modifyRecordZonesCompletionBlock:
        (
            (
                _ savedRecordZones: [CKRecordZone]?, _ deletedRecordZoneIDs: [CKRecordZone.ID]?,
                _ operationError: (any Error)?
            ) -> Void
        )?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEnd: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    private var done: ModifyOutcomes<CKRecordZone, CKRecordZone.ID>?

    public override init() { super.init() }

    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    override func work() async throws(CKError) {
        let (zones, ids) = (recordZonesToSave ?? [], recordZoneIDsToDelete ?? [])
        let results = try await calling { try await chosenDatabase.modifyZones(saving: zones, deleting: ids) }
        var outcomes = ModifyOutcomes<CKRecordZone, CKRecordZone.ID>()
        for id in zones.map(\.zoneID) {
            guard let result = results.saveResults[id] else { continue }
            outcomes.add(saving: id, result)
            tell { self.perRecordZoneSaveBlock?(id, result.untyped) }
        }
        for id in ids {
            guard let result = results.deleteResults[id] else { continue }
            outcomes.add(deleting: id, result)
            tell { self.perRecordZoneDeleteBlock?(id, result.untyped) }
        }
        done = outcomes
        try outcomes.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(done?.saved, done?.deleted, failure)
        modifyRecordZonesResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perRecordZoneSaveBlock = nil
        perRecordZoneDeleteBlock = nil
        modifyRecordZonesResultBlock = nil
        oldEnd = nil
    }
}
