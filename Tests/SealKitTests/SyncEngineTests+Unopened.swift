import Foundation
import SealKitTesting
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What verifies and does not open is told by its name, and keeps nothing else from coming.
extension SyncEngineTests {
    /// A device of somebody's that syncs what others share, and what the server answers it.
    private func joined(_ person: Person) throws -> (device: SyncDevice, network: HostileNetwork) {
        let network = try HostileNetwork(person.server)
        return (try SyncDevice(person, scope: .shared, network: { _ in network }), network)
    }

    private func save(_ count: Int, _ zone: SharedZone, named name: String = "note") async throws {
        let notes = (0..<count).map { zone.owner.note(in: zone.zoneID, "body", name: "\(name)-\($0)") }
        for start in stride(from: 0, to: count, by: 400) {
            let results = try await zone.owner.own.modifyRecords(saving: Array(notes[start...].prefix(400)))
            for result in results.saveResults.values { _ = try result.get() }
        }
    }

    /// Nobody but its author can mend it, and who may only read cannot delete it.
    @Test func aRecordThatOpensForNobodyKeepsNothingFromComing() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        try await Insider(person: bob, zone: zone.id(for: bob)).signWithRandomKey("bad")
        try await save(401, zone)
        let (device, network) = try joined(carol)
        let (engine, theirs) = (device.engine, zone.id(for: carol))
        try await engine.fetchChanges()
        #expect(device.disk.notes.keys.count { $0.recordName.hasPrefix("note-") } == 401)
        #expect(device.app.unopened.map(\.recordID) == [zone.recordID("bad", for: carol)])
        let told = try #require(device.app.unopened.first?.error)
        #expect(told.code == .integrityFailure)
        #expect(told.reason.contains(bob.name))
        #expect(device.app.events.contains("didFetch \(theirs.zoneName)"))
        #expect(try await device.container.violations().contains { $0.recordName == "bad" })
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        // It never opens as it is: nothing waits for that, and nothing is told again.
        #expect(engine.state.content.zones[theirs]?.awaiting.isEmpty == true)
        network.forget()
        try await engine.fetchChanges()
        #expect(device.app.unopened.count == 1)
        #expect(network.sent(to: "records/lookup").isEmpty)
        // Mended, it is a record like others.
        _ = try await ann.own.modifyRecords(
            saving: [ann.note(in: zone.zoneID, "mended", name: "bad")], savePolicy: .allKeys)
        try await engine.fetchChanges()
        #expect(device.disk.notes.keys.contains(zone.recordID("bad", for: carol)))
    }

    /// The key comes later than what is under it: by their names, or all of the zone where they are too many.
    @Test(arguments: [3, 402]) func whatWaitsForAKeyComesWithIt(count: Int) async throws {
        let (ann, carol) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(carol, .readOnly)])
        try await save(count, zone)
        let (device, network) = try joined(carol)
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            for index in answer.rosters.indices { answer.rosters[index].grants = [] }
        }
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.isEmpty)
        #expect(Set(device.app.unopened.map(\.recordID.recordName)).count == count + 1)
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        // What comes after it is told all the same, and no other zone is kept waiting.
        try await save(1, zone, named: "later")
        let theirs = zone.id(for: carol)
        #expect(await failure { try await device.engine.fetchChanges() } == nil)
        #expect(device.app.unopened.contains { $0.recordID.recordName == "later-0" })
        network.beHonest()
        network.forget()
        try device.restart()
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.count { $0.recordName.hasPrefix("note-") } == count)
        #expect(device.disk.notes.keys.contains(zone.recordID("later-0", for: carol)))
        #expect(network.sent(to: "records/lookup").isEmpty == (count > 400))
        #expect(device.engine.state.content.zones[theirs]?.awaiting.isEmpty == true)
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    /// Bob opens the key that is due, gives Carol something that opens nothing, and writes under it. The next key opens
    /// that one as well.
    @Test func whatABadGrantKeptFromAMemberComesWithTheNextKey() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let dave = try await Person()
        let zone = try await SharedZone(
            of: ann, with: [(bob, .readWrite), (carol, .readOnly), (dave, .readOnly)])
        let (device, network) = try joined(carol)
        try await device.engine.fetchChanges()
        try await dave.shared.leaveShare(of: zone.id(for: dave))
        try await Insider(person: bob, zone: zone.id(for: bob)).openKey(cheating: [carol])
        for name in ["secret", "gone"] {
            try await bob.shared.save(bob.note(in: zone.id(for: bob), "body", name: name))
        }
        try await device.engine.fetchChanges()
        #expect(Set(device.app.unopened.map(\.recordID.recordName)) == ["secret", "gone"])
        // Until the key is there nothing is looked up.
        network.forget()
        try await device.engine.fetchChanges()
        #expect(network.sent(to: "records/lookup").isEmpty)
        try await ann.own.deleteRecord(withID: zone.recordID("gone", for: ann))
        try await ann.own.rotateKeys(of: zone.zoneID)
        try device.restart()
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.contains(zone.recordID("secret", for: carol)))
        #expect(!device.disk.notes.keys.contains(zone.recordID("gone", for: carol)))
        #expect(device.engine.state.content.zones[zone.id(for: carol)]?.awaiting.isEmpty == true)
    }

    /// As it may be with a key of another life: it is read once with the key, and not at each fetch again.
    @Test func whatDoesNotOpenWithItsKeyWaitsForNothing() throws {
        let key = EpochKeyName(scopeID: Data([1]), epoch: 0)
        let zone = RecordZone(zoneName: "zone").zoneID
        let error = SealKitError(.integrityFailure, "no key").ofUnopened(.lackOf(key))
        let event = SyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [], deletions: [],
            unopened: [.init(recordID: Record.ID(recordName: "note", zoneID: zone), error: error)])
        var state = SyncEngine.State.Zone()
        state.awaiting[key] = .nothing
        state.note(event)
        #expect(state.awaiting == [key: .nothing])
        #expect(SyncEngine.State.Awaiting(recordNames: state.awaiting[key]?.recordNames?.sorted()) == .nothing)
        state.noteEnd()
        #expect(state.awaiting.isEmpty)
        // What is changed later is looked up by its name.
        state.note(event)
        #expect(state.awaiting == [key: .records(["note"])])
    }

    /// Of a share that has ended nobody gets another key: that is no reason to look at anything again.
    @Test func whatWaitsForAKeyOfAnEndedShareWaitsNoMore() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let root = try await ann.own.save(ann.note(in: zone, "body", name: "list"))
        let share = try await ann.own.save(Share(rootRecord: root), rootRecord: root).share
        let network = try HostileNetwork(ann.server)
        let device = try SyncDevice(ann, network: { _ in network })
        network.inject(
            .rewriting(nil, "rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { call, answer in
                let asked = try Sealkit_V1_FetchRostersRequest(serializedBytes: call.body)
                for (index, roster) in asked.rosters.enumerated() where !roster.shareRecordName.isEmpty {
                    answer.rosters[index].grants = []
                }
            })
        try await device.engine.fetchChanges()
        #expect(device.app.unopened.contains { $0.recordID == root.recordID })
        #expect(device.engine.state.content.zones[zone]?.awaiting.isEmpty == false)
        try await ann.own.deleteRecord(withID: share.recordID)
        network.forget()
        try await device.engine.fetchChanges()
        #expect(network.sent(to: "records/lookup").isEmpty)
        #expect(device.engine.state.content.zones[zone]?.awaiting.isEmpty == true)
        #expect(device.disk.notes.keys.contains(root.recordID))
    }

    /// The bytes are those that were signed for, and open to nothing: their author made it so.
    @Test func anAssetThatItsAuthorSealedWronglyKeepsNothingFromComing() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        let temporary = try TemporaryFolder()
        let file = temporary.url.appendingPathComponent("file")
        try pattern(100_000).write(to: file)
        try await Insider(person: bob, zone: zone.id(for: bob)).signWithAnotherFileKey("bad", file)
        try await save(1, zone)
        let (device, _) = try joined(carol)
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.contains(zone.recordID("note-0", for: carol)))
        #expect(device.app.unopened.map(\.recordID) == [zone.recordID("bad", for: carol)])
        #expect(device.app.unopened.first?.error.reason.contains(bob.name) == true)
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    /// Bytes that are not those that were signed for are the server's doing, whatever else it may be.
    @Test func anAssetThatIsNotWhatWasSignedForEndsTheFetch() async throws {
        let (ann, carol) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(carol, .readOnly)])
        let temporary = try TemporaryFolder()
        let file = temporary.url.appendingPathComponent("file")
        try pattern(100_000).write(to: file)
        var record = ann.note(in: zone.zoneID, "body", name: "picture")
        record["file"] = Asset(fileURL: file)
        try await ann.own.save(record)
        let (device, network) = try joined(carol)
        network.inject(.alteredChunks(.flipped))
        #expect(await failure { try await device.engine.fetchChanges() } == .integrityFailure)
        #expect(device.app.unopened.isEmpty)
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges == [zone.id(for: carol)])
        network.beHonest()
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.contains(zone.recordID("picture", for: carol)))
    }
}

extension SyncApp {
    /// What it was told that does not open, in order.
    fileprivate var unopened: [SyncEngine.Event.FetchedRecordZoneChanges.UnopenedRecord] {
        handledEvents.flatMap { event -> [SyncEngine.Event.FetchedRecordZoneChanges.UnopenedRecord] in
            if case .fetchedRecordZoneChanges(let changes) = event { changes.unopened } else { [] }
        }
    }
}
