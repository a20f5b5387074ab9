import Foundation
import SealKit

/// Fetches records by their IDs.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    open var recordIDs: [CKRecord.ID]?
    /// Nil for all fields, empty for system fields only.
    open var desiredKeys: [CKRecord.FieldKey]?
    /// How much of a record with its assets has come, from 0 to 1.
    open var perRecordProgressBlock: ((_ recordID: CKRecord.ID, _ progress: Double) -> Void)?
    @available(*, deprecated, message: "use perRecordResultBlock")
    open var perRecordCompletionBlock: ((_ record: CKRecord?, _ recordID: CKRecord.ID?, _ error: (any Error)?) -> Void)?
    {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var perRecordResultBlock: ((_ recordID: CKRecord.ID, _ result: Result<CKRecord, any Error>) -> Void)?
    @available(*, deprecated, message: "use fetchRecordsResultBlock")
    open var fetchRecordsCompletionBlock:
        ((_ recordsByRecordID: [CKRecord.ID: CKRecord]?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    private var oldEnd: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    private var isCurrentUsers = false
    private var found: [CKRecord.ID: CKRecord]?

    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Of the user's own record.
    open class func fetchCurrentUserRecordOperation() -> Self {
        let operation = self.init()
        operation.isCurrentUsers = true
        return operation
    }

    public required override init() { super.init() }

    /// In the journal: what a former process began, or this operation once it outlasts the process.
    private var kept: SealKit.LongLivedFetch?

    convenience init(_ kept: SealKit.LongLivedFetch) {
        self.init(recordIDs: kept.recordIDs.map { CKRecordID($0) })
        self.kept = kept
        desiredKeys = kept.desiredKeys
    }

    override func work() async throws(CKError) {
        let results = try await calling {
            let database = try chosenDatabase
            let ids =
                isCurrentUsers
                ? [CKRecordID(try await database.core.container().userRecordID())] : recordIDs?.eachOnce ?? []
            if outlastsProcess, kept == nil {
                let sealed = try await database.sealed()
                kept = try await keep(unless: database.core.journalFailure) { () async throws(SealKitError) in
                    try await sealed.beginFetchingRecords(
                        for: ids.map(\.sealed), desiredKeys: desiredKeys, operationID: journalID)
                }
            }
            let results = try await database.fetch(ids, desiredKeys: desiredKeys, as: kept)
            return ids.map { ($0, results[$0] ?? .failure(CKError(CKDatabase.lacks($0.recordName)))) }
        }
        tell {
            for (id, result) in results {
                if case .success = result { self.perRecordProgressBlock?(id, 1) }
                self.oldEach?(result.value, id, result.error)
                self.perRecordResultBlock?(id, result.untyped)
            }
        }
        found = results.values()
        try results.throwFailures()
    }

    override var outlastsProcess: Bool { kept != nil || configuration.isLongLived }

    override func ended(_ failure: CKError?) {
        oldEnd?(found, failure)
        fetchRecordsResultBlock?(failure.asResult)
    }

    override func told(_ failure: CKError?) async { await kept?.wasTold(failure) }

    override func givenUp() { kept?.giveUp() }

    override func releaseBlocks() {
        super.releaseBlocks()
        perRecordProgressBlock = nil
        perRecordResultBlock = nil
        fetchRecordsResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
