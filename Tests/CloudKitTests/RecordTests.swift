import CloudKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct RecordTests {
    @Test func identifiersAreValues() {
        let zone = CKRecordZone.ID(zoneName: "Notes")
        let (one, other) = (CKRecord.ID(recordName: "a", zoneID: zone), CKRecord.ID(recordName: "a", zoneID: zone))
        #expect(one == other)
        #expect([one: 1][other] == 1)
        #expect(one != CKRecord.ID(recordName: "a"))
        #expect(CKRecord.ID() != CKRecord.ID())
        #expect(CKRecord.ID(recordName: "a").zoneID == .default)
        #expect(zone.ownerName == CKCurrentUserDefaultName)
        #expect(CKRecordZone(zoneName: "Notes") == CKRecordZone(zoneID: zone))
        #expect(CKRecordZone.default().zoneID.zoneName == CKRecordZone.ID.defaultZoneName)
        #expect(Set([one, other]).count == 1)
    }

    @Test func recordsAreObjects() {
        let record = CKRecord(recordType: "Note")
        #expect(record != CKRecord(recordType: "Note", recordID: record.recordID))
        #expect(record.recordChangeTag == nil)
        #expect(record.creationDate == nil)
        #expect(record.share == nil)
        #expect(record.parent == nil)
    }

    @Test func keys() {
        let record = CKRecord(recordType: "Note")
        record["b"] = 1
        record["a"] = "x"
        record.encryptedValues["secret"] = "y"
        #expect(record.allKeys() == ["a", "b"])
        #expect(record.changedKeys() == ["a", "b"])
        #expect(record.encryptedValues.allKeys() == ["secret"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
        record["a"] = nil
        #expect(record.allKeys() == ["b"])
        #expect(record.changedKeys() == ["a", "b"])
        #expect(record.map(\.0) == ["b"])
        var seen: [String] = []
        for (key, value) in record { seen.append("\(key) \(value as? Int ?? 0)") }
        #expect(seen == ["b 1"])
    }

    /// `let values = record.encryptedValues; values["a"] = 1` writes through.
    @Test func encryptedValuesAreTheRecordsOwn() {
        let record = CKRecord(recordType: "Note")
        let values = record.encryptedValues
        values["a"] = "x"
        #expect(record.encryptedValues["a"] as? String == "x")
        #expect(record["a"] == nil)
        #expect("\(record)".contains("x\"") == false)
    }

    @Test func keyValueCoding() {
        let record = CKRecord(recordType: "Note")
        record.setValuesForKeys(["title": "a", "count": 2, "none": NSNull()])
        record.setValue(3, forKey: "more")
        record.setObject("b" as NSString, forKey: "text")
        #expect(record.value(forKey: "title") as? String == "a")
        #expect(record.object(forKey: "count") as? Int == 2)
        #expect(record.allKeys() == ["count", "more", "text", "title"])
        record.setValue(nil, forKey: "more")
        #expect(record.value(forKey: "more") == nil)
    }

    @Test func copiesGoTheirOwnWay() throws {
        let record = CKRecord(recordType: "Note")
        record["title"] = "a"
        let copy = try #require(record.copy() as? CKRecord)
        copy["title"] = "b"
        copy.encryptedValues["secret"] = 1
        #expect(record["title"] as? String == "a")
        #expect(record.encryptedValues.allKeys().isEmpty)
        #expect(copy.recordID == record.recordID)
    }

    @Test func parents() {
        let (zone, parent) = (CKRecordZone.ID(zoneName: "Notes"), CKRecord.note("parent", in: .init(zoneName: "Notes")))
        let record = CKRecord.note("child", in: zone)
        record.setParent(parent)
        #expect(record.parent == CKRecord.Reference(recordID: parent.recordID, action: .none))
        record.setParent(nil as CKRecord.ID?)
        #expect(record.parent == nil)
    }

    @Test func words() {
        let record = CKRecord(recordType: "Note")
        record["title"] = "two words"
        #expect(record.allTokens() == ["two", "words"])
    }
}
