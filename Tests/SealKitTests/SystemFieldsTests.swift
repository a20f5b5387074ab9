import Foundation
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct SystemFieldsTests {
    @Test func aRecordIsSavedFromItsSystemFieldsAlone() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "secret body")
        record["color"] = "blue"
        record = try await ann.own.save(record)
        let other = try ann.onFreshDevice()
        // From a save and from a fetch, and on a device that has seen neither.
        for (source, device) in [
            (record, ann), (try await other.own.record(for: record.recordID), other), (record, try ann.onFreshDevice()),
        ] {
            let current = try await device.own.record(for: source.recordID)
            let data = current.encodeSystemFields()
            var kept = try Record(systemFields: data)
            #expect(kept.recordID == current.recordID)
            #expect(kept.recordType == "Note")
            #expect(kept.recordChangeTag == current.recordChangeTag)
            #expect(kept.creationDate == current.creationDate)
            #expect(kept.modificationDate == current.modificationDate)
            #expect(kept.creatorUserRecordID == current.creatorUserRecordID)
            #expect(kept.changedKeys().isEmpty)
            #expect(kept.omittedKeys == ["body", "color"])
            #expect(kept.encryptedValues["body"] as String? == nil)
            kept["color"] = "red \(UUID().uuidString)"
            let color: String? = kept["color"]
            try await device.own.save(kept)
            let found = try await ann.own.record(for: record.recordID)
            #expect(found["color"] == color)
            #expect(found.encryptedValues["body"] == "secret body")
        }
    }

    @Test func theyHoldNoValueAndNoKey() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "secret body")
        record["color"] = "a visible value"
        record = try await ann.own.save(record)
        let data = record.encodeSystemFields()
        let key = try #require(record.base?.recordKey).withPointer { Data(bytes: $0, count: 32) }
        for secret in [Data("secret body".utf8), Data("a visible value".utf8), key] {
            #expect(data.range(of: secret) == nil)
        }
    }

    @Test func whatHasChangedSinceIsAConflictAndWhatIsGoneIsUnknown() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await ann.own.save(ann.note(in: zone, "one"))
        let data = record.encodeSystemFields()
        var newer = record
        newer.encryptedValues["body"] = "two"
        newer = try await ann.own.save(newer)
        var stale = try Record(systemFields: data)
        stale.encryptedValues["body"] = "three"
        do {
            try await ann.own.save(stale)
            Issue.record("a stale save went through")
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?.encryptedValues["body"] == "two")
            #expect(error.ancestorRecord == nil)
        }
        let merged = try await ann.own.modifyRecords(saving: [stale], savePolicy: .changedKeys).saveResults[
            record.recordID]?.get()
        #expect(merged?.encryptedValues["body"] == "three")
        try await ann.own.deleteRecord(withID: record.recordID)
        #expect(await failure { try await ann.own.save(stale) } == .unknownItem)
        // Of an earlier life of the zone.
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        #expect(await failure { try await ann.own.save(stale) } == .unknownItem)
    }

    @Test func aRecordThatWasNeverSavedIsNew() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = try Record(systemFields: ann.note(in: zone, "lost").encodeSystemFields())
        #expect(record.recordChangeTag == nil)
        #expect(record.allKeys().isEmpty)
        record.encryptedValues["body"] = "new"
        #expect(try await ann.own.save(record).recordChangeTag != nil)
    }

    @Test func afterARotationTheyStillServe() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "body")
        record["color"] = "blue"
        record = try await ann.own.save(record)
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
        share = try await ann.own.save(share)
        if let participant = share.participants.first(where: { $0.role != .owner }) {
            share.removeParticipant(participant)
        }
        try await ann.own.save(share)
        var kept = try Record(systemFields: record.encodeSystemFields())
        kept["color"] = "red"
        try await ann.own.save(kept)
        let found = try await ann.onFreshDevice().own.record(for: record.recordID)
        #expect(found["color"] == "red")
        #expect(found.encryptedValues["body"] == "body")
    }

    @Test func whatIsDamagedOrForgedIsRefused() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await ann.own.save(ann.note(in: zone, "body"))
        let data = record.encodeSystemFields()
        #expect(await failure { _ = try Record(systemFields: Data()) } == .invalidArguments)
        #expect(await failure { _ = try Record(systemFields: Data([2]) + data.dropFirst()) } == .incompatibleVersion)
        #expect(await failure { _ = try Record(systemFields: data + Data([0])) } == .invalidArguments)
        for length in 1..<data.count {
            #expect(await failure { _ = try Record(systemFields: data.prefix(length)) } == .invalidArguments)
        }
        // Every byte: it does not decode, or it does not verify, or it is of no consequence (dates, tag); never a
        // crash, and never something signed after what did not hold.
        for index in stride(from: 1, to: data.count, by: 7) {
            var altered = data
            altered[index] ^= 0x41
            guard let decoded = try? Record(systemFields: altered), decoded.recordID == record.recordID else {
                continue
            }
            guard decoded.base?.hash != record.base?.hash || decoded.base?.proof != record.base?.proof else { continue }
            #expect(await failure { try await ann.own.save(decoded) } != nil, "byte \(index)")
        }
        #expect(try await ann.own.record(for: record.recordID).base?.hash == record.base?.hash)
    }

    @Test func tokensAreOfPlainStringsOnly() {
        var record = Record(recordType: "Note")
        record["title"] = "two  words"
        record["tags"] = ["a b", "c"]
        record["number"] = 7
        record.encryptedValues["body"] = "nobody else's"
        #expect(record.allTokens() == ["a", "b", "c", "two", "words"])
    }
}
