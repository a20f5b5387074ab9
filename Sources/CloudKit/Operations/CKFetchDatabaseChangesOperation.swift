import Foundation
import SealKit

/// Fetches which zones changed.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    public var previousServerChangeToken: CKServerChangeToken?
    /// 0 lets the server decide.
    public var resultsLimit = 0
    /// Goes on until nothing more is coming.
    public var fetchAllChanges = true
    public var recordZoneWithIDChangedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    public var recordZoneWithIDWasDeletedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    public var recordZoneWithIDWasPurgedBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    public var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((_ zoneID: CKRecordZone.ID) -> Void)?
    public var changeTokenUpdatedBlock: ((_ serverChangeToken: CKServerChangeToken) -> Void)?
    @available(*, deprecated, message: "use fetchDatabaseChangesResultBlock")
    public var fetchDatabaseChangesCompletionBlock:
        ((_ serverChangeToken: CKServerChangeToken?, _ moreComing: Bool, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    public var fetchDatabaseChangesResultBlock:
        (
            (
                _ operationResult: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>
            ) -> Void
        )?

    private var oldEnd: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

    public override init() { super.init() }

    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func run() async {
        var token = previousServerChangeToken?.sealed
        do throws(CKError) {
            while true {
                let asked = token
                let changes = try await calling {
                    try await chosenDatabase.sealed().databaseChanges(
                        since: asked, resultsLimit: resultsLimit > 0 ? resultsLimit : nil)
                }
                token = changes.changeToken
                for zone in changes.modifications {
                    tell { self.recordZoneWithIDChangedBlock?(CKRecordZoneID(zone.zoneID)) }
                }
                for deletion in changes.deletions.map({ CKDatabase.DatabaseChange.Deletion($0) }) {
                    tell { self.tell(deletion) }
                }
                let (reached, isMore) = (CKServerChangeToken(changes.changeToken), changes.moreComing)
                tell { self.changeTokenUpdatedBlock?(reached) }
                guard fetchAllChanges, isMore else {
                    tell {
                        self.oldEnd?(reached, isMore, nil)
                        self.fetchDatabaseChangesResultBlock?(.success((reached, isMore)))
                    }
                    return
                }
            }
        } catch {
            tell {
                self.oldEnd?(nil, false, error)
                self.fetchDatabaseChangesResultBlock?(.failure(error))
            }
        }
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
}
