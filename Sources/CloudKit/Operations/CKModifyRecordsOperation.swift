public import Foundation
import SealKit

/// Saves and deletes records.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    public enum RecordSavePolicy: Int, Sendable {
        /// The record must not have changed since it was fetched.
        case ifServerRecordUnchanged = 0
        /// Changed keys are merged into whatever the server has.
        case changedKeys = 1
        /// All keys of the record replace the server's.
        case allKeys = 2

        var sealed: SealKit.Database.SavePolicy {
            switch self {
            case .ifServerRecordUnchanged: .ifServerRecordUnchanged
            case .changedKeys: .changedKeys
            case .allKeys: .allKeys
            }
        }
    }

    public var recordsToSave: [CKRecord]?
    public var recordIDsToDelete: [CKRecord.ID]?
    public var savePolicy: RecordSavePolicy = .ifServerRecordUnchanged
    /// Kept, and not sent: a change that was sent twice is made once without it.
    public var clientChangeTokenData: Data?
    /// All of a zone or nothing.
    public var isAtomic = true
    /// How much of a record's assets has been sent, from 0 to 1.
    public var perRecordProgressBlock: ((_ record: CKRecord, _ progress: Double) -> Void)?
    @available(*, deprecated, message: "use perRecordSaveBlock")
    public var perRecordCompletionBlock: ((_ record: CKRecord, _ error: (any Error)?) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    public var perRecordSaveBlock: ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, any Error>) -> Void)?
    public var perRecordDeleteBlock: ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>) -> Void)?
    @available(*, deprecated, message: "use modifyRecordsResultBlock")
    public var modifyRecordsCompletionBlock:
        ((_ savedRecords: [CKRecord]?, _ deletedRecordIDs: [CKRecord.ID]?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    public var modifyRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKRecord, (any Error)?) -> Void)?
    private var oldEnd: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    private var done: (saved: [CKRecord], deleted: [CKRecord.ID])?

    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    public override init() { super.init() }

    /// What a former process began.
    private var kept: SealKit.LongLivedModification?
    private var journal: LongLivedModifying?

    convenience init(_ kept: SealKit.LongLivedModification) {
        self.init(
            recordsToSave: kept.saving.map { CKRecord($0) }, recordIDsToDelete: kept.deleting.map { CKRecordID($0) })
        self.kept = kept
        isAtomic = kept.isAtomic
        savePolicy =
            switch kept.savePolicy {
            case .ifServerRecordUnchanged, .restoring: .ifServerRecordUnchanged
            case .changedKeys: .changedKeys
            case .allKeys: .allKeys
            }
    }

    override func work() async throws(CKError) {
        let (records, ids) = (recordsToSave ?? [], recordIDsToDelete ?? [])
        let byID = Dictionary(records.map { ($0.recordID.sealed, $0) }) { first, _ in first }
        let journal = LongLivedModifying(kept, for: self)
        self.journal = journal
        let results = try await calling {
            try await chosenDatabase.modify(
                saving: records, deleting: ids, policy: savePolicy, isAtomic: isAtomic, journal: journal
            ) { id, fraction in
                guard let record = byID[id] else { return }
                self.tell { self.perRecordProgressBlock?(record, fraction) }
            }
        }
        var outcomes: [(CKRecord.ID, Result<Void, CKError>)] = []
        var (saved, deleted): ([CKRecord], [CKRecord.ID]) = ([], [])
        for record in records {
            guard let result = results.saveResults[record.recordID] else { continue }
            outcomes.append((record.recordID, result.map { _ in }))
            if let stored = result.value { saved.append(stored) }
            tell {
                self.oldEach?(record, result.error)
                self.perRecordSaveBlock?(record.recordID, result.untyped)
            }
        }
        for id in ids {
            guard let result = results.deleteResults[id] else { continue }
            outcomes.append((id, result))
            if result.error == nil { deleted.append(id) }
            tell { self.perRecordDeleteBlock?(id, result.untyped) }
        }
        done = (saved, deleted)
        try outcomes.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(done?.saved, done?.deleted, failure)
        modifyRecordsResultBlock?(failure.asResult)
    }

    override func told(_ failure: CKError?) async {
        await journal?.end(failure)
    }
}
