import Foundation
import SealKitTesting
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct RecordTests {
    /// Records that do not fit into one answer are asked for again, deletions among them.
    @Test func whatDoesNotFitIntoOneAnswerComesInSeveral() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let names = (0..<6).map { "note-\($0)" }
        _ = try await ann.own.modifyRecords(saving: names.map { ann.note(in: zone, $0, name: $0) })
        let ids = names.map { Record.ID(recordName: $0, zoneID: zone) }
        try await ann.own.deleteRecord(withID: ids[5])
        // A server whose answers take two records.
        let (device, network) = try ann.behindAttacker()
        network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            for index in answer.results.indices.dropFirst(2) {
                answer.results[index] = .with { $0.failure.code = SealKitError.Code.limitExceeded.rawValue }
            }
        }
        let found = try await device.own.records(for: ids)
        #expect(network.sent(to: "records/lookup").count == 3)
        #expect(found.count == 6 && found[ids[5]]?.failureCode == .unknownItem)
        for (name, id) in zip(names, ids).dropLast() {
            let body: String? = try found[id]?.get().encryptedValues["body"]
            #expect(body == name)
        }
    }

    @Test func everyKindOfValueComesBackAsItWasEncrypted() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = Record(recordType: "Everything", recordID: Record.ID(zoneID: zone))
        let date = Date(timeIntervalSinceReferenceDate: 721_692_800.123_456_7)
        let place = Location(latitude: 52.5, longitude: 13.4, altitude: 34, timestamp: date)
        record.encryptedValues["text"] = "Zoë 🦭"
        record.encryptedValues["data"] = Data([0, 255, 1])
        record.encryptedValues["int"] = Int64.min
        record.encryptedValues["double"] = -0.1
        record.encryptedValues["date"] = date
        record.encryptedValues["place"] = place
        record.encryptedValues["texts"] = ["a", "", "c"]
        record.encryptedValues["numbers"] = [1, 2, 3]
        record.encryptedValues["none"] = [String]()
        record.encryptedValues["places"] = [place]
        record.encryptedValues["dates"] = [date]
        record["plainText"] = "visible"
        record["plainList"] = [1.5, 2.5]
        record["other"] = Record.Reference(recordName: "elsewhere")
        let saved = try await ann.own.save(record)
        #expect(saved.recordChangeTag != nil)

        let found = try await ann.own.record(for: record.recordID)
        #expect(found.encryptedValues["text"] == "Zoë 🦭")
        #expect(found.encryptedValues["data"] == Data([0, 255, 1]))
        #expect(found.encryptedValues["int"] == Int64.min)
        #expect(found.encryptedValues["double"] == -0.1)
        #expect(found.encryptedValues["date"] == date)
        #expect(found.encryptedValues["place"] == place)
        #expect(found.encryptedValues["texts"] == ["a", "", "c"])
        #expect(found.encryptedValues["numbers"] == [1, 2, 3])
        #expect(found.encryptedValues["none"] == [String]())
        #expect(found.encryptedValues["places"] == [place])
        #expect(found.encryptedValues["dates"] == [date])
        #expect(found["plainText"] == "visible")
        #expect(found["plainList"] == [1.5, 2.5])
        #expect(found["other"] == Record.Reference(recordName: "elsewhere"))
        #expect(found.encryptedValues.allKeys().count == 11)
        #expect(found.creatorUserRecordID?.recordName == ann.name)
        #expect(found.recordChangeTag == saved.recordChangeTag)
    }

    @Test func desiredKeysGiveSomeFieldsAndVerifyAll() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "long body")
        record["color"] = "blue"
        record = try await ann.own.save(record)
        let some = try await ann.own.records(for: [record.recordID], desiredKeys: ["color"])[record.recordID]?.get()
        #expect(some?["color"] == "blue")
        #expect(some?.omittedKeys == ["body"])
        let none = try await ann.own.records(for: [record.recordID], desiredKeys: [])[record.recordID]?.get()
        #expect(none?.omittedKeys == ["body", "color"])

        // A partial record can be saved: what was not fetched stays as it is.
        var partial = try #require(some)
        partial["color"] = "red"
        try await ann.own.save(partial)
        let whole = try await ann.own.record(for: record.recordID)
        #expect(whole["color"] == "red")
        #expect(whole.encryptedValues["body"] == "long body")
    }

    @Test func aConflictGivesTheServersRecordBack() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, "one"))
        var second = first
        second.encryptedValues["body"] = "two"
        second = try await ann.own.save(second)
        #expect(second.recordChangeTag != first.recordChangeTag)

        var stale = first
        stale.encryptedValues["body"] = "three"
        do {
            try await ann.own.save(stale)
            Issue.record("a stale save went through")
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?.encryptedValues["body"] == "two")
            #expect(error.clientRecord?.encryptedValues["body"] == "three")
            var merged = try #require(error.serverRecord)
            merged.encryptedValues["body"] = "two and three"
            try await ann.own.save(merged)
        }
        let body: String? = try await ann.own.record(for: first.recordID).encryptedValues["body"]
        #expect(body == "two and three")

        // A new record under a name that exists.
        #expect(
            await failure { try await ann.own.save(ann.note(in: zone, "x", name: first.recordID.recordName)) }
                == .serverRecordChanged)
    }

    @Test func changedKeysMergeWithoutLosingAnothersChange() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "body")
        record.encryptedValues["title"] = "title"
        record = try await ann.own.save(record)
        var one = record
        one.encryptedValues["title"] = "new title"
        try await ann.own.save(one)
        var two = record
        two.encryptedValues["body"] = "new body"
        _ = try await ann.own.modifyRecords(saving: [two], savePolicy: .changedKeys).saveResults[record.recordID]?.get()
        let merged = try await ann.own.record(for: record.recordID)
        #expect(merged.encryptedValues["title"] == "new title")
        #expect(merged.encryptedValues["body"] == "new body")
    }

    @Test func deletedRecordsAreGoneAndCanBeMadeAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await ann.own.save(ann.note(in: zone, "short-lived"))
        try await ann.own.deleteRecord(withID: record.recordID)
        #expect(await failure { _ = try await ann.own.record(for: record.recordID) } == .unknownItem)
        try await ann.own.deleteRecord(withID: record.recordID)  // an absent record is a success
        var stale = record
        stale.encryptedValues["body"] = "again"
        #expect(await failure { try await ann.own.save(stale) } == .unknownItem)
        let reborn = try await ann.own.save(ann.note(in: zone, "reborn", name: record.recordID.recordName))
        #expect(reborn.base?.statement.revision == 3)
        let other = try ann.onFreshDevice()
        let body: String? = try await other.own.record(for: record.recordID).encryptedValues["body"]
        #expect(body == "reborn")
    }

    @Test func changesSinceATokenComeOnceAndInOrder() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let records = (0..<5).map { ann.note(in: zone, "body \($0)", name: "note-\($0)") }
        _ = try await ann.own.modifyRecords(saving: records)
        let first = try await ann.own.recordZoneChanges(inZoneWith: zone)
        #expect(first.modifications.map(\.recordID.recordName) == records.map(\.recordID.recordName))
        #expect(!first.moreComing)

        var changed = try first.modifications[1].result.get()
        changed.encryptedValues["body"] = "edited"
        changed = try await ann.own.save(changed)
        changed.encryptedValues["body"] = "edited twice"
        try await ann.own.save(changed)
        try await ann.own.deleteRecord(withID: records[3].recordID)
        let next = try await ann.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        #expect(next.modifications.map(\.recordID.recordName) == ["note-1"])
        let body: String? = try next.modifications[0].result.get().encryptedValues["body"]
        #expect(body == "edited twice")
        #expect(next.deletions.map(\.recordID.recordName) == ["note-3"])
        #expect(next.deletions.map(\.recordType) == ["Note"])
        let last = try await ann.own.recordZoneChanges(inZoneWith: zone, since: next.changeToken)
        #expect(last.modifications.isEmpty)
        #expect(last.deletions.isEmpty)

        var token: ServerChangeToken?
        var pages: [Int] = []
        repeat {
            let page = try await ann.own.recordZoneChanges(inZoneWith: zone, since: token, resultsLimit: 2)
            pages.append(page.modifications.count + page.deletions.count)
            token = page.changeToken
            if !page.moreComing { break }
        } while pages.count < 10
        #expect(pages.reduce(0, +) == 5)
        let elsewhere = try await ann.makeZone()
        #expect(
            await failure { _ = try await ann.own.recordZoneChanges(inZoneWith: elsewhere, since: token) }
                == .changeTokenExpired)
    }

    @Test func atomicBatchesAreAllOrNothing() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let taken = try await ann.own.save(ann.note(in: zone, "taken"))
        let good = ann.note(in: zone, "good")
        let bad = ann.note(in: zone, "bad", name: taken.recordID.recordName)
        let atomic = try await ann.own.modifyRecords(saving: [good, bad])
        #expect(atomic.saveResults[good.recordID]?.failureCode == .batchRequestFailed)
        #expect(atomic.saveResults[bad.recordID]?.failureCode == .serverRecordChanged)
        #expect(await failure { _ = try await ann.own.record(for: good.recordID) } == .unknownItem)

        let loose = try await ann.own.modifyRecords(saving: [good, bad], atomically: false)
        #expect(loose.saveResults[good.recordID]?.failureCode == nil)
        #expect(loose.saveResults[bad.recordID]?.failureCode == .serverRecordChanged)
        #expect(try await ann.own.record(for: good.recordID).encryptedValues["body"] == "good")
    }

    @Test func badInputIsATypedErrorThatNamesTheFault() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(zoneID: RecordZone.ID(zoneName: "absent"))) }
                == .zoneNotFound)
        #expect(
            await failure { try await ann.own.save(ann.note(in: RecordZone.ID(zoneName: "absent"), "x")) }
                == .zoneNotFound)
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "absent", zoneID: zone)) }
                == .unknownItem)

        var reserved = ann.note(in: zone, "x")
        reserved["recordName"] = "mine"
        #expect(await failure { try await ann.own.save(reserved) } == .invalidArguments)
        var reference = ann.note(in: zone, "x")
        reference.encryptedValues.setValue("ref", .reference(ReferenceValue(recordName: "a")))
        #expect(await failure { try await ann.own.save(reference) } == .invalidArguments)
        var mixed = ann.note(in: zone, "x")
        mixed.encryptedValues.setValue("list", .list([.int64(1), .string("two")]))
        #expect(await failure { try await ann.own.save(mixed) } == .invalidArguments)
        let named = Record(recordType: "Note", recordID: Record.ID(recordName: "näme", zoneID: zone))
        #expect(await failure { try await ann.own.save(named) } == .invalidArguments)
        let typed = Record(recordType: "no type", recordID: Record.ID(zoneID: zone))
        #expect(await failure { try await ann.own.save(typed) } == .invalidArguments)
        var orphan = ann.note(in: zone, "x")
        orphan.parent = Record.Reference(recordName: "absent")
        #expect(await failure { try await ann.own.save(orphan) } == .referenceViolation)
        orphan.parent = Record.Reference(recordName: orphan.recordID.recordName)
        #expect(await failure { try await ann.own.save(orphan) } == .invalidArguments)
        var large = ann.note(in: zone, "x")
        large.encryptedValues["body"] = String(repeating: "x", count: 1_100_000)
        #expect(await failure { try await ann.own.save(large) } == .limitExceeded)
        let many = (0..<401).map { ann.note(in: zone, "\($0)") }
        #expect(await failure { _ = try await ann.own.modifyRecords(saving: many) } == .limitExceeded)
        let twice = ann.note(in: zone, "x")
        #expect(await failure { _ = try await ann.own.modifyRecords(saving: [twice, twice]) } == .invalidArguments)
        #expect(await failure { try await ann.own.save(RecordZone(zoneName: "_reserved")) } == .invalidArguments)
        #expect(ann.container.database(with: .public).databaseScope == .public)
        #expect(await failure { _ = try Container("no spaces", account: ann.account) } == .badContainer)
    }

    @Test func zonesAreMadeListedAndDeletedAndMadeAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("garden")
        #expect(try await Set(ann.own.allRecordZones().map(\.zoneID)) == [zone, .default])
        #expect(try await ann.shared.allRecordZones().isEmpty)
        let kept = try await ann.own.save(ann.note(in: zone, "kept"))
        try await ann.own.save(RecordZone(zoneID: zone))
        #expect(try await ann.own.record(for: kept.recordID).encryptedValues["body"] == "kept")

        let before = try await ann.own.databaseChanges()
        #expect(before.modifications.map(\.zoneID) == [zone])
        try await ann.own.deleteRecordZone(withID: zone)
        #expect(await failure { _ = try await ann.own.record(for: kept.recordID) } == .zoneNotFound)
        let after = try await ann.own.databaseChanges(since: before.changeToken)
        #expect(after.deletions.map(\.zoneID) == [zone])
        #expect(after.deletions.map(\.reason) == [.deleted])
        #expect(
            await failure { try await ann.own.deleteRecordZone(withID: RecordZone.ID(zoneName: "absent")) }
                == .zoneNotFound)

        try await ann.own.save(RecordZone(zoneName: "garden"))
        #expect(await failure { _ = try await ann.own.record(for: kept.recordID) } == .unknownItem)
        try await ann.own.save(ann.note(in: zone, "new life", name: kept.recordID.recordName))
        let other = try ann.onFreshDevice()
        #expect(try await other.own.record(for: kept.recordID).encryptedValues["body"] == "new life")
    }
}
