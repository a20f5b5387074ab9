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

    @Test func whatWasSetOnAShareBetweenTwoSavesIsLostByNeither() throws {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Notes"))
        share[CKShare.SystemFieldKey.shareType] = "org.example.note"
        let first = try share.sent()
        let invited = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(invited)
        share[CKShare.SystemFieldKey.title] = "Notes"
        share.publicPermission = .readOnly
        let second = try share.sent()
        invited.permission = .readWrite
        share.take(first.share, of: first)
        // The second save may fail: until it has come through, all of that is still to be saved.
        #expect(share.changedKeys() == [CKShareTitleKey])
        #expect(share.publicPermission == .readOnly)
        #expect(share.participants.contains { $0 === invited })
        share.take(second.share, of: second)
        #expect(share.changedKeys().isEmpty)
        #expect(share[CKShare.SystemFieldKey.title] as? String == "Notes")
        #expect(share.participants.contains { $0 === invited })
        #expect(invited.permission == .readWrite)
        // An answer that comes late changes nothing.
        share.take(first.share, of: first)
        #expect(share[CKShare.SystemFieldKey.title] as? String == "Notes")
        #expect(share.publicPermission == .readOnly)
    }

    /// Of somebody who is in the share already.
    @Test func whatWasSetOnAParticipantBetweenTwoSavesIsLostByNeither() throws {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Notes"))
        let invited = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(invited)
        let first = try share.sent()
        invited.permission = .readWrite
        let second = try share.sent()
        share.take(first.share, of: first)
        #expect(invited.permission == .readWrite)
        share.take(second.share, of: second)
        #expect(invited.permission == .readWrite)
        // Nothing of it is to be saved any more: what somebody else sets counts.
        let third = try share.sent()
        var stored = third.share
        for var participant in third.share.participants {
            participant.permission = .readOnly
            stored.addParticipant(participant)
        }
        share.take(stored, of: third)
        #expect(invited.permission == .readOnly)
    }

    /// One person may have two, as an invitation beside a seat that is taken.
    @Test func ofOnePersonsPlacesTheOneIsRemovedThatWasMeant() throws {
        func place(_ id: String, user: String?, address: String?) -> CKShare.Participant {
            CKShareParticipant(
                SealKit.Share.Participant(
                    participantID: id, userRecordName: user, lookupInfo: address.map { .emailAddress($0) },
                    isVerified: false, role: .privateUser, permission: .readOnly, acceptanceStatus: .pending,
                    dateAddedToShare: nil, isApprovedRequester: false, expirationDate: nil))
        }
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Notes"))
        share.addParticipant(place("first", user: "_bob", address: nil))
        share.addParticipant(place("spare", user: nil, address: "bob@example.org"))
        let sent = try share.sent()
        #expect(sent.share.participants.map(\.participantID) == ["first", "spare"])
        // By now it is known whose address that is.
        share.removeParticipant(place("spare", user: "_bob", address: "bob@example.org"))
        share.take(sent.share, of: sent)
        #expect(share.participants.map(\.participantID) == ["first"])
        #expect(try share.sent().share.participants.map(\.participantID) == ["first"])
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
