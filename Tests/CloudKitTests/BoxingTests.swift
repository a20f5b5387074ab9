import CloudKit
import Testing

/// What is read is an object of Foundation's that casts as on Apple's platforms, whatever was set.
@Suite(.timeLimit(.minutes(60))) struct BoxingTests {
    private let record = CKRecord(recordType: "Note")

    private func read(_ value: any CKRecordValue) -> (any CKRecordValue)? {
        record["field"] = value
        return record.object(forKey: "field")
    }

    @Test(arguments: [
        3 as any CKRecordValue & Sendable, Int8(3), Int16(3), Int32(3), Int64(3), UInt(3), UInt8(3), UInt16(3),
        UInt32(3), UInt64(3), NSNumber(value: 3),
    ])
    func integersCastToWhateverHoldsThem(_ value: any CKRecordValue & Sendable) {
        let read = read(value)
        #expect(read as? Int == 3)
        #expect(read as? Int64 == 3)
        #expect(read as? UInt8 == 3)
        #expect(read as? Double == 3)
        #expect(read as? NSNumber == 3)
        #expect(read as? Bool == nil)
        #expect(read as? String == nil)
    }

    @Test(arguments: [1.5 as any CKRecordValue & Sendable, Float(1.5), CGFloat(1.5), NSNumber(value: 1.5)])
    func fractionsAreDoubles(_ value: any CKRecordValue & Sendable) {
        let read = read(value)
        #expect(read as? Double == 1.5)
        #expect(read as? Float == 1.5)
        #expect(read as? Int == nil)
    }

    @Test func truthIsANumber() {
        #expect(read(true) as? Bool == true)
        #expect(read(false) as? Bool == false)
        #expect(read(true) as? Int == 1)
    }

    @Test func textsAndBytes() {
        #expect(read("a") as? String == "a")
        #expect(read("a") as? NSString == "a")
        #expect(read(NSString(string: "a")) as? String == "a")
        #expect(read(Data([1])) as? Data == Data([1]))
        #expect(read(NSData(data: Data([1]))) as? Data == Data([1]))
        #expect(read("a") as? Data == nil)
    }

    /// Clients compare dates with `==`.
    @Test func datesComeBackAsTheyWere() {
        for seconds in [0, -0.1, 800_000_000.123456789, 1e-9, 4e9] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(read(date) as? Date == date)
            #expect(read(date as NSDate) as? NSDate == date as NSDate)
        }
    }

    @Test func lists() {
        #expect(read(["a", "b"]) as? [String] == ["a", "b"])
        #expect(read([1, 2]) as? [Int] == [1, 2])
        #expect(read([1, 2]) as? [Double] == [1, 2])
        #expect(read([true]) as? [Bool] == [true])
        #expect(read(NSArray(array: ["a"])) as? [String] == ["a"])
        #expect(read([Date(timeIntervalSinceReferenceDate: 1)]) as? [Date] == [Date(timeIntervalSinceReferenceDate: 1)])
        #expect(read(["a"]) as? [Int] == nil)
        #expect(read([String]()) as? [String] == [])
        let target = CKRecord.Reference(recordID: CKRecord.ID(recordName: "other"), action: .deleteSelf)
        #expect(read([target]) as? [CKRecord.Reference] == [target])
    }

    @Test func placesReferencesAndFiles() throws {
        let place = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4), altitude: 34, horizontalAccuracy: 5,
            verticalAccuracy: 6, course: 7, speed: 8, timestamp: Date(timeIntervalSinceReferenceDate: 0.1))
        #expect(read(place) as? CLLocation == place)
        let target = CKRecord.Reference(recordID: CKRecord.ID(recordName: "other"), action: .deleteSelf)
        #expect(read(target) as? CKRecord.Reference == target)
        let file = URL(fileURLWithPath: "/tmp/scan")
        #expect((read(CKAsset(fileURL: file)) as? CKAsset)?.fileURL == file)
    }

    @Test func genericReading() {
        record["title"] = "a"
        record["count"] = 3
        record["title2"] = nil
        let title: String? = record["title"]
        let count: Int? = record["count"]
        let wrong: Int? = record["title"]
        #expect(title == "a")
        #expect(count == 3)
        #expect(wrong == nil)
        #expect(record["title2"] == nil)
    }
}
