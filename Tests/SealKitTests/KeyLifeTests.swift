import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// New keys: when they are opened, by whom, and what becomes of those who did not know.
@Suite(.timeLimit(.minutes(60))) struct KeyLifeTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    // MARK: When a new key is due

    @Test func theOwnerWhoWritesAfterSomebodyLeftOpensANewKeyFirst() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        let old = try await zone.view(of: carol)
        try await carol.shared.leaveShare(of: zone.id(for: carol))
        let status = try await ann.own.keyStatus(of: zone.zoneID)
        #expect(status.isRotationDue)
        #expect(status.newestEpoch == 0)
        let saved = try await ann.own.save(ann.note(in: zone.zoneID, "after Carol", name: "note"))
        #expect(saved.base?.statement.epoch == 1)
        let now = try await ann.own.keyStatus(of: zone.zoneID)
        #expect(!now.isRotationDue)
        #expect(now.newestEpoch == 1)
        // Carol's keys open nothing of it, Bob's do.
        let wire = try #require(try await zone.stored(["note"]).first)
        let opened = old.keys.values.contains { Forgery.opens(wire, with: $0) }
        #expect(!opened)
        let read = try await bob.shared.record(for: zone.recordID("note", for: bob))
        #expect(read.encryptedValues["body"] == "after Carol")
    }

    @Test func aMembersNewKeysMakeTheNextWriterOpenANewKey() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readWrite)])
        let chain = try await zone.changeKeys(of: bob)
        #expect(try await ann.own.keyStatus(of: zone.zoneID).isRotationDue)
        // Another member than the owner, who has not heard of it.
        let saved = try await carol.shared.save(carol.note(in: zone.id(for: carol), "for new keys"))
        #expect(saved.base?.statement.epoch == 1)
        let view = try await zone.view(of: ann)
        #expect(view.roster.members[chain.userID]?.identity == chain)
        #expect(!view.roster.rotationDue)
        #expect(view.roster.currentEpoch.grantHashes.keys.contains(.member(chain.userID)))
        // What Bob signs with the key before does not count any more.
        #expect(await failure { try await bob.shared.save(bob.note(in: zone.id(for: bob), "old key")) } != nil)
    }

    @Test func aReaderDoesNotOpenAKeyThatIsDueAndNobodyButAdministratorsOneThatIsNot() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        #expect(await failure { try await bob.shared.rotateKeys(of: zone.id(for: bob)) } == .permissionFailure)
        #expect(await failure { try await carol.shared.rotateKeys(of: zone.id(for: carol)) } == .permissionFailure)
        #expect(await failure { try await ann.container.publicDatabase.rotateKeys(of: .default) } == .badDatabase)
        #expect(await failure { _ = try await ann.container.publicDatabase.keyStatus(of: .default) } == .badDatabase)
        let dave = try await Person()
        #expect(await failure { try await dave.shared.rotateKeys(of: zone.id(for: bob)) } == .zoneNotFound)
        #expect(await failure { _ = try await dave.shared.keyStatus(of: zone.id(for: bob)) } == .zoneNotFound)

        try await carol.rotateKeys(KeptKeys(carol))
        #expect(try await zone.view(of: carol).roster.rotationDue)
        #expect(await failure { try await carol.shared.rotateKeys(of: zone.id(for: carol)) } == .permissionFailure)
        // And may not write, due or not.
        let write = await failure {
            _ = try await carol.shared.save(
                Record(recordType: "Note", recordID: Record.ID(recordName: "new", zoneID: zone.id(for: carol))))
        }
        #expect(write == .permissionFailure)
        try await bob.shared.rotateKeys(of: zone.id(for: bob))
        #expect(try await zone.view(of: ann).roster.currentEpoch.number == 1)
        // The server holds the same rule.
        let view = try await zone.view(of: bob)
        var random = SystemRandom()
        let draft = try bob.container.core.author.next(
            on: view.roster, changes: [], rotating: true, current: view.currentKey(), time: 1, random: &random)
        #expect(await failure { try await bob.shared.append(draft, view: view) } == .permissionFailure)
    }

    // MARK: Writing with an old key

    @Test func aDeviceThatMissedANewKeyWritesAgainUnderIt() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await ann.own.save(ann.note(in: zone.zoneID, "first", name: "note"))
        let refusals = RefusalCounter()
        let phone = try refusals.watching(try ann.onFreshDevice())
        let bobs = try refusals.watching(bob)
        // Both know the zone as it is now.
        var known = try await phone.own.record(for: zone.recordID("note", for: ann))
        var bobsNote = try await bobs.shared.save(bob.note(in: zone.id(for: bob), "Bob's", name: "bobs"))
        try await ann.own.rotateKeys(of: zone.zoneID)

        known.encryptedValues["body"] = "second"
        known = try await phone.own.save(known)
        #expect(known.base?.statement.epoch == 1)
        #expect(refusals.count(of: .staleEpoch) == 1)
        bobsNote.encryptedValues["body"] = "Bob's second"
        bobsNote = try await bobs.shared.save(bobsNote)
        #expect(bobsNote.base?.statement.epoch == 1)
        #expect(refusals.count(of: .staleEpoch) == 2)
        try await bobs.shared.deleteRecord(withID: zone.recordID("note", for: bob))
        let found = try await ann.own.record(for: zone.recordID("bobs", for: ann))
        #expect(found.encryptedValues["body"] == "Bob's second")
        #expect(await failure { _ = try await ann.own.record(for: zone.recordID("note", for: ann)) } == .unknownItem)
    }

    @Test func whatIsWrittenUnderANewKeyGetsARecordKeyOfItsOwn() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        let file = temporary.url.appendingPathComponent("file")
        try pattern(100_000).write(to: file)
        var note = ann.note(in: zone.zoneID, "unchanged", name: "note")
        note.encryptedValues["other"] = "changed"
        note["file"] = Asset(fileURL: file)
        note = try await ann.own.save(note)
        let before = try #require(note.base)
        let bobs = try await zone.view(of: bob)
        try await zone.remove(bob)
        // The first write after it takes the whole record along.
        note.encryptedValues["other"] = "changed again"
        note = try await ann.own.save(note)
        let after = try #require(note.base)
        #expect(after.statement.epoch == 1)
        #expect(!after.statement.isKeyCarried)
        #expect(["body", "other", "file"].allSatisfy { after.digests[$0] != before.digests[$0] })
        let wire = try #require(try await zone.stored(["note"]).first)
        let opened = bobs.keys.values.contains { Forgery.opens(wire, with: $0) }
        #expect(!opened)
        let found = try await ann.onFreshDevice().own.record(for: note.recordID)
        let asset: Asset? = found["file"]
        #expect(found.encryptedValues["body"] == "unchanged")
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(100_000))
        #expect(asset?.remote?.blob == (note["file"] as Asset?)?.remote?.blob)
    }

    // MARK: Two at once

    @Test func devicesThatOpenKeysAtOnceConvergeAndLoseNothing() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let devices = [ann, try ann.onFreshDevice(), try ann.onFreshDevice()]
        for device in devices { _ = try await zone.view(of: device) }
        let zoneID = zone.zoneID
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, device) in devices.enumerated() {
                group.addTask {
                    for round in 0..<3 {
                        try await device.own.rotateKeys(of: zoneID)
                        try await device.own.save(
                            device.note(in: zoneID, "\(number)-\(round)", name: "note-\(number)-\(round)"))
                    }
                }
            }
            group.addTask {
                for round in 0..<3 {
                    try await bob.shared.save(bob.note(in: zone.id(for: bob), "b-\(round)", name: "note-b-\(round)"))
                }
            }
            try await group.waitForAll()
        }
        var heads: Set<String> = []
        for person in devices + [bob] { heads.insert(try await zone.view(of: person).roster.head.hex) }
        #expect(heads.count == 1)
        let roster = try await zone.view(of: ann).roster
        #expect((3...9).contains(Int(roster.currentEpoch.number)))
        for reader in [try ann.onFreshDevice(), try bob.onFreshDevice()] {
            let changes = try await zone.database(of: reader).recordZoneChanges(inZoneWith: zone.id(for: reader))
            let bodies = try changes.modifications.compactMap { try $0.result.get().encryptedValues["body"] as String? }
            let all = ["0", "1", "2", "b"].flatMap { writer in (0..<3).map { "\(writer)-\($0)" } }
            #expect(Set(bodies) == Set(all))
        }
    }
}
