import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// The end of a share beside what else a call saves and deletes: nothing brings it back.
@Suite(.timeLimit(.minutes(60))) struct ShareEndTests {
    /// A copy of a note that has changed since.
    private func staleNote(_ person: Person, _ note: Record) async throws -> Record {
        var copy = try await person.own.record(for: note.recordID)
        var newer = copy
        newer.encryptedValues["body"] = "newer"
        try await person.own.save(newer)
        copy.encryptedValues["body"] = "late"
        return copy
    }

    @Test func anAtomicBatchThatFailsEndsNoShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let stale = try await staleNote(ann, note)
        let failed = try await ann.own.modifyRecords(saving: [stale], deleting: [share.recordID])
        #expect(failed.saveResults[stale.recordID]?.failureCode == .serverRecordChanged)
        #expect(failed.deleteResults[share.recordID]?.failureCode == .batchRequestFailed)
        #expect(try await bob.shared.allRecordZones().count == 1)
        #expect(try await ann.share(of: zone).participants.count == 2)
        // What is wrong with a record by itself is told before anything is sent.
        let nameless = ann.note(in: zone, "body", name: "ä")
        let refused = try await ann.own.modifyRecords(saving: [nameless], deleting: [share.recordID])
        #expect(refused.deleteResults[share.recordID]?.failureCode == .batchRequestFailed)
        #expect(try await bob.shared.allRecordZones().count == 1)

        let done = try await ann.own.modifyRecords(
            saving: [ann.note(in: zone, "last")], deleting: [share.recordID, note.recordID])
        #expect(done.saveResults.values.allSatisfy { $0.isSuccess })
        #expect(done.deleteResults.values.count { $0.isSuccess } == 2)
        #expect(try await bob.shared.allRecordZones().isEmpty)
        #expect(try await ann.own.recordZone(for: zone).isShared == false)
    }

    @Test func aBatchThatIsNotAtomicEndsItAllTheSame() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, note, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let stale = try await staleNote(ann, note)
        let results = try await ann.own.modifyRecords(saving: [stale], deleting: [share.recordID], atomically: false)
        #expect(results.saveResults[stale.recordID]?.failureCode == .serverRecordChanged)
        #expect(results.deleteResults[share.recordID]?.isSuccess == true)
        #expect(try await bob.shared.allRecordZones().isEmpty)
    }

    /// It is not for those who are put out.
    @Test func whatIsSavedBesideTheEndHasTheKeyThatComesWithIt() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let mine = ann.note(in: zone, "for me alone")
        let results = try await ann.own.modifyRecords(saving: [mine], deleting: [share.recordID], atomically: false)
        #expect(results.deleteResults[share.recordID]?.isSuccess == true)
        let saved = try #require(results.saveResults[mine.recordID]).get()
        #expect(try await ann.epoch(of: zone) == saved.base?.statement.epoch)
    }

    @Test func nothingIsSavedForThoseWhoWereToBePutOutFirst() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/rosters/append",
            Array(repeating: .request, count: 100))
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let mine = ann.note(in: zone, "for me alone", name: "mine")
        let failed = await failure {
            _ = try await device.own.modifyRecords(saving: [mine], deleting: [share.recordID], atomically: false)
        }
        #expect(failed == .networkFailure)
        #expect(await failure { _ = try await ann.own.record(for: mine.recordID) } == .unknownItem)
        network.lose([])
        let done = try await device.own.modifyRecords(saving: [mine], deleting: [share.recordID], atomically: false)
        #expect(done.saveResults[mine.recordID]?.isSuccess == true)
        #expect(try await bob.shared.allRecordZones().isEmpty)
    }

    @Test func anAtomicBatchThatFailsLeavesNoShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        let ended = Record.ID(recordName: Share.recordName, zoneID: joined)
        var copy = try await bob.shared.record(for: id)
        _ = try await staleNote(ann, note)
        copy.encryptedValues["body"] = "late"
        let failed = try await bob.shared.modifyRecords(saving: [copy], deleting: [ended])
        #expect(failed.saveResults[id]?.failureCode == .serverRecordChanged)
        #expect(failed.deleteResults[ended]?.failureCode == .batchRequestFailed)
        #expect(try await bob.shared.allRecordZones().count == 1)
        // What is saved beside the end is there, and the share is left after it.
        let last = bob.note(in: joined, "last words", name: "last")
        let done = try await bob.shared.modifyRecords(saving: [last], deleting: [ended])
        #expect(done.saveResults[last.recordID]?.isSuccess == true)
        #expect(done.deleteResults[ended]?.isSuccess == true)
        #expect(try await bob.shared.allRecordZones().isEmpty)
        let kept = Record.ID(recordName: "last", zoneID: note.recordID.zoneID)
        #expect(try await ann.own.record(for: kept).encryptedValues["body"] == "last words")
    }

    @Test func soItIsWithAShareOfRecords() async throws {
        let it = try await HierarchicalShareTests().shared()
        var copy = try await it.bob.shared.record(for: it.id(it.item))
        _ = try await staleNote(it.ann, it.item)
        copy.encryptedValues["body"] = "late"
        let failed = try await it.bob.shared.modifyRecords(saving: [copy], deleting: [it.id(it.list)])
        #expect(failed.saveResults[copy.recordID]?.failureCode == .serverRecordChanged)
        #expect(failed.deleteResults[it.id(it.list)]?.failureCode == .batchRequestFailed)
        #expect(try await it.bob.shared.allRecordZones().count == 1)
        var newer = try await it.bob.shared.record(for: it.id(it.item))
        newer.encryptedValues["body"] = "last words"
        let done = try await it.bob.shared.modifyRecords(saving: [newer], deleting: [it.id(it.list)])
        #expect(done.saveResults[newer.recordID]?.isSuccess == true)
        #expect(done.deleteResults[it.id(it.list)]?.isSuccess == true)
        #expect(try await it.bob.shared.allRecordZones().isEmpty)
        #expect(try await it.ann.own.record(for: it.item.recordID).encryptedValues["body"] == "last words")
    }
}
