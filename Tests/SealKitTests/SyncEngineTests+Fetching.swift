import Foundation
import SealKitTesting
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

extension SyncEngineTests {
    @Test func aFetchIsToldInOrder() async throws {
        let ann = try await Person()
        let device = try SyncDevice(ann)
        try await ann.own.save(RecordZone(zoneID: zone))
        try await ann.own.save(ann.note(in: zone, "body", name: "one"))
        try await device.engine.fetchChanges()
        #expect(
            device.app.events == [
                "signIn", "stateUpdate", "willFetch", "zones [\"notes\"] []", "stateUpdate", "willFetch notes",
                "records [\"one\"] []",
                "stateUpdate", "didFetch notes", "didFetch",
            ])
        // Nothing new: nothing of it is told.
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.filter { $0 != "stateUpdate" } == ["willFetch", "didFetch"])
        try await ann.own.deleteRecord(withID: device.note("one", in: zone))
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.contains("records [] [\"one\"]"))
        #expect(device.disk.notes.isEmpty)
    }

    @Test func aZonesEndIsToldBeforeItsNextLife() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        for name in ["one", "two"] { device.app.write("first life", to: device.note(name, in: zone), device.engine) }
        try await device.engine.sendChanges()
        try await device.engine.fetchChanges()
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        try await ann.own.save(ann.note(in: zone, "second life", name: "three"))
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(
            device.app.events.filter { $0.hasPrefix("zones") || $0.hasPrefix("records") } == [
                "zones [] [\"notes: deleted\"]", "zones [\"notes\"] []", "records [\"three\"] []",
            ])
        #expect(device.disk.notes.keys.map(\.recordName) == ["three"])
    }

    /// The device has what it sent, though it never fetched the zone.
    @Test func theEndOfAZoneThatWasOnlySentToIsTold() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        let device = try SyncDevice(ann)
        device.app.write("first life", to: device.note("note", in: zone), device.engine)
        try await device.engine.sendChanges()
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        try await device.engine.fetchChanges()
        #expect(device.app.events.contains("zones [] [\"notes: deleted\"]"))
        #expect(device.disk.notes.isEmpty)
    }

    /// Notes were written before anybody was signed in, in a zone that another device has deleted long ago.
    @Test func anEndThatIsLongPastTakesNothingThatWasNeverSent() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        try await ann.own.deleteRecordZone(withID: zone)
        let device = try SyncDevice(ann, signedIn: false)
        let id = device.note("note", in: zone)
        device.app.make(zone, device.engine)
        device.app.write("new", to: id, device.engine)
        try device.signIn(ann)
        await device.sync()
        #expect(device.app.events.contains("signIn"))
        #expect(device.disk.notes[id] == ["new"])
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["new"])
    }

    @Test func aZoneThatWasDeletedHereAndMadeAgainDoesNotEndTwice() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        device.app.delete(zone, device.engine)
        try await device.engine.sendChanges()
        let id = device.note("note", in: zone)
        device.app.make(zone, device.engine)
        device.app.write("second life", to: id, device.engine)
        await device.sync()
        #expect(device.disk.notes[id] == ["second life"])
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["second life"])
    }

    /// What came of it now nobody would remove when the zone is made again in the place of the deleted one.
    @Test func whatIsToBeDeletedIsNotFetched() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        device.app.delete(zone, device.engine)
        try await ann.own.save(ann.note(in: zone, "body", name: "late"))
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.isEmpty)
        try await device.engine.sendChanges()
        try await ann.own.save(RecordZone(zoneID: zone))
        try await ann.own.save(ann.note(in: zone, "body", name: "second life"))
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.map(\.recordName) == ["second life"])
        // Taken back, it comes.
        device.app.delete(zone, device.engine)
        try await ann.own.save(ann.note(in: zone, "body", name: "kept"))
        try await device.engine.fetchChanges()
        device.engine.state.remove(pendingDatabaseChanges: [.deleteZone(zone)])
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.keys.map(\.recordName) == ["kept"])
    }

    @Test func purgesAndResetsAreToldAsSuch() async throws {
        let ann = try await Person()
        let (purged, reset) = (RecordZone.ID(zoneName: "purged"), RecordZone.ID(zoneName: "reset"))
        let device = try await device(ann, making: [purged, reset])
        for zone in [purged, reset] { device.app.write("kept here", to: device.note("note", in: zone), device.engine) }
        try await device.engine.sendChanges()
        try await ann.own.deleteRecordZone(withID: purged, reason: .purged)
        try await ann.own.deleteRecordZone(withID: reset, reason: .encryptedDataReset)
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.contains("zones [] [\"purged: purged\", \"reset: encryptedDataReset\"]"))
        #expect(device.disk.notes.keys.map(\.zoneID) == [reset])
        // The app has added all of it.
        try await device.engine.sendChanges()
        let again = try await ann.onFreshDevice().own.record(for: device.note("note", in: reset))
        #expect(again.encryptedValues["words"] == ["kept here"])
        #expect(!(try await ann.own.allRecordZones().map(\.zoneID).contains(purged)))
    }

    @Test func anExpiredTokenOfTheDatabaseBeginsAnew() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneName: "new"))
        device.transport.fail("zones/changes", SealKitError(.changeTokenExpired, "too old"))
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.contains("zones [\"new\"] [\"notes: deleted\"]"))
    }

    @Test func theWantedZonesAreFetchedThePrioritizedFirst() async throws {
        let ann = try await Person()
        let zones = ["a", "b", "c"].map { RecordZone.ID(zoneName: $0) }
        for zone in zones {
            try await ann.own.save(RecordZone(zoneID: zone))
            try await ann.own.save(ann.note(in: zone, "body", name: zone.zoneName))
        }
        let device = try SyncDevice(ann)
        var options = SyncEngine.FetchChangesOptions(scope: .allExcluding([zones[1]]))
        options.prioritizedZoneIDs = [zones[2], zones[1], zones[2]]
        try await device.engine.fetchChanges(options)
        #expect(device.app.events.filter { $0.hasPrefix("records") } == ["records [\"c\"] []", "records [\"a\"] []"])
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges == [zones[1]])
        try await device.engine.fetchChanges(.init(scope: .zoneIDs([zones[1]])))
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        #expect(device.disk.notes.count == 3)
    }

    /// A zone whose feed has two parts, of which the second is asked for while the first is read. Where it does not
    /// verify, the zone's place stays before it.
    @Test func aPartThatWasAskedForAheadIsReadLikeAnother() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        let notes = (0..<440).map { ann.note(in: zone, "body", name: "note-\($0)") }
        for part in [notes.prefix(400), notes.dropFirst(400)] {
            let results = try await ann.own.modifyRecords(saving: Array(part)).saveResults
            for result in results.values { _ = try result.get() }
        }
        let network = try HostileNetwork(ann.server)
        let device = try SyncDevice(ann, network: { _ in network })
        let first = Countdown(1)
        network.rewrite("changes/zone", Sealkit_V1_ZonesRecordChangesResponse.self) { answer in
            guard !first.isLeft(), !answer.zones.isEmpty, !answer.zones[0].changes.records.isEmpty else { return }
            answer.zones[0].changes.records[0].proof.signature = Data(repeating: 1, count: 64)
        }
        await #expect(throws: SealKitError.self) { try await device.engine.fetchChanges() }
        #expect(device.disk.notes.count == 439)
        #expect(network.sent(to: "changes/zone").count == 2)
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges == [zone])
        network.beHonest()
        network.forget()
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.count == 440)
        // From its place, and not from the beginning.
        #expect(network.sent(to: "changes/zone").count == 1)
    }

    @Test func moreZonesThanOneRequestAsksForAreFetchedOnceEach() async throws {
        let ann = try await Person()
        let names = (0..<25).map { "zone-\($0)" }
        for name in names {
            try await ann.own.save(RecordZone(zoneName: name))
            try await ann.own.save(ann.note(in: RecordZone.ID(zoneName: name), "body", name: name))
        }
        let device = try SyncDevice(ann)
        try await device.engine.fetchChanges()
        #expect(Set(device.disk.notes.keys.map(\.recordName)) == Set(names))
        #expect(
            device.app.events.filter { $0.hasPrefix("didFetch zone-") }.sorted()
                == names.map { "didFetch \($0)" }.sorted())
        #expect(device.transport.calls.filter { $0.hasSuffix("changes/zone") }.count == 2)
    }

    /// What does not verify is told, and not passed over: the next fetch begins there.
    @Test func aRecordThatDoesNotVerifyEndsTheFetchOfItsZone() async throws {
        let ann = try await Person()
        let other = RecordZone.ID(zoneName: "other")
        for zone in [zone, other] { try await ann.own.save(RecordZone(zoneID: zone)) }
        for name in ["good", "bad"] { try await ann.own.save(ann.note(in: zone, "body", name: name)) }
        try await ann.own.save(ann.note(in: other, "body", name: "elsewhere"))
        let isLying = LockedValue(true)
        let device = try SyncDevice(
            ann,
            network: { next in
                RewritingTransport(next) { path, body in
                    guard isLying.value, path.hasSuffix("changes/zone") else { return body }
                    var answer = try Sealkit_V1_ZonesRecordChangesResponse(serializedBytes: body)
                    for zone in answer.zones.indices {
                        for record in answer.zones[zone].changes.records.indices
                        where answer.zones[zone].changes.records[record].recordName == "bad" {
                            answer.zones[zone].changes.records[record].fields = []
                        }
                    }
                    return try answer.serializedData()
                }
            })
        #expect(await failure { try await device.engine.fetchChanges() } == .integrityFailure)
        #expect(device.app.events.contains("didFetch notes integrityFailure"))
        #expect(device.app.events.contains("didFetch other"))
        #expect(Set(device.disk.notes.keys.map(\.recordName)) == ["good", "elsewhere"])
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges == [zone])
        #expect(device.engine.state.content.zones[zone]?.token == nil)
        // After the app was started again it is told again, though the database has nothing new.
        try device.restart()
        #expect(await failure { try await device.engine.fetchChanges() } == .integrityFailure)
        #expect(device.app.events.contains("didFetch notes integrityFailure"))
        isLying.change { $0 = false }
        try await device.engine.fetchChanges()
        #expect(Set(device.disk.notes.keys.map(\.recordName)) == ["good", "bad", "elsewhere"])
        #expect(device.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test func aZoneThatTheServerOnlySaysIsGoneIsNoDeletion() async throws {
        let ann = try await Person()
        let isLying = LockedValue(false)
        let device = try SyncDevice(
            ann,
            network: { next in
                RewritingTransport(next) { path, body in
                    guard isLying.value, path.hasSuffix("zones/changes") else { return body }
                    var answer = try Sealkit_V1_DatabaseChangesResponse(serializedBytes: body)
                    answer.deletions = answer.modifications.map { zone in
                        .with {
                            $0.zoneID = zone.zoneID
                            $0.reason = 1
                        }
                    }
                    answer.modifications = []
                    return try answer.serializedData()
                }
            })
        device.app.make(zone, device.engine)
        device.app.write("word", to: device.note("note", in: zone), device.engine)
        try await device.engine.sendChanges()
        isLying.change { $0 = true }
        #expect(await failure { try await device.engine.fetchChanges() } == .rollback)
        #expect(device.disk.notes.count == 1)
        #expect(device.engine.state.content.databaseToken == nil)
    }

    // MARK: The shared database

    @Test func whatOthersShareIsSyncedToo() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let device = try SyncDevice(bob, scope: .shared)
        try await device.engine.fetchChanges()
        let theirs = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let id = device.note(note.recordID.recordName, in: theirs)
        #expect(device.disk.notes.keys.contains(id))
        device.app.write("from bob", to: id, device.engine)
        try await device.engine.sendChanges()
        #expect(try await ann.own.record(for: note.recordID).encryptedValues["words"] == ["from bob"])
        // Zones of others are not one's own to make.
        device.engine.state.add(pendingDatabaseChanges: [.saveZone(RecordZone(zoneName: "mine"))])
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        #expect(device.app.events.contains("sentZones [] [] mine: badDatabase"))
        #expect(device.engine.state.pendingDatabaseChanges.isEmpty)
        try await ann.edit(zone) { share in share.removeParticipant(try #require(share.participant(bob))) }
        device.app.forgetEvents()
        try await device.engine.fetchChanges()
        #expect(device.app.events.contains("zones [] [\"\(zone.zoneName): unshared\"]"))
        #expect(!device.disk.notes.keys.contains(id))
    }

    @Test func thePublicDatabaseIsNotSynced() async throws {
        let ann = try await Person()
        let app = SyncApp(disk: SyncDisk())
        #expect(
            await failure {
                _ = try SyncEngine(
                    .init(container: ann.container, databaseScope: .public, stateSerialization: nil, delegate: app))
            } == .badDatabase)
    }
}
