import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// Records and shares in one call, as CloudKit's apps write it.
@Suite(.timeLimit(.minutes(60))) struct MixedSaveTests {
    @Test func aRootAndItsShareAreSavedTogether() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("lists")
        let root = ann.note(in: zone, "list", name: "list")
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let results = try await ann.own.modifyRecords(
            saving: [root, share, ann.note(in: zone, "other", name: "other")], deleting: [])
        #expect(results.saveResults.count == 3)
        let saved = try #require(try results.saveResults[share.recordID]?.get() as? Share)
        let savedRoot = try #require(try results.saveResults[root.recordID]?.get() as? Record)
        #expect(savedRoot.share?.recordName == share.recordID.recordName)
        let joined = try await bob.join(saved.url)

        // What there is already takes over what changes, under every policy, beside records.
        for policy in [Database.SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            var changed = try await ann.own.share(withID: share.recordID)
            changed.title = "by \(policy)"
            var note = try await ann.own.record(for: root.recordID)
            note.encryptedValues["body"] = "by \(policy)"
            let again = try await ann.own.modifyRecords(saving: [changed, note], savePolicy: policy).saveResults
            #expect((try again[share.recordID]?.get() as? Share)?.title == "by \(policy)")
            #expect((try again[root.recordID]?.get() as? Record)?.encryptedValues["body"] == "by \(policy)")
        }

        // A participant saves records, and makes no share of them.
        var child = bob.note(in: joined, "theirs", name: "theirs")
        child.parent = Record.Reference(recordName: "list")
        let theirs = child
        let attempted = try await bob.shared.modifyRecords(saving: [theirs, Share(rootRecord: theirs)]).saveResults
        #expect(try attempted[theirs.recordID]?.get() is Record)
        let codes = attempted.values.compactMap(\.failureCode)
        #expect(codes == [.badDatabase])
        let twice: [any SavableRecord] = [root, root]
        let refused = await failure { try await ann.own.modifyRecords(saving: twice) }
        #expect(refused == .invalidArguments)
    }

    @Test func anAdministratorSavesAShareOfAWholeZoneWithRecords() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("notes")
        #expect(try await ann.own.recordZone(for: zone).share == nil)
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let first = ann.note(in: zone, "first", name: "first")
        let made = try await ann.own.modifyRecords(saving: [share, first]).saveResults
        let saved = try #require(try made[share.recordID]?.get() as? Share)
        #expect(try await ann.own.recordZone(for: zone).share?.recordName == Share.recordName)
        let joined = try await bob.join(saved.url)
        var raised = try await ann.own.share(for: zone)
        var participant = try #require(
            raised.participants.first { $0.userIdentity.userRecordID?.recordName == bob.name })
        participant.role = .administrator
        raised.addParticipant(participant)
        try await ann.own.save(raised)

        var theirs = try await bob.shared.share(for: joined)
        theirs.title = "Bob's word"
        let note = bob.note(in: joined, "second", name: "second")
        let results = try await bob.shared.modifyRecords(saving: [note, theirs]).saveResults
        #expect((try results[theirs.recordID]?.get() as? Share)?.title == "Bob's word")
        #expect(try results[note.recordID]?.get() is Record)
        #expect(try await ann.own.share(for: zone).title == "Bob's word")
    }

    /// One item's failure is its own: a new share and its root are one, and nothing else waits for them.
    @Test func whatIsNotAtomicFailsByItself() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone("lists")
        let stale = try await ann.own.save(ann.note(in: zone, "one", name: "stale"))
        var newer = stale
        newer.encryptedValues["body"] = "two"
        _ = try await ann.own.save(newer)
        let gone = try await ann.own.save(ann.note(in: zone, "x", name: "gone"))
        var mine = stale
        mine.encryptedValues["body"] = "mine"
        let (root, other) = (ann.note(in: zone, "list", name: "list"), ann.note(in: zone, "other", name: "other"))
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let results = try await ann.own.modifyRecords(
            saving: [mine, root, share, other], deleting: [gone.recordID], atomically: false)
        #expect(results.saveResults[mine.recordID]?.failureCode == .serverRecordChanged)
        #expect(results.saveResults.values.compactMap(\.failureCode) == [.serverRecordChanged])
        #expect(try results.saveResults[other.recordID]?.get() is Record)
        let saved = try #require(try results.saveResults[share.recordID]?.get() as? Share)
        #expect(results.deleteResults[gone.recordID]?.failureCode == nil)
        #expect(await failure { _ = try await ann.own.record(for: gone.recordID) } == .unknownItem)
        _ = try await bob.join(saved.url)
        #expect(try await ann.own.record(for: root.recordID).share?.recordName == share.recordID.recordName)
    }

    @Test func withItsRootANewShareFails() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("lists")
        let (there, other) = (ann.note(in: zone, "there", name: "list"), ann.note(in: zone, "other", name: "other"))
        _ = try await ann.own.save(there)
        // Made anew, where there is one already.
        let root = ann.note(in: zone, "again", name: "list")
        let share = Share(rootRecord: root)
        let loose = try await ann.own.modifyRecords(saving: [root, share, other], atomically: false).saveResults
        #expect(loose[root.recordID]?.failureCode == .serverRecordChanged)
        #expect(loose[share.recordID]?.failureCode != nil)
        #expect(try loose[other.recordID]?.get() is Record)
        #expect(await failure { _ = try await ann.own.share(withID: share.recordID) } == .unknownItem)

        // All or nothing, the other one is not saved either.
        let last = ann.note(in: zone, "last", name: "last")
        let strict = try await ann.own.modifyRecords(saving: [root, share, last]).saveResults
        #expect(strict[root.recordID]?.failureCode == .serverRecordChanged)
        #expect(strict[last.recordID]?.failureCode == .batchRequestFailed)
        #expect(await failure { _ = try await ann.own.record(for: last.recordID) } == .unknownItem)
    }

    // MARK: A share that is changed

    /// All of a zone or nothing, and a share is one of its items.
    @Test func anAtomicCallThatFailsInvitesNobody() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, _) = try await ann.share(with: [(bob, .readWrite)])
        var late = try await ann.own.record(for: note.recordID)
        var newer = late
        newer.encryptedValues["body"] = "newer"
        try await ann.own.save(newer)
        late.encryptedValues["body"] = "late"
        var share = try await ann.share(of: zone)
        share.addParticipant(try await ann.participant(carol))
        let failed = try await ann.own.modifyRecords(saving: [late], shares: [share])
        #expect(failed.saveResults[late.recordID]?.failureCode == .serverRecordChanged)
        #expect(failed.shareResults[share.recordID]?.failureCode == .batchRequestFailed)
        #expect(try await ann.share(of: zone).participants.count == 2)

        // So it is with a zone's first share.
        let other = try await ann.makeZone()
        var first = Share(recordZoneID: other)
        first.addParticipant(try await ann.participant(carol))
        let items: [any SavableRecord] = [ann.note(in: other, "body", name: "ä"), first]
        let refused = try await ann.own.modifyRecords(saving: items).saveResults
        #expect(refused[first.recordID]?.failureCode == .batchRequestFailed)
        #expect(try await ann.own.recordZone(for: other).share == nil)
        let loose = try await ann.own.modifyRecords(saving: items, atomically: false).saveResults
        #expect(try loose[first.recordID]?.get() is Share)
        #expect(try await ann.own.recordZone(for: other).share != nil)
    }

    /// It is not for them.
    @Test func whatIsSavedBesideHasTheKeyThatOpensWhenSomebodyIsPutOut() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        var without = try await ann.share(of: zone)
        without.removeParticipant(try #require(without.participant(bob)))
        let mine = ann.note(in: zone, "not for bob")
        let results = try await ann.own.modifyRecords(saving: [mine], shares: [without], atomically: false)
        #expect(results.shareResults[without.recordID]?.isSuccess == true)
        let saved = try #require(results.saveResults[mine.recordID]).get()
        #expect(try await ann.epoch(of: zone) == saved.base?.statement.epoch)
        #expect(try await bob.shared.allRecordZones().isEmpty)
    }

    @Test func nothingIsSavedWhereNobodyIsPutOutFirst() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let other = try await ann.makeZone()
        var changed = try await ann.share(of: zone)
        changed.removeParticipant(try #require(changed.participant(bob)))
        let without = changed
        // More than a URL shows.
        changed.thumbnailImageData = Data(count: Limits.previewBytes)
        let (mine, elsewhere) = (ann.note(in: zone, "not for bob", name: "mine"), ann.note(in: other, "elsewhere"))
        let refused = try await ann.own.modifyRecords(saving: [mine, elsewhere], shares: [changed], atomically: false)
        #expect(refused.shareResults[changed.recordID]?.failureCode == .limitExceeded)
        #expect(refused.saveResults[mine.recordID]?.failureCode == .batchRequestFailed)
        #expect(refused.saveResults[elsewhere.recordID]?.isSuccess == true)
        #expect(await failure { _ = try await ann.own.record(for: mine.recordID) } == .unknownItem)

        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/rosters/append",
            Array(repeating: .request, count: 100))
        let device = try ann.through(network, pacing: FakePacing().pacing)
        let failed = await failure {
            _ = try await device.own.modifyRecords(saving: [mine], shares: [without], atomically: false)
        }
        #expect(failed == .networkFailure)
        #expect(await failure { _ = try await ann.own.record(for: mine.recordID) } == .unknownItem)
        // Neither is anybody put out by a call that is refused as a whole.
        let twice = await failure {
            _ = try await ann.own.modifyRecords(saving: [mine, mine], shares: [without], atomically: false)
        }
        #expect(twice == .invalidArguments)
        #expect(try await bob.shared.allRecordZones().count == 1)
        network.lose([])
        let done = try await device.own.modifyRecords(saving: [mine], shares: [without], atomically: false)
        #expect(done.saveResults[mine.recordID]?.isSuccess == true)
        #expect(try await bob.shared.allRecordZones().isEmpty)
    }
}
