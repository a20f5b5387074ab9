import Foundation
import SealStatements
import Testing

@testable import SealKit

/// Records as CloudKit code reads and writes them.
@Suite(.timeLimit(.minutes(60))) struct RecordHabitTests {
    static let date = Date(timeIntervalSinceReferenceDate: 800_000_000.123456789)
    static let place = Location(latitude: 52.5, longitude: 13.4, timestamp: date)

    /// Each kind of value, as an app sets it.
    private static func filled() -> Record {
        var record = Record(recordType: "Note")
        record["text"] = "Plans"
        record["bytes"] = Data([1, 2, 3])
        record["count"] = 3
        record["large"] = Int64.max
        record["small"] = Int32(-7)
        record["done"] = true
        record["ratio"] = 0.5
        record["float"] = Float(0.1)
        record["number"] = 4 as NSNumber
        record["date"] = date
        record["place"] = place
        record["other"] = Record.Reference(recordName: "a")
        record["texts"] = ["a", "b"]
        record["counts"] = [1, 2]
        record["ratios"] = [0.5, 1]
        record["dates"] = [date]
        record["others"] = [Record.Reference(recordName: "a")]
        record["none"] = [String]()
        return record
    }

    private static func expectCasts(_ record: Record) {
        #expect(record["text"] as? String == "Plans")
        #expect(record["bytes"] as? Data == Data([1, 2, 3]))
        // A number is of every type that holds it exactly.
        #expect(record["count"] as? Int == 3)
        #expect(record["count"] as? Int64 == 3)
        #expect(record["count"] as? Double == 3)
        #expect(record["count"] as? UInt16 == 3)
        #expect(record["count"] as? NSNumber == 3)
        #expect(record["count"] as? Bool == nil)
        #expect(record["large"] as? Int64 == Int64.max)
        #expect(record["large"] as? Int32 == nil)
        #expect(record["large"] as? Double == nil)
        #expect(record["small"] as? Int32 == -7)
        #expect(record["small"] as? Int == -7)
        #expect(record["small"] as? UInt32 == nil)
        #expect(record["done"] as? Bool == true)
        #expect(record["done"] as? Int == 1)
        #expect(record["ratio"] as? Double == 0.5)
        #expect(record["ratio"] as? Float == 0.5)
        #expect(record["ratio"] as? Int == nil)
        #expect(record["float"] as? Float == 0.1)
        #expect(record["number"] as? Int == 4)
        #expect(record["date"] as? Date == date)
        #expect(record["place"] as? Location == place)
        #expect(record["other"] as? Record.Reference == Record.Reference(recordName: "a"))
        #expect(record["texts"] as? [String] == ["a", "b"])
        #expect(record["dates"] as? [Date] == [date])
        #expect(record["counts"] as? [Int] == [1, 2])
        #expect(record["counts"] as? [Int64] == [1, 2])
        #expect(record["ratios"] as? [Double] == [0.5, 1])
        #expect(record["others"] as? [Record.Reference] == [Record.Reference(recordName: "a")])
        #expect(record["none"] as? [String] == [])
        #expect(record["none"] as? [Date] == [])
        // What is of another kind, or not there, is nil.
        #expect(record["text"] as? Int == nil)
        #expect(record["count"] as? String == nil)
        #expect(record["text"] as? [String] == nil)
        #expect(record["absent"] as? String == nil)
        #expect(record["text"] as? Asset == nil)
        #expect(record["date"] as? Double == nil)
    }

    @Test func aCastGivesWhatWasSet() { Self.expectCasts(Self.filled()) }

    @Test func aCastGivesWhatWasSavedPlainOrSealed() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = Record(recordType: "Habit", zoneID: zone)
        #expect(record.recordID.zoneID == zone)
        #expect(record.recordID != Record(recordType: "Habit", zoneID: zone).recordID)
        for (key, value) in Self.filled() { record[key] = value }
        record.encryptedValues["sealed"] = "body"
        record.encryptedValues["sealedCount"] = 5
        record.encryptedValues["sealedDates"] = [Self.date]
        try await ann.own.save(record)
        let found = try await ann.onFreshDevice().own.record(for: record.recordID)
        Self.expectCasts(found)
        #expect(found.encryptedValues["sealed"] as? String == "body")
        #expect(found.encryptedValues["sealed"] as? Int == nil)
        #expect(found.encryptedValues["sealedCount"] as? Int == 5)
        #expect(found.encryptedValues["sealedCount"] as? Int64 == 5)
        #expect(found.encryptedValues["sealedDates"] as? [Date] == [Self.date])
        // Neither way leads to the other's fields.
        #expect(found["sealed"] as? String == nil)
        #expect(found.encryptedValues["text"] as? String == nil)
    }

    @Test func theTypeAskedForChoosesAsBefore() {
        let record = Self.filled()
        let (text, count, wide, number): (String?, Int?, Int64?, NSNumber?) = (
            record["text"], record["count"], record["large"], record["number"]
        )
        #expect(text == "Plans")
        #expect(count == 3)
        #expect(wide == .max)
        #expect(number == 4)
        // An integer is no double, and no text, unless it is cast.
        let (double, wrong): (Double?, String?) = (record["count"], record["count"])
        #expect(double == nil)
        #expect(wrong == nil)
        let title = record["text"] ?? "untitled"
        #expect(title.count == 5)
        #expect(record["text"] == "Plans")
        #expect(record["count"] == 3)
    }

    @Test func nilRemovesAKeyWhateverItsType() {
        var record = Self.filled()
        record.encryptedValues["body"] = "sealed"
        record["text"] = nil
        record.encryptedValues["body"] = nil
        #expect(record.plainValue("text") == nil)
        #expect(record["text"] == nil)
        #expect(record.encryptedValues["body"] == nil)
        #expect(record.changedKeys().contains("text"))
        #expect(record.changedKeys().contains("body"))
        #expect(!record.allKeys().contains("text"))
        #expect(!record.allKeys().contains("body"))
    }

    @Test func integersAndDoublesStayWhatTheyAre() {
        var record = Record(recordType: "Note")
        func kept(_ number: NSNumber) -> RecordValue? {
            record["number"] = number
            return record.plainValue("number")
        }
        #expect(kept(NSNumber(value: 3)) == .int64(3))
        #expect(kept(NSNumber(value: true)) == .int64(1))
        #expect(kept(NSNumber(value: 3.0)) == .double(3))
        #expect(kept(NSNumber(value: Float(0.5))) == .double(0.5))
        #expect(kept(NSNumber(value: Int64.min)) == .int64(.min))
        #expect(kept(NSNumber(value: UInt64(7))) == .int64(7))
        // No integer of a record holds it.
        #expect(kept(NSNumber(value: UInt64.max)) == .double(Double(UInt64.max)))
        // What is read and set again is what it was.
        record["whole"] = 3.0
        record["copy"] = record["whole"]
        #expect(record.plainValue("copy") == .double(3))
    }

    @Test func anAssetIsAValueLikeOthers() throws {
        let file = URL(fileURLWithPath: "/tmp/plans.pdf")
        var record = Record(recordType: "Note")
        record["scan"] = Asset(fileURL: file)
        let asset: Asset? = record["scan"]
        #expect(asset?.fileURL == file)
        #expect((record["scan"] as? Asset)?.fileURL == file)
        #expect(record["scan"] as? String == nil)
        record["copy"] = record["scan"]
        #expect((record["copy"] as? Asset)?.fileURL == file)
        #expect(record.plainValue("scan") == nil)
        record["scan"] = nil
        #expect(record["scan"] == nil)
        #expect(record.allKeys() == ["copy"])
    }

    /// What would have to be refused later does not compile.
    @Test func whatNoFieldHoldsIsOfNoSuchType() {
        for type in [Asset.self, [Asset].self, UInt64.self, UInt.self] as [Any.Type] {
            #expect(!(type is any InlineRecordValue.Type), "\(type)")
        }
        for type in [[Asset].self, UInt64.self, Asset?.self] as [Any.Type] {
            #expect(!(type is any RecordValueConvertible.Type), "\(type)")
        }
        let asset: Any.Type = Asset.self
        #expect(asset is any RecordValueConvertible.Type)
    }

    @Test func iterationGivesWhatTheSubscriptShows() {
        var record = Record(recordType: "Note")
        record["b"] = 2
        record["a"] = "one"
        record["c"] = Asset(fileURL: URL(fileURLWithPath: "/tmp/c"))
        record.encryptedValues["secret"] = "sealed"
        var seen: [String] = []
        for (key, value) in record {
            seen.append(key)
            if key == "a" { #expect(value as? String == "one") }
            if key == "b" { #expect(value as? Int == 2) }
            if key == "c" { #expect(value is Asset) }
        }
        #expect(seen == ["a", "b", "c"])
        #expect(record.encryptedValues.map(\.key) == ["secret"])
        // So a copy made this way writes nothing plain that was sealed.
        var copy = Record(recordType: "Note")
        for (key, value) in record { copy[key] = value }
        #expect(copy.plainValue("secret") == nil)
        #expect(copy.allKeys() == ["a", "b", "c"])
        #expect(record.allKeys() == ["a", "b", "c", "secret"])
        for (key, value) in record.encryptedValues { copy.encryptedValues[key] = value }
        #expect(copy.encryptedValues["secret"] == "sealed")
        #expect(copy.plainValue("secret") == nil)
        // An iterator shows no value either.
        #expect(!"\(record.encryptedValues.makeIterator())".contains("sealed"))
        #expect(!"\(record.encryptedValues)".contains("sealed"))
    }

    @Test func settingAllEncryptedValuesLeavesTheRestOfTheRecord() {
        var (one, other) = (Record(recordType: "Note"), Record(recordType: "Note"))
        one["plain"] = "one"
        one.encryptedValues["old"] = "old"
        other["plain"] = "other"
        other["more"] = "other"
        other.encryptedValues["new"] = "new"
        let id = one.recordID
        one.encryptedValues = other.encryptedValues
        #expect(one.recordID == id)
        #expect(one["plain"] == "one")
        #expect(one["more"] == nil)
        #expect(one.encryptedValues.allKeys() == ["new"])
        #expect(one.encryptedValues["new"] == "new")
        #expect(one.changedKeys() == ["new", "old", "plain"])
    }

    /// Read, changed and set: what was not changed there stays another device's.
    @Test func settingEncryptedValuesOverwritesOnlyWhatWasChangedInThem() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "x")
        record.encryptedValues["address"] = "old street"
        record.encryptedValues["phone"] = "1"
        record = try await ann.own.save(record)
        var values = record.encryptedValues
        values["phone"] = "2"
        values["body"] = nil as String?
        record.encryptedValues = values
        #expect(record.changedKeys() == ["body", "phone"])

        var theirs = try await ann.own.record(for: record.recordID)
        theirs.encryptedValues["address"] = "new street"
        _ = try await ann.own.save(theirs)
        _ = try #require(
            try await ann.own.modifyRecords(saving: [record], savePolicy: .changedKeys).saveResults[record.recordID]
        ).get()
        let found = try await ann.own.record(for: record.recordID)
        #expect(found.encryptedValues["address"] == "new street")
        #expect(found.encryptedValues["phone"] == "2")
        #expect(found.encryptedValues.allKeys() == ["address", "phone"])
    }

    /// As if each line were written to the record's own.
    @Test func settingEncryptedValuesRemovesAndReplacesWhatWasNotAskedFor() {
        var record = Record(recordType: "Note")
        record.fields = ["gone": .omitted, "replaced": .omitted, "kept": .omitted, "same": .encrypted(.string("same"))]
        var values = record.encryptedValues
        values["gone"] = nil as String?
        values["replaced"] = "new"
        values["same"] = "same"
        record.encryptedValues = values
        #expect(record.omittedKeys == ["kept"])
        #expect(record.changedKeys() == ["gone", "replaced", "same"])
        #expect(record.allKeys() == ["replaced", "same"])
        #expect(record.encryptedValues["replaced"] == "new")
    }

    @Test func keysSayWhatChanged() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var record = ann.note(in: zone, "x")
        record["color"] = "red"
        record = try await ann.own.save(record)
        #expect(record.changedKeys().isEmpty)
        #expect(record.allKeys() == ["body", "color"])
        record["color"] = "green"
        record.encryptedValues["more"] = 1
        #expect(record.changedKeys() == ["color", "more"])
        #expect(record.encryptedValues.changedKeys() == ["more"])
        let part = try #require(
            try await ann.own.records(for: [record.recordID], desiredKeys: ["color"])[record.recordID]?.get())
        #expect(part.allKeys() == ["color"])
        #expect(part.omittedKeys == ["body"])
        #expect(part.map(\.key) == ["color"])
    }

    @Test func aSharesSystemFieldsAreReadAndSetByKey() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        #expect(share[.title] == nil)
        #expect(share[.thumbnailImageData] == nil)
        #expect(share[.shareType] == nil)
        share[Share.SystemFieldKey.title] = "Our notes"
        share[.shareType] = "org.example.notes"
        share[.thumbnailImageData] = Data([1, 2])
        #expect(share.title == "Our notes")
        #expect(share.shareType == "org.example.notes")
        #expect(share.thumbnailImageData == Data([1, 2]))
        share = try await ann.own.save(share)
        let found = try await ann.onFreshDevice().own.share(for: zone)
        #expect(found[.title] == "Our notes")
        #expect(found[.shareType] == "org.example.notes")
        #expect(found[.thumbnailImageData] == Data([1, 2]))
        share[.title] = nil
        #expect(share.title.isEmpty)
        #expect(share[.title] == nil)
    }

    @Test func changesByIDHoldTheirRecords() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "x"))
        let changes = try await ann.own.recordZoneChanges(inZoneWith: zone)
        var records: [Record] = []
        for (id, result) in changes.modificationResultsByID {
            let modification: Database.RecordZoneChange.Modification = try result.get()
            #expect(modification.record.recordID == id)
            records.append(modification.record)
        }
        #expect(records.map(\.recordID) == [note.recordID])
    }
}
