import Foundation
import SealKit

/// Fetches which zones changed.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    open var previousServerChangeToken: CKServerChangeToken?
    /// 0 lets the server decide.
    open var resultsLimit = 0
    /// Goes on until nothing more is coming.
    open var fetchAllChanges = true
    open var recordZoneWithIDChangedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    open var recordZoneWithIDWasDeletedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    open var recordZoneWithIDWasPurgedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    open var changeTokenUpdatedBlock: ((_ serverChangeToken: CKServerChangeToken) -> Void)?
    @available(*, deprecated, message: "use fetchDatabaseChangesResultBlock")
    open var fetchDatabaseChangesCompletionBlock:
        ((_ serverChangeToken: CKServerChangeToken?, _ moreComing: Bool, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchDatabaseChangesResultBlock:
        (
            (
                _ operationResult: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>
            ) -> Void
        )?

    private var oldEnd: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    /// Where it has come to, once that is all.
    private var end: (serverChangeToken: CKServerChangeToken, moreComing: Bool)?

    public override init() { super.init() }

    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func work() async throws(CKError) {
        var token = previousServerChangeToken?.sealed
        let database = try chosenDatabase
        // One account's, to the end: where another one signs in meanwhile it takes no call any more.
        let sealed = try await calling { try await database.sealed() }
        while true {
            let asked = token
            let (changes, mayBeReset) = try await calling {
                let changes = try await sealed.databaseChanges(
                    since: asked, resultsLimit: resultsLimit > 0 ? resultsLimit : nil)
                return (changes, database.core.mayBeReset)
            }
            token = changes.changeToken
            for zone in changes.modifications {
                tell { self.recordZoneWithIDChangedBlock?(CKRecordZoneID(zone.zoneID)) }
            }
            for deletion in changes.deletions {
                let deletion = CKDatabase.DatabaseChange.Deletion(deletion, mayBeReset: mayBeReset)
                tell { self.tell(deletion) }
            }
            let reached = CKServerChangeToken(changes.changeToken)
            tell { self.changeTokenUpdatedBlock?(reached) }
            guard fetchAllChanges, changes.moreComing else {
                end = (reached, changes.moreComing)
                return
            }
        }
    }

    override func ended(_ failure: CKError?) {
        let result: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>
        if let end { result = .success(end) } else { result = .failure(failure ?? CKError(.internalError)) }
        oldEnd?(end?.serverChangeToken, end?.moreComing ?? false, failure)
        fetchDatabaseChangesResultBlock?(result)
    }

    /// Where the app gave no block for the reason, the zone is simply deleted.
    private func tell(_ deletion: CKDatabase.DatabaseChange.Deletion) {
        let block: ((CKRecordZone.ID) -> Void)? =
            switch deletion.reason {
            case .deleted: nil
            case .purged: recordZoneWithIDWasPurgedBlock
            case .encryptedDataReset: recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock
            }
        (block ?? recordZoneWithIDWasDeletedBlock)?(deletion.zoneID)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        recordZoneWithIDChangedBlock = nil
        recordZoneWithIDWasDeletedBlock = nil
        recordZoneWithIDWasPurgedBlock = nil
        recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = nil
        changeTokenUpdatedBlock = nil
        fetchDatabaseChangesResultBlock = nil
        oldEnd = nil
    }
}
