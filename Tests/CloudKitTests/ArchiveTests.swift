import CloudKit
import Testing

/// Keyed archives, as apps keep them for years.
@Suite(.timeLimit(.minutes(60))) struct ArchiveTests {
    private func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    }

    private let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "_ann")
    private var id: CKRecord.ID { CKRecord.ID(recordName: "first", zoneID: zone) }

    @Test func identifiers() throws {
        #expect(try archived(zone) == zone)
        #expect(try archived(id) == id)
        let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(try archived(reference) == reference)
        #expect(try archived(CKRecordZone(zoneID: zone)) == CKRecordZone(zoneID: zone))
        let place = CLLocation(latitude: 1, longitude: 2)
        #expect(try archived(place) == place)
        let file = URL(fileURLWithPath: "/tmp/scan")
        #expect(try archived(CKAsset(fileURL: file))?.fileURL == file)
    }

    @Test func arraysAndDictionariesOfThem() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: NSDictionary(dictionary: [NSString(string: "ids"): NSArray(array: [id, id])]),
            requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSArray.self, NSString.self, CKRecordID.self], from: data)
        #expect((read as? [String: [CKRecord.ID]])?["ids"] == [id, id])
    }

    @Test func systemFieldsAlone() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = "a"
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        let reader = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        reader.requiresSecureCoding = true
        let read = try #require(CKRecord(coder: reader))
        #expect(read.recordID == id)
        #expect(read.recordType == "Note")
        #expect(read.allKeys().isEmpty)
        #expect(read.changedKeys().isEmpty)
    }

    @Test func wholeRecords() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = "a"
        // To an archiver these are one number.
        record["one"] = 1
        record["whole"] = 1.0
        record["isTrue"] = true
        record["largest"] = Int64.max
        record["weight"] = 1.5
        record["data"] = Data([1, 2])
        record["due"] = Date(timeIntervalSinceReferenceDate: 0.1)
        record["tags"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "other", zoneID: zone), action: .deleteSelf)
        record["scan"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/scan"))
        record["gone"] = nil
        record.encryptedValues["secret"] = "b"
        record.setParent(CKRecord.ID(recordName: "parent", zoneID: zone))
        let read = try #require(try archived(record))
        #expect(read.allKeys() == record.allKeys())
        #expect(read.changedKeys() == record.changedKeys())
        for key in record.allKeys() where key != "scan" {
            #expect((read[key] as? NSObject) == (record[key] as? NSObject), "\(key)")
        }
        let types = ["one", "whole"].map { (read[$0] as? NSNumber).map { String(cString: $0.objCType) } }
        // Foundation gives an integer the smallest of its types that holds it.
        #expect(types[0] != "d")
        #expect(types[0] != "c")
        #expect(types[1] == "d")
        #expect((read["scan"] as? CKAsset)?.fileURL == URL(fileURLWithPath: "/tmp/scan"))
        #expect(read.encryptedValues["secret"] as? String == "b")
        #expect(read["secret"] == nil)
        #expect(read.parent == record.parent)
    }

    @Test func queriesAndSubscriptions() throws {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSPredicate(format: "count > %d AND weight = %f AND folder = %@", 1, 1.0, "work"),
                NSPredicate(value: true),
            ]))
        query.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: false),
            CKLocationSortDescriptor(key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
        ]
        let read = try #require(try archived(query))
        #expect(read.recordType == "Note")
        #expect(read.sortDescriptors?.first?.key == "title")
        #expect(read.sortDescriptors?.first?.ascending == false)
        #expect((read.sortDescriptors?.last as? CKLocationSortDescriptor)?.relativeLocation.coordinate.longitude == 2)
        let parts = (read.predicate as? NSCompoundPredicate)?.subpredicates
        #expect(parts?.count == 2)
        #expect(parts?.first == NSPredicate(format: "count > %d AND weight = %f AND folder = %@", 1, 1.0, "work"))

        // A record stands for its ID; what is no value makes a query that cannot be archived, and ends nothing.
        let record = CKRecord(recordType: "Folder", recordID: id)
        let place = CLLocation(latitude: 1, longitude: 2)
        for argument in [record, id, NSArray(array: [NSString(string: "a")]), place] as [Any] {
            let folder = CKQuery(recordType: "Note", predicate: NSPredicate(format: "folder = %@", argument))
            #expect(try archived(folder) != nil, "\(argument)")
        }
        for argument in [UUID(), URL(fileURLWithPath: "/tmp")] as [Any] {
            let folder = CKQuery(recordType: "Note", predicate: NSPredicate(format: "folder = %@", argument))
            #expect((try? archived(folder)) == nil, "\(argument)")
        }

        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
            options: [.firesOnRecordCreation])
        subscription.zoneID = zone
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "new", shouldBadge: true)
        let kept = try #require(try archived(subscription))
        #expect(kept.subscriptionID == "notes")
        #expect(kept.zoneID == zone)
        #expect(kept.querySubscriptionOptions == [.firesOnRecordCreation])
        #expect(kept.notificationInfo?.alertBody == "new")
        #expect(kept.notificationInfo?.shouldBadge == true)
        #expect(kept.notificationInfo?.title == nil)
    }

    /// Damaged or cut: nothing is read, and nothing traps.
    @Test func damagedOnesAreNone() throws {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["title"] = "a"
        let data = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
        for count in stride(from: 0, to: data.count, by: 97) {
            #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data.prefix(count))) == nil)
        }
        let other = try NSKeyedArchiver.archivedData(withRootObject: NSString(string: "a"), requiringSecureCoding: true)
        #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: other)) == nil)
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        coder.encode(NSData(data: Data([9, 9, 9])), forKey: "SystemFields")
        let reader = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        #expect(CKRecord(coder: reader) == nil)
        #expect(CKServerChangeToken(coder: reader) == nil)
        #expect(CKQuery(coder: reader) == nil)
        #expect(CKRecord.ID(coder: reader) == nil)
        #expect(CKRecordZone(coder: reader) == nil)
        #expect(CKDatabaseSubscription(coder: reader) == nil)
        #expect(CLLocation(coder: reader) == nil)
        // A value of another class under a name of ours.
        let wrong = NSKeyedArchiver(requiringSecureCoding: true)
        for key in ["SystemFields", "RecordName", "ZoneName", "OwnerName", "ChangeToken", "RecordType"] {
            wrong.encode(NSArray(array: [NSString(string: "a")]), forKey: key)
        }
        let misread = try NSKeyedUnarchiver(forReadingFrom: wrong.encodedData)
        #expect(CKRecord(coder: misread) == nil)
        #expect(CKRecord.ID(coder: misread) == nil)
        #expect(CKServerChangeToken(coder: misread) == nil)
        #expect(CKQuery(coder: misread) == nil)
        // Text in the place of one of the module's own objects.
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes", options: [])
        let text = NSKeyedArchiver(requiringSecureCoding: true)
        subscription.encode(with: text)
        for key in ["ZoneID", "NotificationInfo"] { text.encode(NSString(string: "a"), forKey: key) }
        let swapped = try NSKeyedUnarchiver(forReadingFrom: text.encodedData)
        #expect(CKQuerySubscription(coder: swapped)?.zoneID == nil)
        #expect(CKQuerySubscription(coder: swapped)?.notificationInfo == nil)
    }
}
