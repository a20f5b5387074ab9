import Foundation
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// What becomes of a run that cannot go on, and of what was to be done in it.
extension SyncEngineTests {
    // MARK: Another account while a run is under way

    @Test func aBatchThatWasGivenForOneAccountIsNotSentInAnother() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        try await bob.own.save(RecordZone(zoneID: zone))
        let device = try await device(ann)
        let id = device.note("note", in: zone)
        let meanwhile = Meanwhile(device.app) { _, _ in try? device.signIn(bob) }
        var configuration = SyncEngine.Configuration(
            container: device.container, stateSerialization: try device.disk.state, delegate: meanwhile)
        configuration.automaticallySync = false
        let engine = try SyncEngine(configuration)
        device.app.write("ann's", to: id, engine)
        #expect(await failure { try await engine.sendChanges() } == .notAuthenticated)
        #expect(await failure { _ = try await bob.own.record(for: id) } == .unknownItem)
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        #expect(engine.state.content.account == ann.name)
        _ = await failure { try await engine.fetchChanges() }
        #expect(device.app.events.contains("switchAccounts"))
        #expect(await failure { _ = try await bob.own.record(for: id) } == .unknownItem)
    }

    /// One request is on its way, and others are to follow it.
    @Test func whatFollowsARequestIsNotSentInAnotherAccount() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        try await bob.own.save(RecordZone(zoneID: zone))
        let (device, transport) = try held(ann, "records/modify")
        device.app.make(zone, device.engine)
        for number in 0..<300 { device.app.write("ann's", to: device.note("note-\(number)", in: zone), device.engine) }
        let engine = device.engine
        let sending = Task { await failure { try await engine.sendChanges() } }
        await transport.reached()
        try device.signIn(bob)
        transport.open()
        #expect(await sending.value == .notAuthenticated)
        #expect(try await bob.own.recordZoneChanges(inZoneWith: zone).modifications.isEmpty)
        #expect(!engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(engine.state.content.account == ann.name)
    }

    @Test func aFetchTellsNothingOfAnotherAccount() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let other = RecordZone.ID(zoneName: "other")
        for person in [ann, bob] {
            for zone in [zone, other] { try await person.own.save(RecordZone(zoneID: zone)) }
        }
        try await bob.own.save(bob.note(in: other, "body", name: "bob's"))
        let (device, transport) = try held(ann, "changes/zone")
        let engine = device.engine
        var options = SyncEngine.FetchChangesOptions()
        options.prioritizedZoneIDs = [zone]
        let fetching = Task { [options] in await failure { try await engine.fetchChanges(options) } }
        await transport.reached()
        try device.signIn(bob)
        transport.open()
        let outcome = await fetching.value
        #expect(outcome != nil)
        #expect(device.disk.notes.isEmpty)
        #expect(engine.state.content.account == ann.name)
    }

    /// A device that has such calls held back.
    private func held(_ person: Person, _ suffix: String) throws -> (SyncDevice, HoldingTransport) {
        let holding = LockedValue<HoldingTransport?>(nil)
        let device = try SyncDevice(
            person,
            network: { next in
                let transport = HoldingTransport(next, holding: suffix)
                holding.change { $0 = transport }
                return transport
            })
        return (device, try #require(holding.value))
    }

    // MARK: Failures that say nothing of the changes

    @Test(arguments: [
        SealKitError.Code.serverRejectedRequest, .internalError, .serverNotTrusted, .incompatibleVersion,
        .integrityFailure, .badContainer,
    ]) func whatSaysNothingOfTheChangesLeavesThemPending(code: SealKitError.Code) async throws {
        let ann = try await Person()
        let device = try await device(ann)
        let (one, two) = (device.note("one", in: zone), device.note("two", in: zone))
        for id in [one, two] { device.app.write("word", to: id, device.engine) }
        device.transport.fail("records/modify", SealKitError(code, "said by whoever is in the server's place"))
        let before = device.saves
        let outcome = await failure { try await device.engine.sendChanges() }
        #expect(outcome != nil)
        #expect(device.engine.state.pendingRecordZoneChanges == [.saveRecord(one), .saveRecord(two)])
        // In one request, and not in ever smaller ones.
        #expect(device.saves == before + 1)
        let ends = device.app.ends
        #expect(ends.count == 1)
        #expect(ends != ["didSend"])
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(device.app.ends == ends + ["didSend"])
        #expect(try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.count == 2)
    }

    @Test func aZoneThatSaysNothingOfItselfStaysPending() async throws {
        let device = try await device(try await Person())
        let other = RecordZone.ID(zoneName: "other")
        device.app.make(other, device.engine)
        device.transport.fail("zones/modify", SealKitError(.serverRejectedRequest, "a proxy's page"))
        #expect(await failure { try await device.engine.sendChanges() } != nil)
        #expect(device.engine.state.pendingDatabaseChanges == [.saveZone(RecordZone(zoneID: other))])
        try await device.engine.sendChanges()
        #expect(device.engine.state.pendingDatabaseChanges.isEmpty)
    }

    @Test func oneBadZoneKeepsNoOtherFromBeingMade() async throws {
        let ann = try await Person()
        let device = try await device(ann)
        for name in ["one", "no name\n", "three"] { device.app.make(RecordZone.ID(zoneName: name), device.engine) }
        #expect(await failure { try await device.engine.sendChanges() } == .partialFailure)
        #expect(try await Set(ann.own.allRecordZones().map(\.zoneID.zoneName)).isSuperset(of: ["one", "three"]))
        #expect(device.engine.state.pendingDatabaseChanges.isEmpty)
    }

    // MARK: What does not verify

    /// Which zones there are does not verify: that is told, and what is known to be unfetched is fetched.
    @Test func aLieAboutOneZoneKeepsNoOtherFromBeingFetched() async throws {
        let ann = try await Person()
        let other = RecordZone.ID(zoneName: "other")
        for zone in [zone, other] { try await ann.own.save(RecordZone(zoneID: zone)) }
        try await ann.own.save(ann.note(in: zone, "body", name: "one"))
        try await ann.own.save(ann.note(in: other, "body", name: "elsewhere"))
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
        try await device.engine.fetchChanges(.init(scope: .allExcluding([other])))
        #expect(device.disk.notes.keys.map(\.recordName) == ["one"])
        try await ann.own.save(ann.note(in: zone, "body", name: "two"))
        isLying.change { $0 = true }
        #expect(await failure { try await device.engine.fetchChanges() } == .rollback)
        #expect(device.app.events.contains("didFetch rollback"))
        #expect(Set(device.disk.notes.keys.map(\.recordName)) == ["one", "elsewhere"])
        isLying.change { $0 = false }
        try await device.engine.fetchChanges()
        #expect(device.disk.notes.count == 3)
    }

    // MARK: By itself

    /// Of an engine that has begun with a change that cannot be saved.
    @Test func aChangeThatFailsKeepsNoEngineFromListening() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        let bad = Record.ID(recordName: "no name\n", zoneID: zone)
        let app = SyncApp(disk: SyncDisk())
        app.disk.content.withLock { $0.notes[bad] = SyncDisk.Note(words: ["word"]) }
        let state = SyncEngine.State(nil)
        state.add(pendingRecordZoneChanges: [.saveRecord(bad)])
        // Nothing is added at a sign-in, which would be a reason of its own to sync again.
        state.apply { $0.account = ann.name }
        let engine = try SyncEngine(
            .init(container: ann.container, stateSerialization: state.serialization.0, delegate: app))
        await app.told { if case .didSendChanges(let end) = $0 { end.error?.code == .partialFailure } else { false } }
        // After the fetch, so that it comes by being heard of: of its own changes no device is told.
        try await ann.onFreshDevice().own.save(ann.note(in: zone, "body", name: "heard"))
        await app.told { $0.brings("heard") }
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        await engine.cancelOperations()
    }

    @Test func aZoneThatIsBusyKeepsNothingFromBeingSent() async throws {
        let ann = try await Person()
        let busy = RecordZone.ID(zoneName: "busy")
        for zone in [zone, busy] { try await ann.own.save(RecordZone(zoneID: zone)) }
        let device = try SyncDevice(
            ann,
            network: { next in
                RewritingTransport(next) { path, body in
                    guard path.hasSuffix("changes/zone") else { return body }
                    var answer = try Sealkit_V1_ZonesRecordChangesResponse(serializedBytes: body)
                    for index in answer.zones.indices where answer.zones[index].zone.zoneName == "busy" {
                        answer.zones[index].failure = .with {
                            $0.code = "zoneBusy"
                            $0.reason = "busy"
                        }
                    }
                    return try answer.serializedData()
                }
            })
        let id = device.note("note", in: zone)
        let app = SyncApp(disk: SyncDisk())
        app.disk.content.withLock { $0.notes[id] = SyncDisk.Note(words: ["word"]) }
        let state = SyncEngine.State(nil)
        state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        state.apply { $0.account = ann.name }
        let engine = try SyncEngine(
            .init(container: device.container, stateSerialization: state.serialization.0, delegate: app))
        await app.told { if case .sentRecordZoneChanges(let sent) = $0 { !sent.savedRecords.isEmpty } else { false } }
        #expect(app.events.contains("didFetch busy zoneBusy"))
        #expect(try await ann.own.record(for: id).encryptedValues["words"] == ["word"])
        await engine.cancelOperations()
    }

    /// As when a proxy stands in for the server that is being replaced.
    @Test func aStreamThatEndsIsOpenedAgain() async throws {
        let ann = try await Person()
        try await ann.own.save(RecordZone(zoneID: zone))
        let device = try SyncDevice(ann)
        device.transport.fail("/notifications", SealKitError(.serverRejectedRequest, "a proxy's page"))
        let app = SyncApp(disk: SyncDisk())
        let engine = try SyncEngine(
            .init(container: device.container, stateSerialization: nil, delegate: app), pacing: device.pacing.pacing)
        // After it has listened again, so that no fetch before that brings it.
        await device.transport.called("/notifications", times: 2)
        try await ann.own.save(ann.note(in: zone, "body", name: "heard"))
        await app.told { $0.brings("heard") }
        await engine.cancelOperations()
    }

    // MARK: State

    @Test func anAppsOwnListIsAskedForAtEachChange() {
        let state = SyncEngine.State(nil)
        let told = LockedValue<[Bool]>([])
        state.watch { hasNewChanges in told.change { $0.append(hasNewChanges) } }
        for value in [true, true, false, false] { state.hasPendingUntrackedChanges = value }
        #expect(told.value == [true, true, false])
    }

    @Test func aZoneThatIsToBeMadeIsKnownByItsName() {
        let state = SyncEngine.State(nil)
        var sealed = RecordZone(zoneID: zone)
        sealed.encryptionScope = .perZone
        state.add(pendingDatabaseChanges: [.saveZone(sealed), .deleteZone(RecordZone.ID(zoneName: "other"))])
        state.remove(pendingDatabaseChanges: [
            .saveZone(RecordZone(zoneID: zone)), .saveZone(RecordZone(zoneName: "other")),
        ])
        #expect(state.pendingDatabaseChanges == [.deleteZone(RecordZone.ID(zoneName: "other"))])
    }
}

extension SyncDevice {
    /// Requests that saved records.
    fileprivate var saves: Int { transport.calls.filter { $0.hasSuffix("records/modify") }.count }
}

extension SyncApp {
    /// How each send has ended.
    fileprivate var ends: [String] { events.filter { $0.hasPrefix("didSend") } }
}

extension SyncEngine.Event {
    fileprivate func brings(_ name: String) -> Bool {
        guard case .fetchedRecordZoneChanges(let changes) = self else { return false }
        return changes.modifications.contains { $0.record.recordID.recordName == name }
    }
}
