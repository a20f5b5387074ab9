import CloudKit
import Synchronization
import Testing

/// Completion handlers: the same calls, told once.
@Suite(.timeLimit(.minutes(60))) struct HandlerTests {
    /// Waits for a handler that takes one or the other.
    private func one<Value: Sendable>(
        _ call: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { done in
            call { value, error in
                if let value {
                    done.resume(returning: value)
                } else {
                    done.resume(throwing: error ?? CKError(.internalError))
                }
            }
        }
    }

    private func all<Value: Sendable>(
        _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { done in call { done.resume(with: $0) } }
    }

    /// What goes for a call with a handler is what was said where it was made.
    @Test func configured() async throws {
        try await Cloud.runNotes { database, zone in
            let bad = CKOperation.Configuration()
            bad.timeoutIntervalForRequest = -1
            let error = Mutex<CKError?>(nil)
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                database.configuredWith(configuration: bad) { database in
                    database.fetch(withRecordZoneID: zone) { _, failure in
                        error.withLock { $0 = failure as? CKError }
                        done.resume()
                    }
                }
            }
            let code = error.withLock { $0?.code }
            #expect(code == .invalidArguments)
            let zones = try await database.allRecordZones()
            #expect(zones.count == 2)
        }
    }

    @Test func records() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["number"] = 1
            let stored = try await one { database.save(record, completionHandler: $0) }
            #expect(stored === record)
            let fetched = try await one { database.fetch(withRecordID: record.recordID, completionHandler: $0) }
            #expect(fetched["number"] as? Int == 1)
            let found = try await all { database.fetch(withRecordIDs: [record.recordID], completionHandler: $0) }
            #expect(found.count == 1)
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            let page = try await all { database.fetch(withQuery: query, inZoneWith: zone, completionHandler: $0) }
            #expect(page.matchResults.count == 1)
            let results = try await all {
                database.modifyRecords(saving: [], deleting: [record.recordID], completionHandler: $0)
            }
            #expect(results.deleteResults.count == 1)
            await expectFailure(.unknownItem) {
                _ = try await one { database.fetch(withRecordID: record.recordID, completionHandler: $0) }
            }
            let gone = try await one { database.delete(withRecordID: record.recordID, completionHandler: $0) }
            #expect(gone == record.recordID)
        }
    }

    /// As many as Swift's own pool has threads, and one more: each waits where it is called, as ported code does.
    @Test func whatWaitsInAHandlerHoldsNothingUp() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let database = container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let came = Mutex(0)
            let wait: @Sendable () -> Void = {
                let second = DispatchSemaphore(value: 0)
                database.fetch(withRecordZoneID: zone) { zone, _ in
                    if zone != nil { came.withLock { $0 += 1 } }
                    second.signal()
                }
                // A limit only so that other tests go on where it never comes.
                _ = second.wait(timeout: .now() + 60)
            }
            let count = ProcessInfo.processInfo.activeProcessorCount + 1
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...count {
                    group.addTask {
                        await withCheckedContinuation { done in
                            database.fetch(withRecordZoneID: zone) { _, _ in
                                wait()
                                done.resume()
                            }
                        }
                    }
                    group.addTask {
                        await withCheckedContinuation { done in
                            container.fetchLongLivedOperation(withID: "none") { _, _ in
                                wait()
                                done.resume()
                            }
                        }
                    }
                }
            }
            let all = came.withLock { $0 }
            #expect(all == 2 * count)
        }
    }

    /// What goes for a call does not go for those that its handler makes.
    @Test func aHandlersCallsAreNotConfiguredByItsOwn() async throws {
        try await Cloud.runNotes { database, zone in
            let bad = CKOperation.Configuration()
            bad.timeoutIntervalForRequest = -1
            let found: CKRecordZone? = await withCheckedContinuation { done in
                database.configuredWith(configuration: bad) { database in
                    database.fetch(withRecordZoneID: zone) { _, _ in
                        database.fetch(withRecordZoneID: zone) { zone, _ in done.resume(returning: zone) }
                    }
                }
            }
            #expect(found?.zoneID == zone)
        }
    }

    @Test func zones() async throws {
        try await Cloud.runNotes { database, zone in
            let zones = try await one { database.fetchAllRecordZones(completionHandler: $0) }
            #expect(zones.count == 2)
            let found = try await one { database.fetch(withRecordZoneID: zone, completionHandler: $0) }
            #expect(found.zoneID == zone)
            let other = CKRecordZone(zoneName: "Other")
            let made = try await one { database.save(other, completionHandler: $0) }
            #expect(made == other)
            let changes = try await all { database.fetchDatabaseChanges(since: nil, completionHandler: $0) }
            #expect(changes.modifications.count >= 2)
            let feed = try await all {
                database.fetchRecordZoneChanges(inZoneWith: zone, since: nil, completionHandler: $0)
            }
            #expect(feed.deletions.isEmpty)
            let first = try await one { database.delete(withRecordZoneID: other.zoneID, completionHandler: $0) }
            #expect(first == other.zoneID)
            let again = try await one { database.delete(withRecordZoneID: other.zoneID, completionHandler: $0) }
            #expect(again == other.zoneID)
        }
    }

    @Test func subscriptions() async throws {
        try await Cloud.runNotes { database, _ in
            let subscription = CKDatabaseSubscription(subscriptionID: "all")
            let saved = try await one { database.save(subscription, completionHandler: $0) }
            #expect(saved.subscriptionID == "all")
            let left = try await one { database.fetchAllSubscriptions(completionHandler: $0) }
            #expect(left.count == 1)
            let ended = try await one { database.delete(withSubscriptionID: "all", completionHandler: $0) }
            #expect(ended == "all")
        }
    }
}
