import Foundation
import SealKit

/// Fetches zones by their IDs, or all of them.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    public var recordZoneIDs: [CKRecordZone.ID]?
    public var perRecordZoneResultBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, any Error>) -> Void)?
    @available(*, deprecated, message: "use fetchRecordZonesResultBlock")
    public var fetchRecordZonesCompletionBlock:
        ((_ recordZonesByZoneID: [CKRecordZone.ID: CKRecordZone]?, _ operationError: (any Error)?) -> Void)?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    public var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEnd: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    private var isOfAll = false

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

    override func run() async {
        do throws(CKError) {
            let results: [(CKRecordZone.ID, Result<CKRecordZone, CKError>)] = try await calling {
                let database = try chosenDatabase
                if isOfAll { return try await database.allZones().map { ($0.zoneID, .success($0)) } }
                let ids = recordZoneIDs?.eachOnce ?? []
                let results = try await database.fetchZones(ids)
                return ids.map { ($0, results[$0] ?? .failure(CKError(CKDatabase.lacks($0.zoneName)))) }
            }
            for (id, result) in results { tell { self.perRecordZoneResultBlock?(id, result.untyped) } }
            let found = results.values()
            end(results.partialError()) {
                self.oldEnd?(found, $0)
            } and: {
                self.fetchRecordZonesResultBlock?($0)
            }
        } catch {
            end(error) {
                self.oldEnd?(nil, $0)
            } and: {
                self.fetchRecordZonesResultBlock?($0)
            }
        }
    }
}
