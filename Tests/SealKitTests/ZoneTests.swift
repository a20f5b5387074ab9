import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct ZoneTests {
    @Test func theDefaultZoneIsThereWithoutBeingMade() async throws {
        let ann = try await Person()
        let id = Record.ID(recordName: "first")
        // Reading before anybody wrote: it is empty, not missing.
        #expect(await failure { _ = try await ann.own.record(for: id) } == .unknownItem)
        try await ann.own.deleteRecord(withID: id)
        var note = Record(recordType: "Note", recordID: id)
        note.encryptedValues["body"] = "in the default zone"
        try await ann.own.save(note)
        #expect(try await ann.onFreshDevice().own.record(for: id).encryptedValues["body"] == "in the default zone")
        #expect(try await ann.own.recordZone(for: .default).capabilities == [])
        // It saves each record by itself, whatever was asked for.
        let results = try await ann.own.modifyRecords(saving: [
            note, Record(recordType: "Note", recordID: Record.ID(recordName: "second")),
        ])
        #expect(results.saveResults[id]?.failureCode == .serverRecordChanged)
        #expect(results.saveResults[Record.ID(recordName: "second")]?.failureCode == nil)
        // Two devices that write first at once.
        let bob = try await Person()
        let devices = [try bob.onFreshDevice(), try bob.onFreshDevice()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, device) in devices.enumerated() {
                group.addTask {
                    try await device.own.save(Record(recordType: "Note", recordID: Record.ID(recordName: "n\(index)")))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await bob.own.recordZoneChanges(inZoneWith: .default).modifications.count == 2)
        #expect(
            await failure { try await bob.own.save(bob.note(in: RecordZone.ID(zoneName: "custom"), "x")) }
                == .zoneNotFound)
    }

    /// By another device, or by this one, while the server's word that it is gone is held against its roster.
    @Test(arguments: [false, true]) func aZoneThatIsMadeAgainMeanwhileIsNoLie(here: Bool) async throws {
        let ann = try await Person()
        let other = try ann.onFreshDevice()
        let zone = try await ann.makeZone()
        let this = LockedValue<Person?>(nil)
        let isNext = Countdown(1)
        let device = try ann.through(
            RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
                guard this.value != nil, path.hasSuffix("zones/changes"), isNext.isLeft() else { return body }
                try await (here ? this.value : other)?.own.save(RecordZone(zoneID: zone))
                return body
            })
        let token = try await device.own.databaseChanges().changeToken
        _ = try await device.own.recordZoneChanges(inZoneWith: zone)
        try await other.own.deleteRecordZone(withID: zone)
        this.change { $0 = device }
        let changes = try await device.own.databaseChanges(since: token)
        #expect(changes.deletions.map(\.zoneID) == [zone])
        let next = try await device.own.databaseChanges(since: changes.changeToken)
        #expect(next.modifications.map(\.zoneID) == [zone])
        #expect(try await device.container.violations().isEmpty)
    }

    @Test func aZoneThatIsSharedAgainMeanwhileIsNoLie() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        let this = LockedValue<Person?>(nil)
        let isNext = Countdown(1)
        let device = try bob.through(
            RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
                guard let device = this.value, path.hasSuffix("zones/changes"), isNext.isLeft() else { return body }
                let share = try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(device)) }
                try await device.join(share.url)
                return body
            })
        let token = try await device.shared.databaseChanges().changeToken
        try await zone.remove(bob)
        this.change { $0 = device }
        let changes = try await device.shared.databaseChanges(since: token)
        #expect(changes.deletions.map(\.zoneID) == [zone.id(for: bob)])
        #expect(try await device.container.violations().isEmpty)
    }

    /// Its first writer opens it while it is read.
    @Test func theDefaultZoneIsReadWhileItIsOpened() async throws {
        let ann = try await Person()
        let this = LockedValue<Person?>(nil)
        let isNext = Countdown(1)
        let device = try ann.through(
            RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
                guard let device = this.value, path.hasSuffix("rosters/fetch"), isNext.isLeft() else { return body }
                try await device.own.save(device.note(in: .default, "first", name: "first"))
                return body
            })
        this.change { $0 = device }
        let absent = Record.ID(recordName: "absent", zoneID: .default)
        #expect(await failure { _ = try await device.own.record(for: absent) } == .unknownItem)
        #expect(try await device.container.violations().isEmpty)
    }

    @Test func aZoneIsEncryptedAsItWasMade() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        var wanted = RecordZone(zoneName: "diary")
        #expect(wanted.encryptionScope == .perRecord)
        wanted.encryptionScope = .perZone
        let diary = try await ann.own.save(wanted)
        #expect(diary.encryptionScope == .perZone)
        #expect(diary.capabilities == [.fetchChanges, .atomic, .zoneWideSharing])
        // Another device reads it off the signed roster, and so do participants; whoever asks for no more gets what
        // there is.
        let other = try ann.onFreshDevice()
        #expect(try await other.own.recordZone(for: diary.zoneID).encryptionScope == .perZone)
        #expect(try await other.own.save(RecordZone(zoneName: "diary")).encryptionScope == .perZone)
        var share = Share(recordZoneID: diary.zoneID)
        share.addParticipant(try await ann.participant(bob))
        let joined = try await bob.join(try await ann.own.save(share).url)
        #expect(try await bob.shared.recordZone(for: joined).encryptionScope == .perZone)
        // It cannot be changed, and the default zone has none but its own.
        let plain = try await ann.makeZone()
        wanted = RecordZone(zoneID: plain)
        wanted.encryptionScope = .perZone
        #expect(await failure { try await ann.own.save(wanted) } == .invalidArguments)
        #expect(try await ann.own.recordZone(for: plain).encryptionScope == .perRecord)
        wanted = .default()
        wanted.encryptionScope = .perZone
        #expect(await failure { try await ann.own.save(wanted) } == .invalidArguments)
        // Made again after its deletion it is what it is made as then.
        try await ann.own.deleteRecordZone(withID: diary.zoneID)
        #expect(try await ann.own.save(RecordZone(zoneName: "diary")).encryptionScope == .perRecord)
    }

    @Test func aZoneUnderItsOwnKeysAloneHasNoShareOfARecord() async throws {
        let ann = try await Person()
        var wanted = RecordZone(zoneName: "diary")
        wanted.encryptionScope = .perZone
        let zone = try await ann.own.save(wanted).zoneID
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        let (device, network) = try ann.behindAttacker()
        #expect(
            await failure { try await device.own.save(Share(rootRecord: list), rootRecord: list) } == .invalidArguments)
        #expect(network.sent(to: "records/modify").isEmpty)
        #expect(try await ann.own.record(for: list.recordID).share == nil)
    }

    /// Another client of the owner's, with the server's help, has opened one all the same.
    @Test func aShareInAZoneUnderItsOwnKeysAloneIsNotBelieved() async throws {
        let ann = try await Person()
        var wanted = RecordZone(zoneName: "diary")
        wanted.encryptionScope = .perZone
        let zone = try await ann.own.save(wanted).zoneID
        let scope = try await ann.keeper(of: zone).refresh().scope.ofShare("Share-1")
        var random = SystemRandom()
        let draft = try RosterAuthor<XWingHPKE>(user: ann.userID, keys: ann.identity.keys).open(
            scope, following: nil, encryptionScope: .perRecord, incarnations: Incarnations(zone: 1, scope: 1),
            rootRecordName: "list", identity: ann.identity.chain, time: 1, random: &random)
        let view = ZoneView(
            roster: try Roster(opening: draft.entry, scope: scope), keys: [0: try #require(draft.epochKey)],
            user: ann.userID, lacksGrants: false)
        let record = try Forgery.record(
            Forgery.statement(by: ann, view, name: "list"), [("body", .encrypted(.string("shared")))], by: ann,
            key: view.currentKey())
        let (device, network) = try ann.behindAttacker()
        network.show([record], citing: [view])
        network.lie { path, request, response in
            guard path.hasSuffix("rosters/fetch"),
                try Sealkit_V1_FetchRostersRequest(serializedBytes: request).rosters.first?.shareRecordName == "Share-1"
            else { return }
            let tail = Sealkit_V1_RosterTail.with {
                $0.zone = scope.zoneIDOnWire
                $0.shareRecordName = scope.shareRecordName
                $0.entries = [draft.entry.wire]
                $0.grants = draft.grants.map(\.wire)
                $0.headSequence = view.roster.sequence
                $0.head = Data(view.roster.head.bytes)
            }
            response = TransportResponse(
                status: 200, body: try Sealkit_V1_FetchRostersResponse.with { $0.rosters = [tail] }.serializedData())
        }
        let id = Record.ID(recordName: "list", zoneID: zone)
        await expectRefused(.integrityFailure) { _ = try await device.own.record(for: id) }
        #expect(try await device.container.violations().contains { $0.recordName == "list" })
    }

    @Test func zonesAreFetchedEachWithItsResult() async throws {
        let ann = try await Person()
        let (one, two) = (try await ann.makeZone(), try await ann.makeZone())
        let absent = RecordZone.ID(zoneName: "absent")
        let found = try await ann.own.recordZones(for: [one, absent, two])
        #expect(try found[one]?.get().capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
        #expect(found[absent]?.failureCode == .zoneNotFound)
        #expect(found[two]?.failureCode == nil)
        #expect(found.count == 3)
        #expect(try await ann.own.recordZones(for: []).isEmpty)
        let changed = try await ann.own.modifyRecordZones(saving: [RecordZone(zoneID: one)], deleting: [two, absent])
        #expect(changed.saveResults[one]?.failureCode == nil)
        #expect(changed.deleteResults[two]?.failureCode == nil)
        #expect(changed.deleteResults[absent]?.failureCode == .zoneNotFound)
    }

    /// Of several deletions that a server claims each has to be shown, whatever stands before it.
    @Test func everyDeletionOfAListIsHeldAgainstItsZone() async throws {
        let ann = try await Person()
        let (gone, kept) = (try await ann.makeZone(), try await ann.makeZone())
        let token = try await ann.own.databaseChanges().changeToken
        try await ann.own.deleteRecordZone(withID: gone)
        let deceived = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("zones/changes") else { return body }
                var answer = try Sealkit_V1_DatabaseChangesResponse(serializedBytes: body)
                guard var lie = answer.deletions.first else { return body }
                lie.zoneID.zoneName = kept.zoneName
                answer.deletions.append(lie)
                return try answer.serializedData()
            })
        #expect(await failure { _ = try await deceived.own.databaseChanges(since: token) } == .rollback)
        #expect(try await ann.own.databaseChanges(since: token).deletions.map(\.zoneID) == [gone])
    }

    /// #36, and what a device that still writes there is told.
    @Test func s36_aPurgedZoneAndAResetOneAreTold() async throws {
        let ann = try await Person()
        let other = try ann.onFreshDevice()
        let (purged, reset, gone) = (try await ann.makeZone(), try await ann.makeZone(), try await ann.makeZone())
        let token = try await other.own.databaseChanges().changeToken
        for zone in [purged, reset, gone] { try await other.own.save(other.note(in: zone, "x", name: "note")) }
        try await ann.own.deleteRecordZone(withID: purged, reason: .purged)
        try await ann.own.deleteRecordZone(withID: reset, reason: .encryptedDataReset)
        try await ann.own.deleteRecordZone(withID: gone)
        #expect(
            await failure { try await ann.own.deleteRecordZone(withID: gone, reason: .unshared) } == .invalidArguments)
        // A device that has not heard of it, and one that has.
        #expect(await failure { try await other.own.save(other.note(in: purged, "y")) } == .userDeletedZone)
        let changes = try await other.own.databaseChanges(since: token)
        #expect(
            Dictionary(uniqueKeysWithValues: changes.deletions.map { ($0.zoneID, $0.reason) }) == [
                purged: .purged, reset: .encryptedDataReset, gone: .deleted,
            ])
        for (zone, code) in [
            (purged, SealKitError.Code.userDeletedZone), (reset, .zoneNotFound), (gone, .zoneNotFound),
        ] {
            for device in [ann, other, try ann.onFreshDevice()] {
                #expect(await failure { try await device.own.save(device.note(in: zone, "z")) } == code)
                #expect(
                    await failure { _ = try await device.own.record(for: Record.ID(recordName: "note", zoneID: zone)) }
                        == .zoneNotFound)
            }
        }
        // Made again, it is a zone like any other.
        try await ann.own.save(RecordZone(zoneID: purged))
        try await other.own.save(other.note(in: purged, "again"))
    }

    /// A device that knows the zone's former life only deletes what is in the new one, not nothing.
    @Test func aDeviceThatHasNotHeardOfTheZonesNewLifeDeletesInIt() async throws {
        let ann = try await Person()
        let other = try ann.onFreshDevice()
        let zone = try await ann.makeZone()
        let note = try await other.own.save(other.note(in: zone, "before", name: "note"))
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        _ = try await ann.own.modifyRecords(saving: [
            ann.note(in: zone, "after", name: "note"), ann.note(in: zone, "after", name: "second"),
        ])
        let results = try await other.own.modifyRecords(
            saving: [other.note(in: zone, "new", name: "third")],
            deleting: [note.recordID, Record.ID(recordName: "second", zoneID: zone)])
        #expect(results.saveResults.values.allSatisfy { $0.failureCode == nil })
        #expect(results.deleteResults.values.allSatisfy { $0.failureCode == nil })
        let changes = try await ann.onFreshDevice().own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map(\.recordID.recordName) == ["third"])
        #expect(Set(changes.deletions.map(\.recordID.recordName)) == ["note", "second"])
    }

    /// With nothing else to do there, it hears of the new life by looking up what it is to delete.
    @Test func aDeletionAloneReachesTheZonesNewLife() async throws {
        let ann = try await Person()
        let other = try ann.onFreshDevice()
        let zone = try await ann.makeZone()
        try await other.own.save(other.note(in: zone, "before", name: "note"))
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        let note = try await ann.own.save(ann.note(in: zone, "after", name: "note"))
        try await other.own.deleteRecord(withID: note.recordID)
        #expect(await failure { _ = try await ann.own.record(for: note.recordID) } == .unknownItem)
    }

    /// An app's copy may be of a newer life of the zone than its container has heard of: from another container, or an
    /// archive.
    @Test(arguments: [false, true]) func aCopyOfTheZonesNewLifeIsSavedThere(isArchived: Bool) async throws {
        let ann = try await Person()
        let other = try ann.onFreshDevice()
        let zone = try await ann.makeZone()
        try await other.own.save(other.note(in: zone, "before", name: "note"))
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneID: zone))
        var copy = try await ann.own.save(ann.note(in: zone, "after", name: "note"))
        if isArchived { copy = try Record(systemFields: copy.encodeSystemFields()) }
        copy.encryptedValues["body"] = "edited"
        try await other.own.save(copy)
        #expect(try await ann.own.record(for: copy.recordID).encryptedValues["body"] == "edited")
    }

    @Test func changesOfManyZonesComeInOneCall() async throws {
        let ann = try await Person()
        let zones = [try await ann.makeZone(), try await ann.makeZone()]
        let absent = RecordZone.ID(zoneName: "absent")
        for zone in zones {
            var note = ann.note(in: zone, "body")
            note["color"] = "blue"
            try await ann.own.save(note)
        }
        typealias Configuration = Database.ZoneChangesConfiguration
        let first = try await ann.own.recordZoneChanges(
            inZonesWith: [
                zones[0]: Configuration(), zones[1]: Configuration(desiredKeys: ["color"]), absent: Configuration(),
            ])
        #expect(first[absent]?.failureCode == .zoneNotFound)
        #expect(first.count == 3)
        let whole = try #require(try first[zones[0]]?.get())
        let some = try #require(try first[zones[1]]?.get())
        #expect(try whole.modifications.map { try $0.result.get().omittedKeys } == [[]])
        #expect(try some.modifications.map { try $0.result.get().omittedKeys } == [["body"]])
        try await ann.own.deleteRecord(withID: whole.modifications[0].recordID)
        let next = try await ann.own.recordZoneChanges(
            inZonesWith: [
                zones[0]: Configuration(previousServerChangeToken: whole.changeToken, resultsLimit: 1),
                zones[1]: Configuration(previousServerChangeToken: whole.changeToken),
            ])
        #expect(try next[zones[0]]?.get().deletions.count == 1)
        #expect(next[zones[1]]?.failureCode == .changeTokenExpired)
        #expect(try await ann.own.recordZoneChanges(inZonesWith: [:]).isEmpty)
    }

    /// Two readings that have come to the same place, of which one is whole and the other goes on from its beginning:
    /// each goes on by itself, and nothing comes again.
    @Test func aFinishedReadingAndOneUnderWayAreKeptApart() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for name in ["a", "b"] { try await ann.own.save(ann.note(in: zone, name, name: name)) }
        let first = try await ann.own.recordZoneChanges(inZoneWith: zone, resultsLimit: 1)
        #expect(first.moreComing)
        let finished = try await ann.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        #expect(!finished.moreComing)
        try await ann.own.save(ann.note(in: zone, "c", name: "c"))
        let underWay = try await ann.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken, resultsLimit: 1)
        #expect(underWay.moreComing)
        let next = try await ann.own.recordZoneChanges(inZoneWith: zone, since: finished.changeToken)
        #expect(next.modifications.map(\.recordID.recordName) == ["c"])
        let end = try await ann.own.recordZoneChanges(inZoneWith: zone, since: underWay.changeToken)
        #expect(end.modifications.first?.recordID.recordName == "c")
        #expect(!end.moreComing)
    }
}
