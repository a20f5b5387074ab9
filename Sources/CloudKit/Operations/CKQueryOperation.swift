import Foundation
import SealKit

/// Asks for records: one page of them.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    public typealias Cursor = CKQueryCursor

    /// As a limit of results: the server decides.
    public static let maximumResults = 0

    public var query: CKQuery?
    /// Where to go on, in the place of a query.
    public var cursor: Cursor?
    /// Nil for all zones of the private database.
    public var zoneID: CKRecordZone.ID?
    public var resultsLimit = CKQueryOperation.maximumResults
    public var desiredKeys: [CKRecord.FieldKey]?
    @available(*, deprecated, message: "use recordMatchedBlock")
    public var recordFetchedBlock: ((_ record: CKRecord) -> Void)? {
        get { oldEach }
        set { oldEach = newValue }
    }
    public var recordMatchedBlock: ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?
    @available(*, deprecated, message: "use queryResultBlock")
    public var queryCompletionBlock: ((_ cursor: Cursor?, _ operationError: (any Error)?) -> Void)? {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    public var queryResultBlock: ((_ operationResult: Result<Cursor?, any Error>) -> Void)?

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
                return try await database.page(after: cursor, desiredKeys: desiredKeys, limit: resultsLimit)
            }
            guard let query else {
                throw SealKitError(
                    .invalidArguments, "the operation has neither a query nor a cursor", remedy: "give it one")
            }
            return try await database.page(
                matching: query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit)
        }
        for (id, result) in page.matches {
            tell {
                if let record = result.value { self.oldEach?(record) }
                self.recordMatchedBlock?(id, result.untyped)
            }
        }
        next = page.cursor
        try page.matches.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(next, failure)
        queryResultBlock?(failure.asResult.map { self.next })
    }
}
