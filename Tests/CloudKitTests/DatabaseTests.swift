import CloudKit
import Testing

/// Sentences of what clients rely on, by their numbers in `Tests/Semantics.md`.
@Suite(.timeLimit(.minutes(60))) struct DatabaseTests {
    @Test func s5to8fetching() async throws {
        try await Cloud.runNotes { database, zone in
            let nowhere = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Nowhere"))
            await expectFailure(.zoneNotFound) { _ = try await database.record(for: nowhere) }
            let absent = CKRecord.ID(recordName: "absent", zoneID: zone)
            await expectFailure(.unknownItem) { _ = try await database.record(for: absent) }
            let saved = try await database.save(CKRecord.note("a", in: zone))
            let found = try await database.records(for: [saved.recordID, absent])
            #expect(try found[saved.recordID]?.get().recordChangeTag == saved.recordChangeTag)
            #expect(found[absent]?.code == .unknownItem)
            let many = (0...400).map { CKRecord.ID(recordName: "\($0)", zoneID: zone) }
            await expectFailure(.limitExceeded) { _ = try await database.records(for: many) }
        }
    }

    @Test func s9aRecordIsNobodyElses() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["title"] = "first"
            let saved = try await database.save(record)
            #expect(saved === record)
            saved["title"] = "changed here"
            let one = try await database.record(for: record.recordID)
            #expect(one["title"] as? String == "first")
            one["title"] = "changed there"
            #expect(try await database.record(for: record.recordID)["title"] as? String == "first")
        }
    }

    @Test func fieldsComeBackAsTheyWere() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            let due = Date(timeIntervalSinceReferenceDate: 800_000_000.123456789)
            record["title"] = "Plans"
            record["count"] = 3
            record["weight"] = 1.5
            record["isPinned"] = true
            record["due"] = due
            record["tags"] = ["a", "b"]
            record["folder"] = CKRecord.Reference(
                recordID: CKRecord.ID(recordName: "work", zoneID: zone), action: .none)
            record["place"] = CLLocation(latitude: 52.5, longitude: 13.4)
            record.encryptedValues["body"] = "Tomatoes go left"
            record.encryptedValues["dates"] = [due]
            try await database.save(record)
            #expect(record.changedKeys().isEmpty)
            #expect(record.creationDate != nil)

            let read = try await database.record(for: record.recordID)
            #expect(read["title"] as? String == "Plans")
            #expect(read["count"] as? Int == 3)
            #expect(read["weight"] as? Double == 1.5)
            #expect(read["isPinned"] as? Bool == true)
            #expect(read["due"] as? Date == due)
            #expect(read["tags"] as? [String] == ["a", "b"])
            #expect((read["folder"] as? CKRecord.Reference)?.recordID.zoneID == zone)
            #expect((read["place"] as? CLLocation)?.coordinate.latitude == 52.5)
            #expect(read.encryptedValues["body"] as? String == "Tomatoes go left")
            #expect(read.encryptedValues["dates"] as? [Date] == [due])
            #expect(read.allKeys() == record.allKeys())
            #expect(read.creatorUserRecordID == read.lastModifiedUserRecordID)

            let some = try await database.records(for: [record.recordID], desiredKeys: ["title"])
            #expect(try some[record.recordID]?.get().allKeys() == ["title"])
            let none = try await database.records(for: [record.recordID], desiredKeys: [])
            #expect(try none[record.recordID]?.get().allKeys() == [])
        }
    }

    @Test func s10anAssetHasAFileWithTheBytes() async throws {
        try await Cloud.runNotes { database, zone in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("scan-\(UUID().uuidString)")
            try Data("plans".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let record = CKRecord.note("a", in: zone)
            record["scan"] = CKAsset(fileURL: file)
            try await database.save(record)
            let read = try await database.record(for: record.recordID)
            let fetched = try #require((read["scan"] as? CKAsset)?.fileURL)
            #expect(fetched != file)
            #expect(try Data(contentsOf: fetched) == Data("plans".utf8))

            // Of another record, it is sent anew.
            let other = CKRecord.note("b", in: zone)
            other["copy"] = read["scan"]
            try await database.save(other)
            let copy = try #require((try await database.record(for: other.recordID)["copy"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: copy) == Data("plans".utf8))

            let missing = CKRecord.note("c", in: zone)
            missing["scan"] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/scan"))
            await expectFailure(.assetFileNotFound) { _ = try await database.save(missing) }
        }
    }

    @Test func s11to16savingUnchanged() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["title"] = "first"
            try await database.save(record)
            let first = record.recordChangeTag
            #expect(first != nil)
            let stale = try await database.record(for: record.recordID)
            record["title"] = "second"
            try await database.save(record)
            #expect(record.recordChangeTag != first)

            stale["title"] = "third"
            let conflict = await expectFailure(.serverRecordChanged) { _ = try await database.save(stale) }
            #expect(conflict?.serverRecord?["title"] as? String == "second")
            #expect(conflict?.clientRecord?["title"] as? String == "third")
            #expect(conflict?.ancestorRecord?["title"] as? String == "first")
            #expect(conflict?.userInfo[CKRecordChangedErrorServerRecordKey] is CKRecord)
            #expect(try await database.record(for: record.recordID)["title"] as? String == "second")
            let merged = try #require(conflict?.serverRecord)
            merged["title"] = "third"
            try await database.save(merged)

            await expectFailure(.serverRecordChanged) { _ = try await database.save(CKRecord.note("a", in: zone)) }
            try await database.deleteRecord(withID: record.recordID)
            merged["title"] = "fourth"
            await expectFailure(.unknownItem) { _ = try await database.save(merged) }
            let nowhere = CKRecord.note("a", in: CKRecordZone.ID(zoneName: "Nowhere"))
            await expectFailure(.zoneNotFound) { _ = try await database.save(nowhere) }
        }
    }

    @Test func otherPolicies() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["title"] = "first"
            record["count"] = 1
            try await database.save(record)
            let blind = CKRecord.note("a", in: zone)
            blind["count"] = 2
            let results = try await database.modifyRecords(saving: [blind], deleting: [], savePolicy: .changedKeys)
            #expect(try results.saveResults[blind.recordID]?.get() === blind)
            let read = try await database.record(for: record.recordID)
            #expect(read["title"] as? String == "first")
            #expect(read["count"] as? Int == 2)
            record["count"] = 3
            _ = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            #expect(try await database.record(for: record.recordID)["count"] as? Int == 3)
        }
    }

    /// The object that was saved has its new tag, so that its next save is no conflict with itself; what was set while
    /// it was on its way is sent then.
    @Test func theSavedObjectGoesOn() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            for number in 1...3 {
                record["number"] = number
                try await database.save(record)
            }
            async let saving = database.save(record)
            record["number"] = 4
            record.encryptedValues["body"] = "later"
            _ = try await saving
            try await database.save(record)
            let read = try await database.record(for: record.recordID)
            #expect(read["number"] as? Int == 4)
            #expect(read.encryptedValues["body"] as? String == "later")
        }
    }

    @Test func s17and18parents() async throws {
        try await Cloud.runNotes { database, zone in
            let (parent, child) = (CKRecord.note("parent", in: zone), CKRecord.note("child", in: zone))
            child.setParent(parent)
            await expectFailure(.referenceViolation) { _ = try await database.save(child) }
            let results = try await database.modifyRecords(saving: [child, parent], deleting: [])
            let codes = results.saveResults.values.map(\.code)
            #expect(codes == [nil, nil])
            #expect(try await database.record(for: child.recordID).parent?.recordID == parent.recordID)
            // 25 and 26
            await expectFailure(.referenceViolation) { try await database.deleteRecord(withID: parent.recordID) }
            let gone = try await database.modifyRecords(saving: [], deleting: [parent.recordID, child.recordID])
            let left = gone.deleteResults.values.map(\.code)
            #expect(left == [nil, nil])
        }
    }

    @Test func s20tooMany() async throws {
        try await Cloud.runNotes { database, zone in
            let records = (0...400).map { CKRecord.note("\($0)", in: zone) }
            await expectFailure(.limitExceeded) { _ = try await database.modifyRecords(saving: records, deleting: []) }
            let changes = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
            #expect(changes.modificationResultsByID.isEmpty)
        }
    }

    @Test func s22to24deleting() async throws {
        try await Cloud.runNotes { database, zone in
            let record = try await database.save(CKRecord.note("a", in: zone))
            let before = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
            #expect(try before.modificationResultsByID[record.recordID]?.get().record.recordID == record.recordID)
            #expect(before.moreComing == false)
            #expect(try await database.deleteRecord(withID: record.recordID) == record.recordID)
            let after = try await database.recordZoneChanges(inZoneWith: zone, since: before.changeToken)
            #expect(after.deletions.map(\.recordID) == [record.recordID])
            #expect(after.deletions.first?.recordType == "Note")
            try await database.deleteRecord(withID: record.recordID)
            let nowhere = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Nowhere"))
            await expectFailure(.zoneNotFound) { try await database.deleteRecord(withID: nowhere) }
            // 27
            try await database.save(CKRecord.note("a", in: zone))
        }
    }

    @Test func s28to33atomicity() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["title"] = "first"
            try await database.save(record)
            let (good, bad) = (CKRecord.note("b", in: zone), CKRecord.note("a", in: zone))
            let results = try await database.modifyRecords(saving: [good, bad], deleting: [])
            #expect(results.saveResults[good.recordID]?.code == .batchRequestFailed)
            #expect(results.saveResults[bad.recordID]?.code == .serverRecordChanged)
            await expectFailure(.unknownItem) { _ = try await database.record(for: good.recordID) }
            let others = try await database.modifyRecords(saving: [good, bad], deleting: [], atomically: false)
            #expect(others.saveResults[good.recordID]?.code == nil)
            #expect(others.saveResults[bad.recordID]?.code == .serverRecordChanged)
        }
    }

    /// What Apple's framework raises exceptions for fails the save, with a sentence, and its batch as any failure does.
    @Test func whatIsNoValueIsRefused() async throws {
        try await Cloud.runNotes { database, zone in
            let elsewhere = CKRecord.Reference(
                recordID: CKRecord.ID(recordName: "b", zoneID: CKRecordZone.ID(zoneName: "Other")), action: .none)
            let bad: [(String, (CKRecord) -> Void)] = [
                ("class", { $0.setValue(NSObject(), forKey: "field") }),
                ("url", { $0.setValue(URL(fileURLWithPath: "/"), forKey: "field") }),
                ("zone", { $0["field"] = elsewhere }),
                ("large", { $0["field"] = UInt64.max }),
                ("mixed", { $0["field"] = NSArray(array: [1, "a"]) }),
                ("asset", { $0.encryptedValues.setObject(CKAsset(fileURL: URL(fileURLWithPath: "/a")), forKey: "f") }),
                ("reference", { $0.encryptedValues["field"] = CKRecord.Reference(record: $0, action: .none) }),
                (
                    "parent",
                    { $0.parent = CKRecord.Reference(record: CKRecord.note("p", in: zone), action: .deleteSelf) }
                ),
                ("name", { $0["not a name"] = 1 }),
            ]
            for (name, spoil) in bad {
                let (record, good) = (CKRecord.note("a", in: zone), CKRecord.note("b", in: zone))
                spoil(record)
                let results = try await database.modifyRecords(saving: [record, good], deleting: [])
                #expect(results.saveResults[record.recordID]?.code == .invalidArguments, "\(name)")
                #expect(results.saveResults[good.recordID]?.code == .batchRequestFailed, "\(name)")
            }
            let record = CKRecord.note("a", in: zone)
            record.setValue(NSObject(), forKey: "field")
            record["field"] = "good again"
            try await database.save(record)
            await expectFailure(.invalidArguments) {
                _ = try await database.save(CKRecord(recordType: "", recordID: CKRecord.ID(zoneID: zone)))
            }
            await expectFailure(.invalidArguments) {
                _ = try await database.save(CKRecord.note(String(repeating: "a", count: 256), in: zone))
            }
        }
    }

    /// From encoded system fields, what is set is sent, and what is not stays.
    @Test func afterSystemFieldsOnlyWhatIsSetIsSent() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["title"] = "first"
            record.encryptedValues["body"] = "sealed"
            try await database.save(record)
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: coder)
            let kept = try #require(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)))
            #expect(kept.recordChangeTag == record.recordChangeTag)
            #expect(kept.allKeys().isEmpty)
            kept["count"] = 2
            #expect(kept.changedKeys() == ["count"])
            try await database.save(kept)
            let read = try await database.record(for: record.recordID)
            #expect(read["title"] as? String == "first")
            #expect(read["count"] as? Int == 2)
            #expect(read.encryptedValues["body"] as? String == "sealed")

            // A whole one goes on where it was.
            read["count"] = 3
            let data = try NSKeyedArchiver.archivedData(withRootObject: read, requiringSecureCoding: true)
            let whole = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
            #expect(whole.changedKeys() == ["count"])
            #expect(whole["title"] as? String == "first")
            try await database.save(whole)
            let last = try await database.record(for: record.recordID)
            #expect(last["count"] as? Int == 3)
            #expect(last.encryptedValues["body"] as? String == "sealed")
        }
    }
}
