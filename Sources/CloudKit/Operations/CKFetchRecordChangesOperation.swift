public import Foundation
import SealKit

/// Fetches what changed in one zone: one part of it.
@available(*, deprecated, message: "use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    open var recordZoneID: CKRecordZone.ID?
    open var previousServerChangeToken: CKServerChangeToken?
    /// 0 lets the server decide.
    open var resultsLimit = 0
    /// Nil for all fields, empty for system fields only.
    open var desiredKeys: [String]?
    open var recordChangedBlock: ((_ record: CKRecord) -> Void)?
    open var recordWithIDWasDeletedBlock: ((_ recordID: CKRecord.ID) -> Void)?
    /// Known before the last block is called.
    public private(set) var moreComing = false
    open var fetchRecordChangesCompletionBlock:
        (
            (
                _ serverChangeToken: CKServerChangeToken?, _ clientChangeTokenData: Data?,
                _ operationError: (any Error)?
            ) -> Void
        )?

    private var reached: CKServerChangeToken?

    public override init() { super.init() }

    public convenience init(recordZoneID: CKRecordZone.ID, previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func work() async throws(CKError) {
        let (modified, changes) = try await calling {
            guard let recordZoneID else {
                throw SealKitError(.invalidArguments, "the operation has no zone", remedy: "set recordZoneID")
            }
            return try await chosenDatabase.changes(
                in: recordZoneID, since: previousServerChangeToken, desiredKeys: desiredKeys,
                limit: resultsLimit > 0 ? resultsLimit : nil)
        }
        var outcomes: [(CKRecord.ID, Result<Void, CKError>)] = []
        for (id, result) in modified {
            outcomes.append((id, result.map { _ in }))
            if let record = result.value { tell { self.recordChangedBlock?(record) } }
        }
        for (id, _) in changes.deletions { tell { self.recordWithIDWasDeletedBlock?(CKRecordID(id)) } }
        // What did not come is fetched again: the token stays where it was.
        try outcomes.throwFailures()
        moreComing = changes.moreComing
        reached = CKServerChangeToken(changes.changeToken)
    }

    override func ended(_ failure: CKError?) { fetchRecordChangesCompletionBlock?(reached, nil, failure) }

    override func releaseBlocks() {
        super.releaseBlocks()
        recordChangedBlock = nil
        recordWithIDWasDeletedBlock = nil
        fetchRecordChangesCompletionBlock = nil
    }
}
