@testable import CloudKit
import SealKit
import SealKitTesting
import Synchronization
import Testing

/// Operations that outlast their process.
@Suite(.timeLimit(.minutes(60))) struct LongLivedTests {
    private func run(_ operation: CKDatabaseOperation, in database: CKDatabase) async {
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
            database.add(operation)
        }
    }

    private func code<Value>(_ result: Result<Value, any Error>) -> String {
        switch result {
        case .success: "ok"
        case .failure(let error): "\((error as? CKError)?.errorCode ?? 0)"
        }
    }

    /// - Parameter writing: runs before each change of the journal, which fails with what it throws.
    private func withJournal(
        writing: @escaping @Sendable () throws -> Void = {},
        _ body: (Cloud.Device, CKRecordZone.ID) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            try device.keepOperations(in: folder.appendingPathComponent("operations"), writing: writing)
            let zone = try await device.container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            try await body(device, zone.zoneID)
        }
    }

    /// Kept before it is sent, under its ID; gone once its end was told.
    @Test func keptBeforeItIsSent() async throws {
        try await withJournal { device, zone in
            let container = device.container
            let log = Log()
            let record = CKRecord.note("a", in: zone)
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.configuration.isLongLived = true
            let id = operation.operationID
            operation.longLivedOperationWasPersistedBlock = {
                // The block holds the operation up: nothing is sent until it has returned.
                let listed = DispatchSemaphore(value: 0)
                container.fetchAllLongLivedOperationIDs { ids, _ in
                    log.note("kept \(ids == [id])")
                    listed.signal()
                }
                listed.wait()
            }
            operation.perRecordSaveBlock = { log.note("save \($0.recordName) \(self.code($1))") }
            operation.modifyRecordsResultBlock = { log.note("end \(self.code($0))") }
            await run(operation, in: container.privateCloudDatabase)
            #expect(log.all == ["kept true", "save a ok", "end ok"])
            #expect(operation.operationID == id)
            #expect(record.recordChangeTag != nil)
            let (left, ended) = (
                try await container.allLongLivedOperationIDs(), try await container.longLivedOperation(for: id)
            )
            #expect(left.isEmpty)
            #expect(ended == nil)

            let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
            fetch.configuration.isLongLived = true
            fetch.longLivedOperationWasPersistedBlock = { log.note("kept") }
            fetch.perRecordResultBlock = { log.note("fetched \($0.recordName) \(self.code($1))") }
            await run(fetch, in: container.privateCloudDatabase)
            #expect(log.all.suffix(2) == ["kept", "fetched a ok"])
            #expect(try await container.allLongLivedOperationIDs().isEmpty)
        }
    }

    /// What a process that was ended has begun: with its input, and done once when it is added.
    @Test func goneOnWith() async throws {
        try await withJournal { device, zone in
            let container = device.container
            try await container.privateCloudDatabase.save(CKRecord.note("there", in: zone))
            let patient = CKOperationConfiguration()
            patient.qualityOfService = .utility
            (patient.timeoutIntervalForRequest, patient.timeoutIntervalForResource) = (7, 8_640)
            let ids = try await device.leaveBegun(saving: "left", fetching: "there", in: zone, patient)
            #expect(try await container.allLongLivedOperationIDs() == ids)
            let found = try await container.longLivedOperation(for: ids[0])
            let operation = try #require(found as? CKModifyRecordsOperation)
            #expect(operation.operationID == ids[0])
            #expect(operation.configuration.isLongLived)
            #expect(operation.configuration.qualityOfService == .utility)
            #expect(operation.configuration.timeoutIntervalForRequest == 7)
            #expect(operation.configuration.timeoutIntervalForResource == 8_640)
            #expect(operation.isAtomic)
            #expect(operation.savePolicy == .ifServerRecordUnchanged)
            #expect(operation.recordsToSave?.map(\.recordID.recordName) == ["left"])
            let log = Log()
            operation.longLivedOperationWasPersistedBlock = { log.note("kept again") }
            operation.perRecordSaveBlock = { log.note("save \($0.recordName) \(self.code($1))") }
            operation.modifyRecordsResultBlock = { log.note("end \(self.code($0))") }
            // By its own database, in a queue of the app's.
            let queue = OperationQueue()
            await withCheckedContinuation { done in
                operation.completionBlock = { done.resume() }
                queue.addOperation(operation)
            }
            #expect(log.all == ["save left ok", "end ok"])
            let left = try await container.privateCloudDatabase.record(
                for: CKRecord.ID(recordName: "left", zoneID: zone))
            #expect(left["title"] as? String == "kept")
            #expect(try await container.allLongLivedOperationIDs() == [ids[1]])
            let fetch = try #require(try await container.longLivedOperation(for: ids[1]) as? CKFetchRecordsOperation)
            // Begun by the defaults.
            #expect(fetch.configuration.qualityOfService == .default)
            #expect(fetch.configuration.timeoutIntervalForRequest == 60)
            fetch.perRecordResultBlock = { log.note("fetched \($0.recordName) \(self.code($1))") }
            await run(fetch, in: container.privateCloudDatabase)
            #expect(log.all.last == "fetched there ok")
            #expect(try await container.allLongLivedOperationIDs().isEmpty)
        }
    }

    /// What has its results and was not told them, since its process ended there, is there for a day.
    @Test func whatHasFinishedGoesAfterADay() async throws {
        try await withJournal { device, zone in
            let container = device.container
            try await container.privateCloudDatabase.save(CKRecord.note("there", in: zone))
            let ids = try await device.leaveBegun(saving: "left", fetching: "there", in: zone)
            try await device.finish(ids[0])
            let day: TimeInterval = 86_400
            let (now, later) = (Date(), Date(timeIntervalSinceNow: day + 60))
            #expect(try await container.keptOperations(at: now).count == 2)
            #expect(try await container.keptOperations(at: later).count == 1)
            #expect(try await container.allLongLivedOperationIDs() == [ids[1]])
        }
    }

    /// What cannot be removed is over all the same, and keeps nobody from the others.
    @Test func whatCannotBeRemovedIsNotListed() async throws {
        let isFull = Mutex(false)
        try await withJournal(
            writing: { if isFull.withLock({ $0 }) { throw CKError(.internalError) } }
        ) { device, zone in
            let container = device.container
            try await container.privateCloudDatabase.save(CKRecord.note("there", in: zone))
            let ids = try await device.leaveBegun(saving: "left", fetching: "there", in: zone)
            try await device.finish(ids[0])
            let later = Date(timeIntervalSinceNow: 86_460)
            isFull.withLock { $0 = true }
            #expect(try await container.keptOperations(at: later).count == 1)
            isFull.withLock { $0 = false }
            #expect(try await container.allLongLivedOperationIDs() == ids)
            #expect(try await container.keptOperations(at: later).count == 1)
            #expect(try await container.allLongLivedOperationIDs() == [ids[1]])
        }
    }

    /// What keeps it from going on for now is not its end: it is there to be added again.
    @Test func whatHasNotGoneThroughIsStillThere() async throws {
        try await withJournal { device, zone in
            let container = device.container
            let faults: [(ServerFault, String)] = [
                (.offline, "4"), (.refusal(.storageFull, of: "records/modify"), "25"),
                (.refusal(.serverRejectedRequest, of: "records/modify"), "15"),
            ]
            for (fault, told) in faults {
                let log = Log()
                let record = CKRecord.note("told-\(told)", in: zone)
                let operation = CKModifyRecordsOperation(recordsToSave: [record])
                operation.configuration.isLongLived = true
                operation.configuration.qualityOfService = .userInitiated
                operation.modifyRecordsResultBlock = { log.note("end \(self.code($0))") }
                let injection = device.inject(fault)
                await run(operation, in: container.privateCloudDatabase)
                injection.remove()
                #expect(log.all == ["end \(told)"])
                #expect(try await container.allLongLivedOperationIDs() == [operation.operationID])
                let found = try await container.longLivedOperation(for: operation.operationID)
                let again = try #require(found as? CKModifyRecordsOperation)
                #expect(again.configuration.qualityOfService == .userInitiated)
                again.modifyRecordsResultBlock = { log.note("again \(self.code($0))") }
                await run(again, in: container.privateCloudDatabase)
                #expect(log.all.last == "again ok")
                #expect(try await container.allLongLivedOperationIDs().isEmpty)
                _ = try await container.privateCloudDatabase.record(for: record.recordID)
            }
        }
    }

    /// By the default quality of service, as CloudKit's does; with somebody waiting it would end after four attempts.
    @Test func itWaitsForANetwork() async throws {
        try await withJournal { device, zone in
            let (log, database) = (Log(), device.container.privateCloudDatabase)
            let record = CKRecord.note("a", in: zone)
            let save = CKModifyRecordsOperation(recordsToSave: [record])
            save.configuration.isLongLived = true
            save.modifyRecordsResultBlock = { log.note("saved \(self.code($0))") }
            device.inject(.refusal(.networkFailure, times: 6))
            await run(save, in: database)
            let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
            fetch.configuration.isLongLived = true
            fetch.fetchRecordsResultBlock = { log.note("fetched \(self.code($0))") }
            device.inject(.refusal(.networkFailure, times: 6))
            await run(fetch, in: database)
            #expect(log.all == ["saved ok", "fetched ok"])
        }
    }

    /// Its failure was told, and the app saves in another way, or not at all: nothing of it comes again.
    @Test(arguments: ["found again", "itself", "in its last block"])
    func oneWhoseFailureWasToldCanBeGivenUp(how: String) async throws {
        try await withJournal { device, zone in
            let container = device.container
            let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord.note("a", in: zone)])
            operation.configuration.isLongLived = true
            operation.configuration.qualityOfService = .userInitiated
            if how == "in its last block" {
                operation.modifyRecordsResultBlock = { [weak operation] _ in operation?.cancel() }
            }
            let offline = device.inject(.offline)
            await run(operation, in: container.privateCloudDatabase)
            offline.remove()
            if how == "found again" {
                let found = try await container.longLivedOperation(for: operation.operationID)
                try #require(found).cancel()
            } else if how == "itself" {
                operation.cancel()
            }
            var left = try await container.allLongLivedOperationIDs()
            for _ in 0..<200 where !left.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                left = try await container.allLongLivedOperationIDs()
            }
            #expect(left.isEmpty)
        }
    }

    /// The app gives it up.
    @Test func aCancelledOneIsGone() async throws {
        try await withJournal { device, zone in
            let (log, container) = (Log(), device.container)
            let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord.note("a", in: zone)])
            operation.configuration.isLongLived = true
            operation.longLivedOperationWasPersistedBlock = { operation.cancel() }
            operation.modifyRecordsResultBlock = { log.note("end \(self.code($0))") }
            await run(operation, in: container.privateCloudDatabase)
            #expect(log.all == ["end 20"])
            let kept = try await container.allLongLivedOperationIDs()
            #expect(kept.isEmpty)
        }
    }

    /// Kinds that no journal keeps run as if it were not set.
    @Test func othersAreNotKept() async throws {
        try await withJournal { device, zone in
            let log = Log()
            let operation = CKFetchRecordZonesOperation(recordZoneIDs: [zone])
            operation.configuration.isLongLived = true
            operation.longLivedOperationWasPersistedBlock = { log.note("kept") }
            operation.fetchRecordZonesResultBlock = { log.note("end \(self.code($0))") }
            await run(operation, in: device.container.privateCloudDatabase)
            #expect(log.all == ["end ok"])
        }
    }

    /// Nobody keeps it: it fails before anything is sent, and a share, which no journal keeps, is saved all the same.
    @Test func withoutAJournal() async throws {
        try await Cloud.runNotes { database, zone in
            let log = Log()
            let record = CKRecord.note("a", in: zone)
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.configuration.isLongLived = true
            operation.longLivedOperationWasPersistedBlock = { log.note("kept") }
            operation.modifyRecordsResultBlock = { log.note("end \(self.code($0))") }
            await run(operation, in: database)
            #expect(log.all == ["end 12"])
            await expectFailure(.unknownItem) { _ = try await database.record(for: record.recordID) }
            let sharing = CKModifyRecordsOperation(recordsToSave: [record, CKShare(rootRecord: record)])
            sharing.configuration.isLongLived = true
            sharing.longLivedOperationWasPersistedBlock = { log.note("kept") }
            sharing.modifyRecordsResultBlock = { log.note("shared \(self.code($0))") }
            await run(sharing, in: database)
            #expect(log.all == ["end 12", "shared ok"])
        }
    }

    @Test(
        "The folder of an app's state, read by somebody, tells nothing of records, and gives another account nothing.")
    func attack99_theFolderOfAnAppsState() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Cloud.run { cloud in
            let (device, other) = (try await cloud.device(of: "ann"), try await cloud.device(of: "bob"))
            try device.keepOperations(in: folder.appendingPathComponent("operations"))
            let zone = try await device.container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            let ids = try await device.leaveBegun(saving: "nobody-knows", fetching: "nor-this", in: zone.zoneID)
            #expect(try await device.container.allLongLivedOperationIDs() == ids)
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            #expect(files.isEmpty == false)
            for file in files {
                let bytes = try Data(contentsOf: file)
                for word in ["nobody-knows", "nor-this", "Notes", "title", "kept"] {
                    #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(file.lastPathComponent)")
                }
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect((mode ?? 0) & 0o077 == 0, "\(file.lastPathComponent)")
            }
            device.signIn(as: other)
            #expect(try await device.container.allLongLivedOperationIDs().isEmpty)
            #expect(try await device.container.longLivedOperation(for: ids[0]) == nil)
            AttackOutcome.held("sealed rows of mode 0600, and none of another account's")
        }
    }
}
