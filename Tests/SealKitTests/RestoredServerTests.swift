import Foundation
import SealClient
import SealCoding
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What the SDK makes of a server that was started on an old copy of its database.
@Suite(.timeLimit(.minutes(60))) struct RestoredServerTests {
    /// A server that is stopped at the end, with a zone of Ann's that Bob is in.
    func with(
        _ body: (RestorableServer, SharedZone, _ ann: Person, _ bob: Person) async throws -> Void
    ) async throws {
        let server = try RestorableServer()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server.process), try await Person(server.process))
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await ann.own.save(ann.note(in: zone.zoneID, "first", name: "note"))
        try await body(server, zone, ann, bob)
    }

    func body(_ zone: SharedZone, _ name: String = "note", for person: Person) async throws -> String? {
        try await zone.database(of: person).record(for: zone.recordID(name, for: person)).encryptedValues["body"]
    }

    /// Reads until the server has back what it lost: the first answer is still one without.
    private func settle(_ zone: SharedZone, _ person: Person) async throws -> SealKitError? {
        do {
            _ = try await body(zone, for: person)
            return nil
        } catch let error as SealKitError {
            guard error.code == .rollback else { throw error }
            return error
        }
    }

    @Test func anyMemberGivesTheRosterBack() async throws {
        try await with { server, zone, ann, bob in
            let carol = try await Person(server.process)
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol, .readWrite)) }
            try await zone.join(carol)
            try await ann.own.rotateKeys(of: zone.zoneID)
            for person in [ann, bob, carol] { try await zone.view(of: person) }
            let head = try await zone.view(of: ann).roster.head
            try server.restore()

            // Bob comes first. That the server had lost something he is told, and that it has it back.
            let told = try #require(try await settle(zone, bob))
            #expect(told.reason.contains("lost"))
            #expect(told.rosterFork == nil)
            #expect(try await settle(zone, bob) == nil)
            let joined = zone.id(for: bob)
            let kept = try await bob.container.violations().filter { $0.reason.contains("lost") && $0.zoneID == joined }
            #expect(!kept.isEmpty)
            for person in [ann, bob, carol] { #expect(try await zone.view(of: person).roster.head == head) }
            // Carol, whom the server did not know in the zone, reads and writes; her grant she had kept.
            #expect(try await body(zone, for: carol) == "first")
            try await carol.shared.save(carol.note(in: zone.id(for: carol), "from Carol", name: "carol"))
            for person in [ann, bob] { #expect(try await body(zone, "carol", for: person) == "from Carol") }
            // A device that has seen nothing of this gets the same.
            #expect(try await body(zone, "carol", for: try bob.onFreshDevice()) == "from Carol")
        }
    }

    /// Where a zone began anew, a server first empties what was there: it takes what comes before, and the rest when it
    /// is asked again.
    @Test func whatTheServerDidNotTakeAtOnceIsGivenBackAfterIt() async throws {
        try await with { server, zone, ann, _ in
            try server.backUp()
            for _ in 0..<3 { try await ann.own.rotateKeys(of: zone.zoneID) }
            let head = try await zone.view(of: ann).roster.head
            try server.restore()
            let transport = HaltingTransport(try HTTPTransport(server: ann.server.origin))
            _ = try await settle(zone, try ann.through(transport))
            #expect(transport.entries.value == [3, 1])
            let kept = try await ann.container.violations()
            let isTold = kept.contains { $0.reason.contains("has them back") }
            #expect(isTold, "\(kept)")
            #expect(try await zone.view(of: try ann.onFreshDevice()).roster.head == head)
        }
    }

    @Test func grantsThatAreLostAreMadeUpForByANewKey() async throws {
        try await with { server, zone, ann, bob in
            let carol = try await Person(server.process)
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol, .readWrite)) }
            try await zone.join(carol)
            try await ann.own.rotateKeys(of: zone.zoneID)
            try server.restore()
            // Of the new epoch Bob and Carol have never had the grant.
            _ = try await settle(zone, ann)
            let lacking = try await zone.view(of: bob)
            #expect(lacking.keys[lacking.roster.currentEpoch.number] == nil)
            let fresh = try ann.onFreshDevice()
            // A device that was told nothing yet appends nothing before it has said so.
            let told = await failure {
                _ = try await fresh.own.save(fresh.note(in: zone.zoneID, "under a new key", name: "new"))
            }
            #expect(told == .rollback)
            #expect(try await zone.view(of: bob).roster.currentEpoch.number == 1)
            try await fresh.own.save(fresh.note(in: zone.zoneID, "under a new key", name: "new"))
            #expect(try await body(zone, "new", for: bob) == "under a new key")
            #expect(try await body(zone, "new", for: carol) == "under a new key")
            let view = try await zone.view(of: ann)
            #expect(view.roster.currentEpoch.number == 2)
            #expect(!view.lacksGrants)
            try await ann.own.save(ann.note(in: zone.zoneID, "and no further one", name: "newer"))
            #expect(try await zone.view(of: ann).roster.currentEpoch.number == 2)
        }
    }

    /// Nobody has to write: it is done at the user's word, and never by reading.
    @Test func maintainingMakesUpForGrantsThatAreLost() async throws {
        try await with { server, zone, ann, bob in
            let carol = try await Person(server.process)
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol, .readWrite)) }
            try await zone.join(carol)
            try await ann.own.rotateKeys(of: zone.zoneID)
            try server.restore()
            _ = try await settle(zone, ann)
            let lacking = try await zone.view(of: bob)
            #expect(lacking.keys[lacking.roster.currentEpoch.number] == nil)
            // A member who is no administrator cannot help, and who reads does not.
            #expect(try await bob.shared.maintain(zone.id(for: bob)).outcomes.isEmpty)
            let fresh = try ann.onFreshDevice()
            _ = try await fresh.own.recordZoneChanges(inZoneWith: zone.zoneID)
            _ = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID)
            #expect(try await zone.view(of: bob).roster.currentEpoch.number == 1)
            // Upkeep that nobody hears leaves it to the next call to tell of the loss.
            let lost = try await fresh.own.keeper(zone.zoneID).refresh()
            #expect(lost.lacksGrants)
            let unheard = await failure {
                try await Upkeep.quietly { () throws(SealKitError) in try await fresh.own.tellOfLostKeys(lost) }
            }
            #expect(unheard == .operationCancelled)
            let first = await failure { try await fresh.own.maintain(zone.zoneID) }
            #expect(first == .rollback)
            #expect(try await zone.view(of: bob).roster.currentEpoch.number == 1)
            // Once it was told, upkeep goes on unheard too.
            try await Upkeep.quietly { () throws(SealKitError) in try await fresh.own.tellOfLostKeys(lost) }
            let second = try await fresh.own.maintain(zone.zoneID)
            #expect(second.outcomes.map(\.work) == [.replacingLostKeys])
            #expect(second.isComplete)
            for person in [bob, carol] {
                let view = try await zone.view(of: person)
                #expect(view.roster.currentEpoch.number == 2)
                #expect(Set(view.keys.keys) == [0, 1, 2])
            }
            // Once is enough.
            #expect(try await fresh.own.maintain(zone.zoneID).outcomes.isEmpty)
            #expect(try await zone.view(of: ann).roster.currentEpoch.number == 2)
        }
    }

    /// An invitation that is over, and whatever else there is to do, waits as well for the call after the one that
    /// tells.
    @Test(arguments: ["maintaining", "deleting the zone"])
    func nothingIsAppendedInTheCallThatTellsOfLostKeys(_ call: String) async throws {
        try await with { server, zone, ann, bob in
            var once = Share.Participant.oneTimeURLParticipant(permission: .readOnly)
            once.expirationDate = Date(timeIntervalSinceNow: 86_400)
            let expiring = once
            try await ann.edit(zone.zoneID) { $0.addParticipant(expiring) }
            let carol = try await Person(server.process)
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol, .readWrite)) }
            try await zone.join(carol)
            try await ann.own.rotateKeys(of: zone.zoneID)
            try server.restore()
            _ = try await settle(zone, ann)
            let fresh = try ann.onFreshDevice()
            _ = try await fresh.own.allRecordZones()
            let head = try await zone.view(of: bob).roster.head
            try await WallClock.$offset.withValue(2 * 86_400_000_000) {
                func make() async throws {
                    if call == "maintaining" {
                        try await fresh.own.maintain(zone.zoneID)
                    } else {
                        try await fresh.own.deleteRecordZone(withID: zone.zoneID)
                    }
                }
                #expect(await failure { try await make() } == .rollback)
                #expect(try await zone.view(of: bob).roster.head == head)
                try await make()
            }
            #expect(try await zone.view(of: bob).roster.head != head)
        }
    }

    /// That a server has lost something is told once, and is no operation's outcome; another zone's items do not wait.
    @Test func aLongLivedOperationGoesOnAfterTheLossWasTold() async throws {
        try await with { server, zone, ann, _ in
            let device = try MortalDevice(ann)
            let draft = ann.note(in: zone.zoneID, "kept", name: "kept")
            let after = RecordZone.ID(zoneName: "~" + zone.zoneID.zoneName)
            try await ann.own.save(RecordZone(zoneID: after))
            let other = ann.note(in: after, "other", name: "other")
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(.oneTimeURLParticipant(permission: .readOnly)) }
            _ = try await device.run { _ = try await $0.privateDatabase.recordZone(for: zone.zoneID) }
            try server.restore()
            let saved = try await device.run { container in
                let operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft, other])
                #expect(await failure { _ = try await operation.results() } == .rollback)
                let meanwhile: String? = try await ann.own.record(for: other.recordID).encryptedValues["body"]
                #expect(meanwhile == "other")
                return try await operation.results().saveResults.mapValues(\.isSuccess)
            }
            #expect(saved == [draft.recordID: true, other.recordID: true])
            #expect(try await body(zone, "kept", for: ann) == "kept")
        }
    }

    /// What Carol alone has seen of the roster is not parted from by Ann's device: not by reading, however often, nor
    /// by the call that finds the loss out.
    @Test(arguments: ["reading", "saving", "sharing", "a new key", "a device that knows nothing"])
    func theOwnersDeviceAppendsNothingBeforeOthersHaveGivenBack(_ call: String) async throws {
        try await with { server, zone, ann, bob in
            let carol = try await Person(server.process)
            try server.backUp()
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol, .readWrite)) }
            let head = try await zone.view(of: ann).roster.head
            // Ann's device does not hear of it.
            try await zone.join(carol)
            let joined = try await zone.view(of: carol).roster.head
            try server.restore()

            let device = call == "a device that knows nothing" ? try ann.onFreshDevice() : ann
            let told: SealKitError?
            do {
                switch call {
                case "reading": _ = try await body(zone, for: ann)
                case "sharing":
                    try await ann.edit(zone.zoneID) { $0.addParticipant(.oneTimeURLParticipant(permission: .readOnly)) }
                case "a new key": try await ann.own.rotateKeys(of: zone.zoneID)
                case "saving": try await ann.own.save(ann.note(in: zone.zoneID, "too early"))
                default:
                    // One of Ann's that has seen all of it has come by.
                    _ = try? await body(zone, for: ann)
                    try await device.own.save(ann.note(in: zone.zoneID, "too early"))
                }
                told = nil
            } catch { told = error as? SealKitError }
            #expect(told?.code == .rollback)
            #expect(told?.rosterFork == nil)
            #expect(told?.remedy.contains("come by") == true, "\(String(describing: told))")
            for _ in 0..<3 {
                _ = try await device.own.recordZoneChanges(inZoneWith: zone.zoneID)
                _ = try await device.own.share(for: zone.zoneID)
            }
            #expect(try await zone.view(of: try ann.onFreshDevice()).roster.head == head)

            // Carol comes by, and nothing has parted from what she knows.
            do { try await zone.view(of: carol) } catch let error as SealKitError {
                #expect(error.code == .rollback)
                #expect(error.rosterFork == nil)
            }
            #expect(try await zone.view(of: carol).roster.head == joined)
            try await device.own.save(ann.note(in: zone.zoneID, "for all", name: "all"))
            for person in [bob, carol] { #expect(try await body(zone, "all", for: person) == "for all") }
        }
    }

    @Test func aZoneThatTheServerDoesNotKnowAnyMoreComesBack() async throws {
        try await with { server, _, ann, bob in
            try server.backUp()
            let late = try await SharedZone(of: ann, with: [(bob, .readOnly)])
            _ = try await late.view(of: bob)
            try server.restore()
            let lost = await failure { _ = try await ann.own.recordZoneChanges(inZoneWith: late.zoneID) }
            #expect(lost == .rollback)
            // It is back, and Bob brings his part of its roster; as apps do where a zone is not found, it is saved.
            let told = try await settle(late, bob)
            #expect(told?.code == .rollback)
            #expect(try await ann.own.save(RecordZone(zoneName: late.zoneID.zoneName)).isShared)
            try await ann.own.save(ann.note(in: late.zoneID, "again", name: "note"))
            #expect(try await body(late, for: bob) == "again")
        }
    }

    /// Without the run in it a token of the lost future would pass for one of this feed, and skip what came since.
    @Test func changesAfterTheRestoreAreNotSkipped() async throws {
        try await with { server, zone, ann, bob in
            try server.backUp()
            for index in 0..<3 { try await ann.own.save(ann.note(in: zone.zoneID, "lost \(index)")) }
            let token = try await bob.shared.recordZoneChanges(inZoneWith: zone.id(for: bob)).changeToken
            let database = try await bob.shared.databaseChanges().changeToken
            try server.restore()
            for index in 0..<6 { try await ann.own.save(ann.note(in: zone.zoneID, "new", name: "new\(index)")) }
            let expired = await failure {
                _ = try await bob.shared.recordZoneChanges(inZoneWith: zone.id(for: bob), since: token)
            }
            #expect(expired == .changeTokenExpired)
            let expiredToo = await failure { _ = try await bob.shared.databaseChanges(since: database) }
            #expect(expiredToo == .changeTokenExpired)
            let all = try await bob.shared.recordZoneChanges(inZoneWith: zone.id(for: bob))
            let new = (0..<6).map { "new\($0)" }
            #expect(Set(all.modifications.map(\.recordID.recordName)).isSuperset(of: new))
        }
    }

    // MARK: Records

    @Test func whatTheServerHasLostIsSavedAgainFromCopies() async throws {
        try await with { server, zone, ann, bob in
            let (anns, bobs) = (zone.zoneID, zone.id(for: bob))
            try await ann.own.save(ann.note(in: anns, "kept", name: "kept"))
            try await ann.own.save(ann.note(in: anns, "to go", name: "gone"))
            try server.backUp()
            var note = try await ann.own.record(for: zone.recordID("note", for: ann))
            for text in ["second", "third"] {
                note.encryptedValues["body"] = text
                note = try await ann.own.save(note)
            }
            let added = try await ann.own.save(ann.note(in: anns, "added", name: "added"))
            try await ann.own.deleteRecord(withID: zone.recordID("gone", for: ann))
            let kept = try await ann.own.record(for: zone.recordID("kept", for: ann))
            // Bob has seen all of it, and has written what Ann has not seen.
            _ = try await bob.shared.recordZoneChanges(inZoneWith: bobs)
            var his = try await bob.shared.record(for: zone.recordID("note", for: bob))
            his.encryptedValues["body"] = "Bob's"
            his = try await bob.shared.save(his)
            try server.restore()

            // Each is told of each, and gets no old version for the new one.
            let changes = try await ann.own.recordZoneChanges(inZoneWith: anns)
            let older = changes.modifications.compactMap {
                $0.result.failureCode == .rollback ? $0.recordID.recordName : nil
            }
            #expect(Set(older) == ["note", "gone", "added"])
            let missing = await failure { _ = try await ann.own.record(for: added.recordID) }
            #expect(missing == .rollback)
            let plain = await failure { try await ann.own.save(note) }
            #expect(plain == .rollback)
            let partial = try await bob.onFreshDevice().shared.records(
                for: [zone.recordID("note", for: bob)], desiredKeys: [])
            #expect(try partial.values.first?.get().encryptedValues["body"] == String?.none)

            let results = try await ann.own.modifyRecords(
                saving: [note, added, kept], deleting: [zone.recordID("gone", for: ann)], savePolicy: .restoring)
            #expect(results.saveResults.values.compactMap(\.failureCode) == [])
            #expect(results.deleteResults.values.compactMap(\.failureCode) == [])
            // What was not lost was not written.
            #expect(try results.saveResults[kept.recordID]?.get().recordChangeTag == kept.recordChangeTag)
            #expect(try await body(zone, for: ann) == "third")
            let goneNow = await failure { _ = try await ann.own.record(for: zone.recordID("gone", for: ann)) }
            #expect(goneNow == .unknownItem)
            // Bob's version was later than Ann's; hers has a higher number now, and he takes it, or saves his over it.
            #expect(try await body(zone, for: bob) == "third")
            #expect(try await body(zone, "added", for: bob) == "added")
            var theirs = try await bob.shared.record(for: zone.recordID("note", for: bob))
            theirs.encryptedValues["body"] = "Bob's, merged"
            try await bob.shared.save(theirs)
            #expect(try await body(zone, for: ann) == "Bob's, merged")
            // Said again nothing is lost, so the newer version stands.
            let again = try await ann.own.modifyRecords(saving: [note], savePolicy: .restoring, atomically: false)
            #expect(again.saveResults[note.recordID]?.failureCode == .serverRecordChanged)
            #expect(try await body(zone, for: try bob.onFreshDevice()) == "Bob's, merged")
        }
    }

    /// Nobody has a copy of it: whoever gives it up does so for everybody who has seen it.
    @Test func whatNobodyHasAnyMoreIsGivenUp() async throws {
        try await with { server, zone, ann, bob in
            let (anns, bobs) = (zone.recordID("lost", for: ann), zone.recordID("lost", for: bob))
            try server.backUp()
            try await bob.shared.save(bob.note(in: zone.id(for: bob), "only then", name: "lost"))
            func missed(in database: Database, _ zoneID: RecordZone.ID) async throws -> [String] {
                try await database.recordZoneChanges(inZoneWith: zoneID).modifications.compactMap {
                    $0.result.failureCode == .rollback ? $0.recordID.recordName : nil
                }
            }
            #expect(try await missed(in: ann.own, zone.zoneID) == [])
            try server.restore()
            #expect(try await missed(in: ann.own, zone.zoneID) == ["lost"])
            #expect(try await missed(in: bob.shared, zone.id(for: bob)) == ["lost"])

            let results = try await ann.own.modifyRecords(deleting: [anns], savePolicy: .restoring)
            #expect(Array(results.deleteResults.keys) == [anns])
            #expect(results.deleteResults.values.compactMap(\.failureCode) == [])
            #expect(results.saveResults.isEmpty)
            #expect(try await missed(in: ann.own, zone.zoneID) == [])
            #expect(try await missed(in: bob.shared, zone.id(for: bob)) == [])
            #expect(await failure { _ = try await ann.own.record(for: anns) } == .unknownItem)
            #expect(await failure { _ = try await bob.shared.record(for: bobs) } == .unknownItem)
            // Said again there is nothing to do, and what was never there is no failure.
            let never = zone.recordID("never", for: ann)
            let again = try await ann.own.modifyRecords(deleting: [anns, never], savePolicy: .restoring)
            #expect(again.deleteResults.count == 2)
            #expect(again.deleteResults.values.compactMap(\.failureCode) == [])
        }
    }

    /// A copy that the server would take, for it has lost what came after it: every device that has seen more would
    /// refuse what the server shows from then on.
    @Test func whatWasLostIsNotSavedOverBeforeItIsSent() async throws {
        try await with { server, zone, ann, bob in
            let old = try await ann.own.record(for: zone.recordID("note", for: ann))
            try server.backUp()
            var newer = old
            newer.encryptedValues["body"] = "second"
            try await ann.own.save(newer)
            let added = try await ann.own.save(ann.note(in: zone.zoneID, "added", name: "added"))
            _ = try await ann.own.save(ann.note(in: zone.zoneID, "gone", name: "gone"))
            try await ann.own.deleteRecord(withID: zone.recordID("gone", for: ann))
            try server.restore()

            let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: "records/modify", [])
            let device = try ann.through(network)
            var late = old
            late.encryptedValues["body"] = "from an old copy"
            let copies = [
                late, ann.note(in: zone.zoneID, "made again", name: "added"),
                ann.note(in: zone.zoneID, "made again", name: "gone"),
            ]
            for policy in [Database.SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
                for copy in copies {
                    let beside = ann.note(in: zone.zoneID, "beside it", name: "beside")
                    let results = try await device.own.modifyRecords(saving: [copy, beside], savePolicy: policy)
                    let error = results.saveResults[copy.recordID]?.error
                    #expect(error?.code == .rollback, "\(copy.recordID.recordName)")
                    #expect(error?.remedy.contains("policy restoring") == true)
                    #expect(results.saveResults[beside.recordID]?.failureCode == .batchRequestFailed)
                }
            }
            #expect(network.bodies.isEmpty, "nothing was sent")
            // By itself the other one is saved.
            let results = try await device.own.modifyRecords(
                saving: [late, ann.note(in: zone.zoneID, "beside it", name: "beside")], atomically: false)
            #expect(results.saveResults.values.count(where: \.isSuccess) == 1)
            #expect(results.saveResults[late.recordID]?.failureCode == .rollback)
            // Said so, they are saved, and nobody refuses them.
            let again = try await device.own.modifyRecords(saving: [late, added], savePolicy: .restoring)
            #expect(again.saveResults.values.compactMap(\.failureCode) == [])
            #expect(try await body(zone, for: bob) == "from an old copy")
            #expect(try await body(zone, "added", for: ann) == "added")
        }
    }

    @Test func whatIsNoWholeCopyIsNotSavedAgain() async throws {
        try await with { server, zone, ann, bob in
            let file = server.process.folder.appendingPathComponent("picture")
            try pattern(100_000).write(to: file)
            try server.backUp()
            var photo = ann.note(in: zone.zoneID, "with a picture", name: "photo")
            photo["picture"] = Asset(fileURL: file)
            photo = try await ann.own.save(photo)
            let half = try #require(
                try await bob.shared.records(for: [zone.recordID("photo", for: bob)], desiredKeys: ["body"]).values
                    .first?.get())
            let remote = try await bob.shared.fetchingAssets(.onDemand).record(for: zone.recordID("photo", for: bob))
            try server.restore()
            _ = try await settle(zone, bob)
            for (copy, code) in [(half, SealKitError.Code.invalidArguments), (remote, .assetNotAvailable)] {
                let results = try await bob.shared.modifyRecords(saving: [copy], savePolicy: .restoring)
                #expect(results.saveResults[copy.recordID]?.failureCode == code)
            }
            // With the file all of it is there again.
            let results = try await ann.own.modifyRecords(saving: [photo], savePolicy: .restoring)
            #expect(try results.saveResults[photo.recordID]?.get().recordID == photo.recordID)
            let seen: Asset? = try await bob.shared.record(for: zone.recordID("photo", for: bob))["picture"]
            #expect(try Data(contentsOf: try #require(seen?.fileURL)) == pattern(100_000))
        }
    }

    @Test func thePublicDatabaseGivesNothingBack() async throws {
        let ann = try await Person()
        let record = Record(recordType: "Note", recordID: Record.ID(recordName: UUID().uuidString))
        let results = try await ann.container.publicDatabase.modifyRecords(
            saving: [record], savePolicy: .restoring, atomically: false)
        #expect(results.saveResults[record.recordID]?.failureCode == .badDatabase)
    }
}

/// Gives the server all but the last of several entries, once: as if it had taken no more of them.
private final class HaltingTransport: PassingTransport {
    let next: any Transport
    /// How many the device has sent at a time.
    let entries = LockedValue<[Int]>([])

    init(_ next: HTTPTransport) { self.next = next }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        guard path.hasSuffix("rosters/restore"),
            var request = try? Sealkit_V1_RestoreRosterRequest(serializedBytes: body)
        else {
            return try await next.post(path, body: body, token: token)
        }
        let (count, isFirst) = (request.entries.count, entries.value.isEmpty)
        entries.change { $0.append(count) }
        if isFirst { request.entries.removeLast() }
        guard let sent = try? request.serializedData() else {
            throw SealKitError(.internalError, "the request could not be altered")
        }
        return try await next.post(path, body: sent, token: token)
    }
}
