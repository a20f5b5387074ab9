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

    open var recordsToSave: [CKRecord]?
    open var recordIDsToDelete: [CKRecord.ID]?
    open var savePolicy: RecordSavePolicy = .ifServerRecordUnchanged
    /// Kept, and not sent: a change that was sent twice is made once without it.
    open var clientChangeTokenData: Data?
    /// All of a zone or nothing.
    open var isAtomic = true
    /// How much of a record's assets has been sent, from 0 to 1.
    open var perRecordProgressBlock: ((_ record: CKRecord, _ progress: Double) -> Void)?
    @available(*, deprecated, message: "use perRecordSaveBlock")
    open var perRecordCompletionBlock: ((_ record: CKRecord, _ error: (any Error)?) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var perRecordSaveBlock: ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, any Error>) -> Void)?
    open var perRecordDeleteBlock: ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>) -> Void)?
    @available(*, deprecated, message: "use modifyRecordsResultBlock")
    open var modifyRecordsCompletionBlock:
        ((_ savedRecords: [CKRecord]?, _ deletedRecordIDs: [CKRecord.ID]?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var modifyRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEach: ((CKRecord, (any Error)?) -> Void)?
    private var oldEnd: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    private var done: ModifyOutcomes<CKRecord, CKRecord.ID>?

    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    public override init() { super.init() }

    /// In the journal: what a former process began, or this operation once it outlasts the process.
    private var kept: SealKit.LongLivedModification?

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
        let results = try await calling {
            try await chosenDatabase.modify(
                saving: records, deleting: ids, policy: savePolicy, isAtomic: isAtomic, keptBy: begun
            ) { id, fraction in
                guard let record = byID[id] else { return }
                self.tell { self.perRecordProgressBlock?(record, fraction) }
            }
        }
        var outcomes = ModifyOutcomes<CKRecord, CKRecord.ID>()
        for record in records {
            guard let result = results.saveResults[record.recordID] else { continue }
            outcomes.add(saving: record.recordID, result)
            tell {
                self.oldEach?(record, result.error)
                self.perRecordSaveBlock?(record.recordID, result.untyped)
            }
        }
        for id in ids {
            guard let result = results.deleteResults[id] else { continue }
            outcomes.add(deleting: id, result)
            tell { self.perRecordDeleteBlock?(id, result.untyped) }
        }
        done = outcomes
        try outcomes.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(done?.saved, done?.deleted, failure)
        modifyRecordsResultBlock?(failure.asResult)
    }

    override func told(_ failure: CKError?) async { await kept?.wasTold(failure) }

    override func givenUp() { kept?.giveUp() }

    /// Not with a share in it, whose participants no journal keeps.
    override var outlastsProcess: Bool {
        if kept != nil { return true }
        let savesShare = recordsToSave?.contains { $0 is CKShare } ?? false
        let endsShare = recordIDsToDelete?.contains { $0.recordName == SealKit.Share.recordName } ?? false
        return configuration.isLongLived && !savesShare && !endsShare
    }

    /// What is done by the journal: nothing of an operation that does not outlast the process.
    /// - Throws: where it cannot be kept: nothing is sent then.
    private func begun(
        _ saving: [any SavableRecord], _ deleting: [SealKit.Record.ID], in database: SealKit.Database,
        of core: ContainerCore
    ) async throws(SealKitError) -> SealKit.LongLivedModification? {
        if let kept { return kept }
        let records = saving.compactMap { $0 as? SealKit.Record }
        guard outlastsProcess, records.count == saving.count else { return nil }
        kept = try await keep(unless: core.journalFailure) { () async throws(SealKitError) in
            try await database.beginModifyingRecords(
                saving: records, deleting: deleting, savePolicy: savePolicy.sealed, atomically: isAtomic,
                operationID: journalID)
        }
        return kept
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perRecordProgressBlock = nil
        perRecordSaveBlock = nil
        perRecordDeleteBlock = nil
        modifyRecordsResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
