import Foundation
import SealKit

/// Fetches zones by their IDs, or all of them.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    open var recordZoneIDs: [CKRecordZone.ID]?
    open var perRecordZoneResultBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, any Error>) -> Void)?
    @available(*, deprecated, message: "use fetchRecordZonesResultBlock")
    open var fetchRecordZonesCompletionBlock:
        ((_ recordZonesByZoneID: [CKRecordZone.ID: CKRecordZone]?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEnd: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    private var isOfAll = false
    private var found: [CKRecordZone.ID: CKRecordZone]?

    public required override init() { super.init() }

    public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
        self.init()
        recordZoneIDs = zoneIDs
    }

    open class func fetchAllRecordZonesOperation() -> Self {
        let operation = self.init()
        operation.isOfAll = true
        return operation
    }

    override func work() async throws(CKError) {
        let results: [(CKRecordZone.ID, Result<CKRecordZone, CKError>)] = try await calling {
            let database = try chosenDatabase
            if isOfAll { return try await database.allZones().map { ($0.zoneID, .success($0)) } }
            let ids = recordZoneIDs?.eachOnce ?? []
            let results = try await database.fetchZones(ids)
            return ids.map { ($0, results[$0] ?? .failure(CKError(CKDatabase.lacks($0.zoneName)))) }
        }
        for (id, result) in results { tell { self.perRecordZoneResultBlock?(id, result.untyped) } }
        found = results.values()
        try results.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(found, failure)
        fetchRecordZonesResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perRecordZoneResultBlock = nil
        fetchRecordZonesResultBlock = nil
        oldEnd = nil
    }
}
