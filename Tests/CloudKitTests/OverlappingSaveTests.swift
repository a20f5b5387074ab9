import SealKit
import Synchronization
import Testing

@testable import CloudKit

/// Saves of one record that are under way at the same time.
@Suite(.timeLimit(.minutes(60))) struct OverlappingSaveTests {
    /// What the server gives back of what was sent.
    private func stored(_ sent: RecordBox.Sent) -> SealKit.Record {
        var stored = SealKit.Record(recordType: sent.record.recordType, recordID: sent.record.recordID)
        for key in sent.record.allKeys() {
            if let value = sent.record.plainValue(key) {
                stored.restore(.value(value), for: key, isEncrypted: false, isChanged: false)
            } else if let value = sent.record.encryptedValues.value(key) {
                stored.restore(.value(value), for: key, isEncrypted: true, isChanged: false)
            }
        }
        return stored
    }

    @Test func whatWasSetBetweenTwoSavesIsLostByNeither() {
        let record = CKRecord(recordType: "Note")
        record["a"] = 1
        let first = record.box.sent()
        record["b"] = 2
        record.encryptedValues["secret"] = "x"
        let second = record.box.sent()
        record["c"] = 3
        record.box.take(stored(first), of: first)
        #expect(record["b"] as? Int == 2)
        #expect(record.encryptedValues["secret"] as? String == "x")
        // The second save may fail: until it has come through, they are changed.
        #expect(record.changedKeys() == ["b", "c"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
        record.box.take(stored(second), of: second)
        #expect(record.changedKeys() == ["c"])
        #expect(record.encryptedValues.changedKeys().isEmpty)
        #expect(record["b"] as? Int == 2)
    }

    @Test func whatWasRemovedMeanwhileStaysRemoved() {
        let record = CKRecord(recordType: "Note")
        record["a"] = 1
        record.encryptedValues["secret"] = "x"
        let sent = record.box.sent()
        record["a"] = nil
        record.encryptedValues["secret"] = nil
        record.box.take(stored(sent), of: sent)
        #expect(record["a"] == nil)
        #expect(record.encryptedValues["secret"] == nil)
        #expect(record.changedKeys().contains("a"))
        #expect((record.changedKeys() + record.encryptedValues.changedKeys()).contains("secret"))
    }

    @Test func anEarlierSaveThatIsAnsweredLaterChangesNothing() {
        let record = CKRecord(recordType: "Note")
        record["a"] = 1
        let first = record.box.sent()
        record["a"] = 2
        let second = record.box.sent()
        record.box.take(stored(second), of: second)
        record.box.take(stored(first), of: first)
        #expect(record["a"] as? Int == 2)
        #expect(record.changedKeys().isEmpty)
    }

    @Test func aSaveThatFailsLeavesWhatWasSetChanged() async throws {
        try await Cloud.runNotes { database, zone in
            let record = CKRecord.note("a", in: zone)
            record["a"] = 1
            async let first = database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            record["b"] = 2
            async let second = database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            _ = try await (first, second)
            record["c"] = 3
            _ = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            let found = try await database.record(for: record.recordID)
            #expect(found.allKeys() == ["a", "b", "c"])
        }
    }
}
