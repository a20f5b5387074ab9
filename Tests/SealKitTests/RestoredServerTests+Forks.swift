import Foundation
import SealClient
import SealLab
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Of a fork that comes of the old copy.
extension RestoredServerTests {
    @Test func theOwnerEndsAForkAndMembersGoOver() async throws {
        try await with { server, zone, ann, bob in
            // A device of Ann's that has seen nothing of what is lost.
            let other = try ann.onFreshDevice()
            _ = try await zone.view(of: ann)
            try server.backUp()
            try await ann.own.rotateKeys(of: zone.zoneID)
            let carol = try await Person(server.process)
            try await ann.edit(zone.zoneID) { $0.addParticipant(try await ann.participant(carol)) }
            try await zone.view(of: bob)
            try await ann.own.rotateKeys(of: zone.zoneID)
            try await zone.view(of: ann)
            try server.restore()
            try await other.own.rotateKeys(of: zone.zoneID)

            // Both who know the other branch are told which, and nothing is given back.
            var forks: [RosterFork] = []
            for (person, call) in [(ann, "endFork(of:)"), (bob, "endFork(of:abandoning:)")] {
                do {
                    try await zone.view(of: person)
                    Issue.record("a fork was taken over")
                } catch let error as SealKitError {
                    #expect(error.code == .rollback)
                    #expect(error.remedy.contains(call))
                    forks.append(try #require(error.rosterFork))
                }
            }
            #expect(forks[0].zoneID == zone.zoneID && forks[0].head.sequence > forks[1].head.sequence)
            #expect(RosterFork.Head(forks[0].head.description) == forks[0].head)
            for wrong in [
                "", "1", "01:" + String(repeating: "0", count: 64), "1:00", "-1:" + String(repeating: "0", count: 64),
            ] {
                #expect(RosterFork.Head(wrong) == nil)
            }
            // The device on the server's branch knows of none.
            let none = await failure { try await other.own.endFork(of: zone.zoneID) }
            #expect(none == .invalidArguments)
            let notOwner = await failure { try await bob.shared.endFork(of: zone.id(for: bob)) }
            #expect(notOwner == .badDatabase)

            try await ann.own.endFork(of: zone.zoneID)
            let roster = try await zone.view(of: ann).roster
            #expect(roster.abandonments.count == 1)
            #expect(roster.incarnations.zone == 2)
            #expect(roster.members.count == 1)
            try await ann.own.save(ann.note(in: zone.zoneID, "saved again", name: "note"))
            #expect(try await body(zone, for: other) == "saved again")
            // Bob had a part of the branch only: he is shown the rest of it, goes over, and is out until he is invited
            // again.
            let gone = try await zone.view(of: bob)
            #expect(gone.roster.head == roster.head)
            #expect(!gone.isMember)
            var share = Share(recordZoneID: zone.zoneID)
            share.addParticipant(try await ann.participant(bob, .readWrite))
            try await bob.join(try await ann.own.save(share).url)
            #expect(try await body(zone, for: bob) == "saved again")
            let audit = try await bob.container.audit()
            let audited = audit.scopes.first { $0.zoneID == zone.id(for: bob) }
            #expect(audited?.abandonedForks == 1)
        }
    }

    /// Both have found the fork, and ask for the whole log: the second one is answered when the first has gone over.
    @Test func twoCallsAtOnceGoOverToTheLogThatEndedAFork() async throws {
        try await with { server, zone, ann, _ in
            let other = try ann.onFreshDevice()
            let third = try ann.onFreshDevice()
            for device in [ann, other] { try await zone.view(of: device) }
            try server.backUp()
            try await ann.own.rotateKeys(of: zone.zoneID)
            try await zone.view(of: third)
            try server.restore()
            try await other.own.rotateKeys(of: zone.zoneID)
            _ = await failure { try await zone.view(of: ann) }
            try await ann.own.endFork(of: zone.zoneID)
            try await ann.own.save(ann.note(in: zone.zoneID, "saved again", name: "note"))

            let transport = WholeLogTransport(try HTTPTransport(server: ann.server.origin))
            let device = try third.through(transport)
            let id = zone.recordID("note", for: ann)
            let bodies = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let note = try await device.own.record(for: id)
                        transport.isDone()
                        return note.encryptedValues["body"]
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies == ["saved again", "saved again"])
            #expect(try await device.container.violations().isEmpty)
        }
    }

    @Test func aHeadThatAMemberNamesIsGivenUp() async throws {
        try await with { server, zone, ann, bob in
            try server.backUp()
            let device = try ann.onFreshDevice()
            try await device.own.rotateKeys(of: zone.zoneID)
            try await zone.view(of: bob)
            // Another process of Bob's device.
            let beside = try bob.through(HTTPTransport(server: ann.server.origin))
            try await zone.view(of: beside)
            try server.restore()
            try await ann.own.rotateKeys(of: zone.zoneID)
            var fork: RosterFork?
            do { try await zone.view(of: bob) } catch { fork = (error as? SealKitError)?.rosterFork }
            let head = try #require(fork?.head)
            let roster = try await zone.view(of: ann).roster
            let present = RosterFork.Head(.init(sequence: roster.sequence, hash: roster.head))
            let onIt = await failure { try await ann.own.endFork(of: zone.zoneID, abandoning: present) }
            #expect(onIt == .invalidArguments)
            try await ann.own.endFork(of: zone.zoneID, abandoning: head)
            #expect(try await zone.view(of: bob).roster.abandonments.map(\.head.sequence) == [head.sequence])
            // What one process of a device has gone over to counts for the other as well.
            #expect(try await zone.view(of: beside).roster.abandonments.map(\.head.sequence) == [head.sequence])
            // The device that made the branch goes over as well.
            #expect(try await zone.view(of: device).roster.abandonments.count == 1)
        }
    }

    /// The shares in the zone end by the keys that their rosters know.
    @Test func aForkEndsBeforeNewKeysAreStated() async throws {
        try await with { server, _, ann, _ in
            let zone = try await ann.makeZone()
            let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
            _ = try await ann.own.save(Share(rootRecord: list), rootRecord: list)
            let other = try ann.onFreshDevice()
            _ = try await other.own.recordZoneChanges(inZoneWith: zone)
            try server.backUp()
            try await ann.own.rotateKeys(of: zone)
            try server.restore()
            try await other.own.rotateKeys(of: zone)
            let kept = KeptKeys(ann)
            let network = LossyTransport(
                try HTTPTransport(server: ann.server.origin), losing: "rosters/append",
                Array(repeating: .request, count: 40))
            #expect(await failure { try await ann.through(network).rotateKeys(kept) } != nil)
            #expect(kept.seeds.count == 2)
            let again = try ann.restarted(kept)
            try await again.own.endFork(of: zone)
            let core = again.container.core
            let roster = try await core.keeper(of: core.scope(of: zone)).refresh().roster
            #expect(roster.abandonments.count == 1)
            #expect(roster.members[core.userID()]?.identity.signed.count == 2)
        }
    }

    /// A list of one note, which is shared as a hierarchy.
    /// - Returns: its zone, as its owner and as who has joined name it, its root and the share.
    private func sharedList(
        of ann: Person, with bob: Person
    ) async throws -> (zone: RecordZone.ID, list: Record, share: Share, joined: RecordZone.ID) {
        let zone = try await ann.makeZone()
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var share = Share(rootRecord: list)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let saved = try await ann.own.save(share, rootRecord: list).share
        return (zone, list, saved, try await bob.join(saved.url))
    }

    /// The owner ends the share on a device that is shown no other roster, and shares its root anew there. Whoever was
    /// on the other branch reads on once that is given up.
    @Test func aForkOfAShareEndsAfterTheShare() async throws {
        try await with { server, _, ann, bob in
            let (zone, list, saved, joined) = try await sharedList(of: ann, with: bob)
            let name = saved.recordID.recordName
            let other = try ann.onFreshDevice()
            for device in [ann, other] { _ = try await device.own.recordZoneChanges(inZoneWith: zone) }
            try server.backUp()
            // More keys than the branch that stays has: this device has read past all that comes of that.
            for _ in 0..<2 { try await ann.own.rotateKeys(of: zone, shareRecordName: name) }
            _ = try await ann.own.recordZoneChanges(inZoneWith: zone)
            _ = try await bob.shared.recordZoneChanges(inZoneWith: joined)
            try server.restore()
            try await other.own.rotateKeys(of: zone, shareRecordName: name)

            for (person, database, id, call) in [
                (ann, ann.own, zone, "endFork(of:shareRecordName:)"),
                (bob, bob.shared, joined, "endFork(of:shareRecordName:abandoning:)"),
            ] {
                do throws(SealKitError) {
                    _ = try await database.recordZoneChanges(inZoneWith: id)
                    Issue.record("a fork was taken over by \(person.name)")
                } catch {
                    #expect(error.code == .rollback)
                    #expect(error.remedy.contains(call))
                    #expect(error.rosterFork?.shareRecordName == name)
                }
            }
            // What is in it would be nobody's to read.
            let open = await failure { try await ann.own.endFork(of: zone, shareRecordName: name) }
            #expect(open == .invalidArguments)
            try await other.own.deleteRecord(withID: saved.recordID)
            let root = try await other.own.record(for: list.recordID)
            var again = Share(rootRecord: root)
            again.addParticipant(try await other.participant(bob, .readWrite))
            let url = try await other.own.save(again, rootRecord: root).share.url
            let none = await failure { try await other.own.endFork(of: zone, shareRecordName: name) }
            #expect(none == .invalidArguments)
            let notOwner = await failure { try await bob.shared.endFork(of: joined, shareRecordName: name) }
            #expect(notOwner == .badDatabase)

            try await ann.own.endFork(of: zone, shareRecordName: name)
            let roster = try await ann.own.keeper(ofShare: saved.recordID).refresh().roster
            #expect(roster.isClosed)
            #expect(roster.abandonments.count == 1)
            for device in [ann, other] {
                let changes = try await device.own.recordZoneChanges(inZoneWith: zone)
                let failures = changes.modifications.compactMap { $0.result.failureCode }
                #expect(failures.isEmpty)
                let shown: String? = try await device.own.record(for: list.recordID).encryptedValues["body"]
                #expect(shown == "list")
            }
            #expect(try await bob.join(url) == joined)
            let changes = try await bob.shared.recordZoneChanges(inZoneWith: joined)
            let read = changes.modifications.filter { $0.result.failureCode == nil }.map { $0.recordID.recordName }
            #expect(read.contains("list"))
            let keeper = bob.container.core.keeper(of: try bob.shared.zoneScope(joined).ofShare(name))
            #expect(try await keeper.known()?.abandonments.count == 1)
            #expect(try await keeper.refresh().roster.abandonments.count == 1)
        }
    }

    /// The head that a participant names, given up on the device that is shown no other roster.
    @Test func aHeadOfAShareThatAParticipantNamesIsGivenUp() async throws {
        try await with { server, _, ann, bob in
            let (zone, _, saved, joined) = try await sharedList(of: ann, with: bob)
            let name = saved.recordID.recordName
            try server.backUp()
            let device = try ann.onFreshDevice()
            try await device.own.rotateKeys(of: zone, shareRecordName: name)
            _ = try await bob.shared.recordZoneChanges(inZoneWith: joined)
            try server.restore()
            try await ann.own.rotateKeys(of: zone, shareRecordName: name)
            var fork: RosterFork?
            do throws(SealKitError) { _ = try await bob.shared.recordZoneChanges(inZoneWith: joined) } catch {
                fork = error.rosterFork
            }
            let head = try #require(fork?.head)
            try await ann.own.deleteRecord(withID: saved.recordID)
            try await ann.own.endFork(of: zone, shareRecordName: name, abandoning: head)
            let core = bob.container.core
            let keeper = core.keeper(of: try bob.shared.zoneScope(joined).ofShare(name))
            _ = try await keeper.refresh()
            let view = try await keeper.refresh()
            #expect(view.roster.abandonments.map(\.head.sequence) == [head.sequence])
            #expect(!view.isMember)
            // So does the device that made the branch.
            _ = try await device.own.recordZoneChanges(inZoneWith: zone)
        }
    }

    /// Bob cannot mend Ann's fork, and is not kept from going: without what this device has verified, he leaves the
    /// branch there is.
    @Test func aForkKeepsNobodyFromDeletingTheAccount() async throws {
        try await with { server, zone, ann, bob in
            try server.backUp()
            let device = try ann.onFreshDevice()
            try await device.own.rotateKeys(of: zone.zoneID)
            try await zone.view(of: bob)
            try server.restore()
            try await ann.own.rotateKeys(of: zone.zoneID)
            let refused = await failure { try await bob.account.delete(trust: bob.container.core.trust) }
            #expect(refused == .rollback)
            #expect(try await bob.account.status() == .available)
            try await bob.account.delete()
            #expect(try await bob.account.status() == .noAccount)
            #expect(try await zone.view(of: ann).roster.members[bob.container.core.userID()] == nil)
        }
    }
}

/// Of two calls that ask for a roster from its first entry on, neither is sent before both ask, and the second one not
/// before somebody is done.
private final class WholeLogTransport: PassingTransport {
    let next: any Transport
    private let calls = Mutex(0)
    private let second = AsyncStream<Void>.makeStream()
    private let done = AsyncStream<Void>.makeStream()

    init(_ next: HTTPTransport) { self.next = next }

    func isDone() { done.continuation.finish() }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        if path.hasSuffix("rosters/fetch"), let request = try? Sealkit_V1_FetchRostersRequest(serializedBytes: body),
            request.rosters.contains(where: \.fromStart)
        {
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            if number == 1 { for await _ in second.stream {} }
            if number == 2 {
                second.continuation.finish()
                for await _ in done.stream {}
            }
        }
        return try await next.post(path, body: body, token: token)
    }
}
