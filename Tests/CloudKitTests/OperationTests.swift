import CloudKit
import Synchronization
import Testing

/// Operations: every block, how often and in which order.
@Suite(.timeLimit(.minutes(60))) struct OperationTests {
    /// Adds an operation and waits for the end of it.
    private func run(_ operation: CKDatabaseOperation, in database: CKDatabase) async {
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
            database.add(operation)
        }
    }

    private func name<Value>(_ result: Result<Value, any Error>) -> String {
        switch result {
        case .success: "ok"
        case .failure(let error): "\((error as? CKError)?.code.rawValue ?? 0)"
        }
    }

    private func name(_ error: (any Error)?) -> String {
        error.map { "\(($0 as? CKError)?.code.rawValue ?? 0)" } ?? "ok"
    }

    @Test func modifying() async throws {
        try await Cloud.runNotes { database, zone in
            let (log, file) = (Log(), FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString))
            try Data(repeating: 1, count: 100_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let (a, b) = (CKRecord.note("a", in: zone), CKRecord.note("b", in: zone))
            a["scan"] = CKAsset(fileURL: file)
            let operation = CKModifyRecordsOperation(
                recordsToSave: [a, b], recordIDsToDelete: [CKRecord.ID(recordName: "c", zoneID: zone)])
            let progress = Log()
            operation.perRecordProgressBlock = { record, fraction in
                progress.note("\(record.recordID.recordName) \(fraction)")
                if log.all.isEmpty == false { log.note("late progress") }
            }
            operation.perRecordCompletionBlock = { log.note("old \($0.recordID.recordName) \(self.name($1))") }
            operation.perRecordSaveBlock = { log.note("save \($0.recordName) \(self.name($1))") }
            operation.perRecordDeleteBlock = { log.note("delete \($0.recordName) \(self.name($1))") }
            operation.modifyRecordsCompletionBlock = { saved, deleted, error in
                log.note("old end \(saved?.count ?? -1) \(deleted?.count ?? -1) \(self.name(error))")
            }
            operation.modifyRecordsResultBlock = { log.note("end \(self.name($0))") }
            await run(operation, in: database)
            #expect(
                log.all == [
                    "old a ok", "save a ok", "old b ok", "save b ok", "delete c ok", "old end 2 1 ok", "end ok",
                ])
            #expect(progress.all.last == "a 1.0")
            #expect(operation.isFinished)
            #expect(!operation.isExecuting)
        }
    }

    @Test func partialFailure() async throws {
        try await Cloud.runNotes { database, zone in
            try await database.save(CKRecord.note("a", in: zone))
            let log = Log()
            let failure = Mutex<CKError?>(nil)
            let operation = CKModifyRecordsOperation(
                recordsToSave: [CKRecord.note("a", in: zone), CKRecord.note("b", in: zone)])
            operation.isAtomic = false
            operation.perRecordSaveBlock = { log.note("save \($0.recordName) \(self.name($1))") }
            operation.modifyRecordsCompletionBlock = { saved, _, error in
                log.note("old end \(saved?.count ?? -1) \(self.name(error))")
                failure.withLock { $0 = error as? CKError }
            }
            operation.modifyRecordsResultBlock = { log.note("end \(self.name($0))") }
            await run(operation, in: database)
            #expect(log.all == ["save a 14", "save b ok", "old end 1 2", "end 2"])
            let errors = failure.withLock { $0 }?.partialErrorsByItemID
            #expect(errors?.count == 1)
            let one = errors?[CKRecord.ID(recordName: "a", zoneID: zone)] as? CKError
            #expect(one?.code == .serverRecordChanged)
            #expect(one?.serverRecord?.recordID.recordName == "a")
        }
    }

    @Test func fetching() async throws {
        try await Cloud.runNotes { database, zone in
            try await database.save(CKRecord.note("a", in: zone))
            let log = Log()
            let ids = ["a", "b"].map { CKRecord.ID(recordName: $0, zoneID: zone) }
            let operation = CKFetchRecordsOperation(recordIDs: ids)
            operation.perRecordProgressBlock = { log.note("progress \($0.recordName) \($1)") }
            operation.perRecordCompletionBlock = { record, id, error in
                log.note("old \(id?.recordName ?? "") \(record == nil) \(self.name(error))")
            }
            operation.perRecordResultBlock = { log.note("result \($0.recordName) \(self.name($1))") }
            operation.fetchRecordsCompletionBlock = { log.note("old end \($0?.count ?? -1) \(self.name($1))") }
            operation.fetchRecordsResultBlock = { log.note("end \(self.name($0))") }
            await run(operation, in: database)
            #expect(
                log.all == [
                    "progress a 1.0", "old a false ok", "result a ok", "old b true 11", "result b 11", "old end 1 2",
                    "end 2",
                ])
        }
    }

    @Test func feedsOfZones() async throws {
        try await Cloud.runNotes { database, zone in
            let records = (1...5).map { CKRecord.note("\($0)", in: zone) }
            _ = try await database.modifyRecords(saving: records, deleting: [])
            try await database.deleteRecord(withID: records[4].recordID)
            let (log, absent) = (Log(), CKRecordZone.ID(zoneName: "Absent"))
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone, absent],
                configurationsByRecordZoneID: [zone: .init(previousServerChangeToken: nil, resultsLimit: 2)])
            operation.recordWasChangedBlock = { _, result in log.note("changed \(self.name(result))") }
            operation.recordWithIDWasDeletedBlock = { _, type in log.note("deleted \(type)") }
            operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in log.note("token \(token != nil)") }
            operation.recordZoneFetchResultBlock = { log.note("zone \($0.zoneName) \(self.name($1))") }
            operation.fetchRecordZoneChangesResultBlock = { log.note("end \(self.name($0))") }
            await run(operation, in: database)
            let counts = Dictionary(grouping: log.all) { $0 }.mapValues(\.count)
            #expect(counts["changed ok"] == 4)
            #expect(counts["zone Notes ok"] == 1)
            #expect(counts["zone Absent 26"] == 1)
            #expect(log.all.last == "end 2")
            // A token comes only after records before it, and the zone's end after all of them.
            let mine = log.all.filter { !$0.contains("Absent") }
            let (last, end) = (mine.lastIndex(of: "changed ok") ?? .max, mine.firstIndex(of: "zone Notes ok") ?? -1)
            #expect(last < end)
            #expect(mine.contains("token true"))
        }
    }

    /// What was begun for one account is never done in another one's database.
    @Test func anotherAccountSignsInBetweenPages() async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.device(of: "ann"), try await cloud.device(of: "bob"))
            let database = ann.container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await bob.container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            _ = try await database.modifyRecords(saving: (1...5).map { CKRecord.note("\($0)", in: zone) }, deleting: [])
            let log = Log()
            let records = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone], configurationsByRecordZoneID: [zone: .init(resultsLimit: 1)])
            records.recordWasChangedBlock = { _, _ in ann.signIn(as: bob) }
            records.fetchRecordZoneChangesResultBlock = { log.note("records \(self.name($0))") }
            await run(records, in: database)
            #expect(log.all == ["records 9"])
        }
    }

    @Test func queriesZonesDatabaseChangesAndSubscriptions() async throws {
        try await Cloud.runNotes { database, zone in
            let log = Log()
            let record = CKRecord.note("a", in: zone)
            record["number"] = 1
            try await database.save(record)
            let query = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true)))
            query.zoneID = zone
            query.recordFetchedBlock = { log.note("old \($0.recordID.recordName)") }
            query.recordMatchedBlock = { log.note("match \($0.recordName) \(self.name($1))") }
            query.queryCompletionBlock = { log.note("old end \($0 == nil) \(self.name($1))") }
            query.queryResultBlock = { log.note("end \(self.name($0))") }
            await run(query, in: database)
            #expect(log.all == ["old a", "match a ok", "old end true ok", "end ok"])

            let zones = Log()
            let all = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            all.perRecordZoneResultBlock = { zones.note("zone \($0.zoneName) \(self.name($1))") }
            all.fetchRecordZonesCompletionBlock = { zones.note("old end \($0?.count ?? -1) \(self.name($1))") }
            all.fetchRecordZonesResultBlock = { zones.note("end \(self.name($0))") }
            await run(all, in: database)
            #expect(zones.all.suffix(2) == ["old end 2 ok", "end ok"])
            #expect(zones.all.count == 4)

            let made = Log()
            let modify = CKModifyRecordZonesOperation(
                recordZonesToSave: [CKRecordZone(zoneName: "Other")],
                recordZoneIDsToDelete: [CKRecordZone.ID(zoneName: "Absent")])
            modify.perRecordZoneSaveBlock = { made.note("save \($0.zoneName) \(self.name($1))") }
            modify.perRecordZoneDeleteBlock = { made.note("delete \($0.zoneName) \(self.name($1))") }
            modify.modifyRecordZonesCompletionBlock = {
                made.note("old end \($0?.count ?? -1) \($1?.count ?? -1) \(self.name($2))")
            }
            modify.modifyRecordZonesResultBlock = { made.note("end \(self.name($0))") }
            await run(modify, in: database)
            #expect(made.all == ["save Other ok", "delete Absent 26", "old end 1 0 2", "end 2"])

            let changes = Log()
            let feed = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
            feed.recordZoneWithIDChangedBlock = { changes.note("changed \($0.zoneName)") }
            feed.changeTokenUpdatedBlock = { _ in changes.note("token") }
            feed.fetchDatabaseChangesCompletionBlock = { changes.note("old end \($0 != nil) \($1) \(self.name($2))") }
            feed.fetchDatabaseChangesResultBlock = { changes.note("end \(self.name($0))") }
            await run(feed, in: database)
            #expect(Set(changes.all).isSuperset(of: ["changed Notes", "changed Other"]))
            #expect(changes.all.suffix(3) == ["token", "old end true false ok", "end ok"])

            let wishes = Log()
            let save = CKModifySubscriptionsOperation(
                subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "all")], subscriptionIDsToDelete: ["gone"])
            save.perSubscriptionSaveBlock = { wishes.note("save \($0) \(self.name($1))") }
            save.perSubscriptionDeleteBlock = { wishes.note("delete \($0) \(self.name($1))") }
            save.modifySubscriptionsCompletionBlock = {
                wishes.note("old end \($0?.count ?? -1) \($1?.count ?? -1) \(self.name($2))")
            }
            save.modifySubscriptionsResultBlock = { wishes.note("end \(self.name($0))") }
            await run(save, in: database)
            #expect(wishes.all == ["save all ok", "delete gone 11", "old end 1 0 2", "end 2"])
            let found = Log()
            let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["all", "gone"])
            fetch.perSubscriptionResultBlock = { found.note("\($0) \(self.name($1))") }
            fetch.fetchSubscriptionCompletionBlock = { found.note("old end \($0?.count ?? -1) \(self.name($1))") }
            fetch.fetchSubscriptionsResultBlock = { found.note("end \(self.name($0))") }
            await run(fetch, in: database)
            #expect(found.all == ["all ok", "gone 11", "old end 1 2", "end 2"])
        }
    }

    /// What depends on an operation starts when it is finished, in an app's own queue too.
    @Test func theOldestFeedOfAZone() async throws {
        try await Cloud.runNotes { database, zone in
            let log = Log()
            try await database.save(CKRecord.note("a", in: zone))
            try await database.save(CKRecord.note("b", in: zone))
            try await database.deleteRecord(withID: CKRecord.ID(recordName: "b", zoneID: zone))
            let token = Mutex<CKServerChangeToken?>(nil)
            for _ in 0..<2 {
                let feed = CKFetchRecordChangesOperation(
                    recordZoneID: zone, previousServerChangeToken: token.withLock { $0 })
                feed.recordChangedBlock = { log.note("changed \($0.recordID.recordName)") }
                feed.recordWithIDWasDeletedBlock = { log.note("deleted \($0.recordName)") }
                feed.fetchRecordChangesCompletionBlock = { reached, data, error in
                    token.withLock { $0 = reached }
                    log.note("end \(reached == nil) \(data == nil) \(self.name(error))")
                }
                await run(feed, in: database)
                #expect(feed.moreComing == false)
            }
            let (changed, ends) = (log.all.filter { $0.hasPrefix("changed") }, log.all.filter { $0.hasPrefix("end") })
            #expect(changed == ["changed a"])
            #expect(ends == ["end false true ok", "end false true ok"])
            let lost = CKFetchRecordChangesOperation()
            lost.fetchRecordChangesCompletionBlock = { log.note("lost \($0 == nil) \(self.name($2))") }
            await run(lost, in: database)
            #expect(log.all.last == "lost true 12")
        }
    }

    @Test func dependencies() async throws {
        try await Cloud.runNotes { database, zone in
            let log = Log()
            let first = CKModifyRecordsOperation(recordsToSave: [CKRecord.note("a", in: zone)])
            first.database = database
            first.modifyRecordsResultBlock = { log.note("saved \(self.name($0))") }
            let second = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a", zoneID: zone)])
            second.database = database
            second.fetchRecordsResultBlock = { log.note("fetched \(self.name($0))") }
            second.addDependency(first)
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            await withCheckedContinuation { done in
                second.completionBlock = { done.resume() }
                queue.addOperations([second, first], waitUntilFinished: false)
            }
            #expect(log.all == ["saved ok", "fetched ok"])
            #expect(queue.operationCount == 0)
        }
    }

    @Test func aCancelledOneTellsSoAndEnds() async throws {
        try await Cloud.runNotes { database, zone in
            let log = Log()
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a", zoneID: zone)])
            operation.fetchRecordsCompletionBlock = { log.note("old end \($0 == nil) \(self.name($1))") }
            operation.fetchRecordsResultBlock = { log.note("end \(self.name($0))") }
            operation.cancel()
            await run(operation, in: database)
            #expect(log.all == ["old end true 20", "end 20"])
            #expect(operation.isFinished)
        }
    }

    /// Whoever adds thousands of them has none of them afterwards.
    @Test func whatHasEndedIsLetGo() async throws {
        try await Cloud.runNotes { database, zone in
            weak var saving: CKModifyRecordsOperation?
            weak var fetching: CKFetchRecordsOperation?
            do {
                let (save, fetch) = (
                    CKModifyRecordsOperation(recordsToSave: [CKRecord.note("a", in: zone)]),
                    CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a", zoneID: zone)])
                )
                (saving, fetching) = (save, fetch)
                await run(save, in: database)
                await run(fetch, in: database)
            }
            // Their queue lets them go a moment after it has called their completion blocks.
            for _ in 0..<500 where saving != nil || fetching != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(saving == nil)
            #expect(fetching == nil)
        }
    }

    /// Of two notes, a and b, the second device is shown another a than was saved.
    private func besideAnAlteredNote(_ cloud: Cloud) async throws -> (laptop: Cloud.Device, zone: CKRecordZone.ID) {
        let device = try await cloud.device(of: "ann")
        let database = device.container.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
        let altered = CKRecord.note("a", in: zone)
        altered.encryptedValues["title"] = "as it was"
        try await database.save(altered)
        try await database.save(CKRecord.note("b", in: zone))
        let laptop = try await device.another(named: "laptop")
        laptop.alter(altered.recordID)
        return (laptop, zone)
    }

    /// The older block takes records alone: what is none is not passed by.
    @Test func aRecordThatDoesNotComeKeepsTheTokenOfWhoCannotBeTold() async throws {
        try await Cloud.run { cloud in
            let (laptop, zone) = try await besideAnAlteredNote(cloud)
            let log = Log()
            func operation() -> CKFetchRecordZoneChangesOperation {
                let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone])
                operation.recordZoneFetchCompletionBlock = { _, token, _, _, error in
                    log.note("zone \(token == nil) \(self.name(error))")
                }
                operation.fetchRecordZoneChangesCompletionBlock = { log.note("end \(self.name($0))") }
                return operation
            }
            let old = operation()
            old.recordChangedBlock = { log.note("changed \($0.recordID.recordName)") }
            await run(old, in: laptop.container.privateCloudDatabase)
            #expect(log.all == ["changed b", "zone true 2", "end 2"])
            let new = operation()
            new.recordWasChangedBlock = { log.note("\($0.recordName) \(self.name($1))") }
            await run(new, in: laptop.container.privateCloudDatabase)
            #expect(Set(log.all.dropFirst(3).prefix(2)) == ["a 15", "b ok"])
            #expect(log.all.suffix(2) == ["zone false ok", "end ok"])
        }
    }

    /// One match, which anybody may have written who may write, is not the end of all pages behind it.
    @Test func aMatchThatDoesNotComeLeavesTheCursor() async throws {
        try await Cloud.run { cloud in
            let (laptop, zone) = try await besideAnAlteredNote(cloud)
            let log = Log()
            let place = Place()
            func operation() -> CKQueryOperation {
                let all = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
                let operation = CKQueryOperation(query: all)
                operation.zoneID = zone
                operation.resultsLimit = 1
                operation.queryResultBlock = { result in
                    log.note("end \(self.name(result))")
                    place.cursor.withLock { $0 = try? result.get() }
                }
                return operation
            }
            // Two pages with a match, and perhaps an empty one.
            for _ in 0..<3 {
                let query = operation()
                query.cursor = place.cursor.withLock { $0 }
                query.recordMatchedBlock = { log.note("\($0.recordName) \(self.name($1))") }
                await run(query, in: laptop.container.privateCloudDatabase)
                if place.cursor.withLock({ $0 == nil }) { break }
            }
            #expect(Set(log.all) == ["a 15", "b ok", "end ok"])

            let failures = Log()
            let untold = operation()
            untold.resultsLimit = CKQueryOperation.maximumResults
            untold.recordFetchedBlock = { failures.note($0.recordID.recordName) }
            untold.queryResultBlock = { failures.note("end \(self.name($0))") }
            await run(untold, in: laptop.container.privateCloudDatabase)
            #expect(failures.all == ["b", "end 2"])
        }
    }

    /// A token past records that did not come for want of a network would be the end of them.
    @Test func aNetworkThatIsGoneKeepsTheZonesToken() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let database = device.container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data("scan".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await database.save(CKRecord.note("a", in: zone))
            let record = CKRecord.note("b", in: zone)
            record["scan"] = CKAsset(fileURL: file)
            try await database.save(record)
            let laptop = try await device.another(named: "laptop")
            let log = Log()
            func ask() async {
                let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone])
                operation.recordWasChangedBlock = { log.note("\($0.recordName) \(self.name($1))") }
                operation.recordZoneFetchResultBlock = { log.note("zone \(self.name($1))") }
                operation.fetchRecordZoneChangesResultBlock = { log.note("end \(self.name($0))") }
                await run(operation, in: laptop.container.privateCloudDatabase)
            }
            let bringBack = laptop.loseAssets()
            await ask()
            #expect(log.all == ["a ok", "zone 4", "end 2"])
            bringBack()
            await ask()
            #expect(log.all.dropFirst(3) == ["a ok", "b ok", "zone ok", "end ok"])
        }
    }

    /// A hint that only the container knows to be true comes by operations too.
    @Test func aResetIsToldByOperations() async throws {
        try await Cloud.run { cloud in
            let (device, lost) = (try await cloud.device(of: "ann"), try await cloud.device(of: "before"))
            let database = device.container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await device.deleteZone("Notes", sayingReset: true)
            let hints = Mutex<[Bool]>([])
            func ask() async {
                let feed = CKFetchRecordChangesOperation(recordZoneID: zone, previousServerChangeToken: nil)
                feed.fetchRecordChangesCompletionBlock = { _, _, error in
                    let hint = (error as? CKError)?.userInfo[CKErrorUserDidResetEncryptedDataKey]
                    hints.withLock { $0.append(hint as? Bool ?? false) }
                }
                await run(feed, in: database)
            }
            // Of an account that has the keys that it began with, that is the server's word alone.
            await ask()
            device.signIn(as: device, replacing: try await lost.container.userRecordID())
            await ask()
            #expect(hints.withLock { $0 } == [false, true])
        }
    }

    /// A subclass that does its work in `main()` ends when that returns.
    @Test func aSubclassWithItsOwnMain() async throws {
        try await Cloud.runNotes { database, _ in
            let operation = OwnMain()
            await run(operation, in: database)
            #expect(operation.wasRun)
            #expect(operation.isFinished)
        }
    }

    @Test func configurations() async throws {
        let operation = CKFetchRecordsOperation(recordIDs: [])
        #expect(operation.configuration.timeoutIntervalForRequest == 60)
        #expect(operation.configuration.timeoutIntervalForResource == 604_800)
        #expect(operation.configuration.isLongLived == false)
        #expect(operation.configuration.allowsCellularAccess)
        #expect(operation.operationID.isEmpty == false)
        // Foundation's own property is the configuration's: ported code sets either.
        operation.qualityOfService = .userInitiated
        #expect(operation.configuration.qualityOfService == .userInitiated)
        operation.configuration.qualityOfService = .background
        #expect(operation.qualityOfService == .background)
        operation.configuration.timeoutIntervalForRequest = -1
        let copy = try #require(operation.configuration.copy() as? CKOperation.Configuration)
        copy.timeoutIntervalForRequest = 5
        #expect(operation.configuration.timeoutIntervalForRequest == -1)
        try await Cloud.runNotes { database, zone in
            let log = Log()
            operation.recordIDs = [CKRecord.ID(recordName: "a", zoneID: zone)]
            operation.perRecordResultBlock = { log.note("\($0.recordName) \(self.name($1))") }
            operation.fetchRecordsResultBlock = { log.note("end \(self.name($0))") }
            await run(operation, in: database)
            #expect(log.all == ["a 12", "end 2"])
            let group = CKOperationGroup()
            group.name = "sync"
            group.quantity = 3
            let zones = try await database.configuredWith(configuration: copy, group: group) { database in
                try await database.allRecordZones()
            }
            #expect(zones.count == 2)
        }
    }

    /// What an app sets is copied, so that operations that were given one object do not change one another's.
    @Test func operationsShareNoConfiguration() async throws {
        try await Cloud.runNotes { database, zone in
            let shared = CKOperation.Configuration()
            let (first, second) = (CKFetchRecordsOperation(), CKFetchRecordsOperation())
            (first.configuration, second.configuration) = (shared, shared)
            first.configuration.timeoutIntervalForRequest = 5
            #expect(second.configuration.timeoutIntervalForRequest == 60)
            #expect(shared.timeoutIntervalForRequest == 60)
            first.configuration = nil
            #expect(first.configuration.timeoutIntervalForRequest == 60)

            // Where an operation's own is as it was made, its group's counts.
            let group = CKOperationGroup()
            let bad = CKOperation.Configuration()
            bad.timeoutIntervalForRequest = -1
            group.defaultConfiguration = bad
            let log = Log()
            second.group = group
            second.recordIDs = [CKRecord.ID(recordName: "a", zoneID: zone)]
            second.perRecordResultBlock = { log.note("\($0.recordName) \(self.name($1))") }
            await run(second, in: database)
            #expect(log.all == ["a 12"])
        }
    }

    @Test func whatIsNamedTwiceIsToldOnce() async throws {
        try await Cloud.runNotes { database, zone in
            let id = CKRecord.ID(recordName: "a", zoneID: zone)
            try await database.save(CKRecord.note("a", in: zone))
            let log = Log()
            let records = CKFetchRecordsOperation(recordIDs: [id, id])
            records.perRecordResultBlock = { log.note("\($0.recordName) \(self.name($1))") }
            await run(records, in: database)
            let zones = CKFetchRecordZonesOperation(recordZoneIDs: [zone, zone])
            zones.perRecordZoneResultBlock = { log.note("\($0.zoneName) \(self.name($1))") }
            await run(zones, in: database)
            let changes = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone, zone])
            changes.recordWasChangedBlock = { log.note("change \($0.recordName) \(self.name($1))") }
            changes.recordZoneFetchResultBlock = { log.note("end \($0.zoneName) \(self.name($1))") }
            await run(changes, in: database)
            #expect(
                log.all == ["a ok", "\(zone.zoneName) ok", "change a ok", "end \(zone.zoneName) ok"])
        }
    }
}

/// As apps stand in for records that a server would give.
private final class StandIn: CKRecord, @unchecked Sendable {
    override var recordChangeTag: String? { "tag" }
    override var modificationDate: Date? { Date(timeIntervalSinceReferenceDate: 1) }
    override func value(forKey key: String) -> Any? { "\(key)!" }
}

extension OperationTests {
    @Test func standInsOverrideWhatCloudKitsClassesAllow() throws {
        let record = StandIn(recordType: "Note")
        #expect(record.recordChangeTag == "tag")
        #expect(record.modificationDate != nil)
        #expect(record.value(forKeyPath: "title") as? String == "title!")
    }
}

private final class OwnMain: CKDatabaseOperation, @unchecked Sendable {
    private let ran = Mutex(false)
    var wasRun: Bool { ran.withLock { $0 } }
    override func main() { ran.withLock { $0 = true } }
}

/// Where a query goes on.
private final class Place: Sendable {
    let cursor = Mutex<CKQueryOperation.Cursor?>(nil)
}
