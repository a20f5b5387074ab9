@testable import CloudKit
import SealKit
import Synchronization
import Testing

/// More assets than there is room for at once. The room is the process's: each test has one of its own.
@Suite(.timeLimit(.minutes(60))) struct RoomForAssetsTests {
    /// What another device reads: zones of eight and of four records, each with an asset of one block, and room for
    /// three.
    private static func run(_ body: (CKDatabase, [CKRecordZone.ID]) async throws -> Void) async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let database = device.container.privateCloudDatabase
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try Data("scan".utf8).write(to: file)
            var zones: [CKRecordZone.ID] = []
            for (name, count) in [("Notes", 8), ("Others", 4)] {
                let zone = try await database.save(CKRecordZone(zoneName: name)).zoneID
                zones.append(zone)
                for number in 1...count {
                    let record = CKRecord.note("\(number)", in: zone)
                    record["scan"] = CKAsset(fileURL: file)
                    try await database.save(record)
                }
            }
            TemporaryAssets.byteLimit = 3 * 4_096
            try await body(try await device.another().container.privateCloudDatabase, zones)
        }
    }

    private static func name(_ record: CKRecord) -> String {
        let file = (record["scan"] as? CKAsset)?.fileURL
        let content = file.flatMap { FileManager.default.contents(atPath: $0.path) }
        return "\(record.recordID.zoneID.zoneName) \(record.recordID.recordName) \(content?.count ?? -1)"
    }

    private static let notes = (1...8).map { "Notes \($0) 4" }
    private static let all = notes + (1...4).map { "Others \($0) 4" }

    @Test func theEngineTellsEachOnce() async {
        await #expect(processExitsWith: .success) {
            try await Self.run { database, _ in
                let log = Log()
                let app = SyncApp { event, _, _ in
                    guard case .fetchedRecordZoneChanges(let changes) = event else { return }
                    for modification in changes.modifications { log.note(Self.name(modification.record)) }
                }
                try app.start(database)
                try await app.engine.fetchChanges()
                #expect(log.all.sorted() == Self.all)
                #expect(app.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
            }
        }
    }

    /// By either block, and by one that takes its time.
    @Test func theOperationTellsEachOnce() async {
        await #expect(processExitsWith: .success) {
            try await Self.run { database, zones in
                for way in 1...3 {
                    let log = Log()
                    let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: zones)
                    switch way {
                    case 1:
                        operation.recordWasChangedBlock = { _, result in
                            log.note((try? result.get()).map { Self.name($0) } ?? "\(result)")
                        }
                    case 2: operation.recordChangedBlock = { log.note(Self.name($0)) }
                    default:
                        operation.configurationsByRecordZoneID = [zones[0]: .init(resultsLimit: 2)]
                        operation.recordWasChangedBlock = { _, result in
                            Thread.sleep(forTimeInterval: 0.05)
                            log.note((try? result.get()).map { Self.name($0) } ?? "none")
                        }
                    }
                    operation.fetchRecordZoneChangesResultBlock = { result in
                        if case .failure(let error) = result { log.note("\(error)") }
                    }
                    await withCheckedContinuation { done in
                        operation.completionBlock = { done.resume() }
                        database.add(operation)
                    }
                    #expect(log.all.sorted() == Self.all, "\(way)")
                }
            }
        }
    }

    /// By one call after another, each with the token of the one before.
    @Test func pagesOfAsyncCallsHaveAsManyAsHaveRoom() async {
        await #expect(processExitsWith: .success) {
            try await Self.run { database, zones in
                var (token, isMore): (CKServerChangeToken?, Bool) = (nil, true)
                var names: [String] = []
                while isMore {
                    let page = try await database.recordZoneChanges(inZoneWith: zones[0], since: token)
                    names += try page.modificationResultsByID.values.map { Self.name(try $0.get().record) }
                    (token, isMore) = (page.changeToken, page.moreComing)
                }
                #expect(names.sorted() == Self.notes)
            }
        }
    }
}
