import Foundation
import SealKit

/// Asks for records: one page of them.
///
/// A match that does not come is told to `recordMatchedBlock`, and the cursor leads past it. Without that block the
/// operation ends with `partialFailure`, and only the older last block is told a cursor.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    public typealias Cursor = CKQueryCursor

    /// As a limit of results: the server decides.
    public static let maximumResults = 0

    open var query: CKQuery?
    /// Where to go on, in the place of a query.
    open var cursor: Cursor?
    /// Nil for all zones of the private database.
    open var zoneID: CKRecordZone.ID?
    open var resultsLimit = CKQueryOperation.maximumResults
    open var desiredKeys: [CKRecord.FieldKey]?
    @available(*, deprecated, message: "use recordMatchedBlock")
    open var recordFetchedBlock: ((_ record: CKRecord) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    open var recordMatchedBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?
    @available(*, deprecated, message: "use queryResultBlock")
    open var queryCompletionBlock: ((_ cursor: Cursor?, _ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var queryResultBlock: ((_ operationResult: Result<Cursor?, any Error>) -> Void)?

    private var oldEach: ((CKRecord) -> Void)?
    private var oldEnd: ((Cursor?, (any Error)?) -> Void)?
    private var next: Cursor?

    public override init() { super.init() }

    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    public convenience init(cursor: Cursor) {
        self.init()
        self.cursor = cursor
    }

    override func work() async throws(CKError) {
        let page = try await calling {
            let database = try chosenDatabase
            if let cursor {
                return try await database.page(
                    of: try await database.sealed(), after: cursor, desiredKeys: desiredKeys, limit: resultsLimit)
            }
            guard let query else {
                throw SealKitError(
                    .invalidArguments, "the operation has neither a query nor a cursor", remedy: "give it one")
            }
            return try await database.page(
                of: try await database.sealed(), matching: query, in: zoneID, desiredKeys: desiredKeys,
                limit: resultsLimit)
        }
        tell {
            for (id, result) in page.matches {
                if let record = result.value { self.oldEach?(record) }
                self.recordMatchedBlock?(id, result.untyped)
            }
        }
        next = page.cursor
        // Who was told what did not come has to get past it: a failure of the whole has no cursor.
        if recordMatchedBlock == nil { try page.matches.throwFailures() }
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(next, failure)
        queryResultBlock?(failure.asResult.map { self.next })
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        recordMatchedBlock = nil
        queryResultBlock = nil
        oldEach = nil
        oldEnd = nil
    }
}
