import Foundation
import Testing

@testable import SealKit

@Suite struct SemanticsTests {
    @Test func s31_otherZonesOfTheCallCommit() async throws {
        let ann = try await Person()
        let (good, bad) = (try await ann.makeZone(), try await ann.makeZone())
        let taken = try await ann.own.save(ann.note(in: bad, "taken"))
        let records = [
            ann.note(in: good, "one"), ann.note(in: bad, "again", name: taken.recordID.recordName), ann.note(in: bad, "sibling"),
            ann.note(in: RecordZone.ID(zoneName: "absent"), "nowhere"),
        ]
        let results = try await ann.own.modifyRecords(saving: records).saveResults
        #expect(records.map { results[$0.recordID]?.failureCode } == [nil, .serverRecordChanged, .batchRequestFailed, .zoneNotFound])
        #expect(try await ann.own.record(for: records[0].recordID).encryptedValues["body"] == "one")
    }

    /// #23 and #24, as the SDK's functions say them.
    @Test func s23_s24_deletingWhatIsNotThere() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.deleteRecord(withID: Record.ID(recordName: "absent", zoneID: zone))
        let nowhere = Record.ID(recordName: "a", zoneID: RecordZone.ID(zoneName: "absent"))
        #expect(await failure { try await ann.own.deleteRecord(withID: nowhere) } == .zoneNotFound)
    }
}
