import Foundation
import SealClient
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Two processes of one device: what the one has verified of a zone, the other goes by.
@Suite(.timeLimit(.minutes(60))) struct ProcessesTests {
    private let (ann, bob): (Person, Person)
    private let zone: SharedZone

    init() async throws {
        (ann, bob) = (try await Person(), try await Person())
        zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
    }

    /// Another process of Ann's device, which knows the zone as it is now, behind an attacker.
    private func beside() async throws -> (Person, HostileNetwork) {
        let (other, network) = try ann.behindAttacker()
        try await other.own.save(other.note(in: zone.zoneID, "first", name: "note"))
        network.forget()
        return (other, network)
    }

    @Test func whoWasRemovedInOneProcessIsNotSealedForInTheOther() async throws {
        let (other, network) = try await beside()
        let known = try await zone.view(of: other)
        try await zone.remove(bob)
        // To the other one the server shows nothing of it, in whatever it answers.
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            for index in answer.rosters.indices {
                answer.rosters[index].entries = []
                answer.rosters[index].grants = []
                answer.rosters[index].headSequence = known.roster.sequence
                answer.rosters[index].head = Data(known.roster.head.bytes)
            }
        }
        let zone = zone.zoneID
        await expectRefused(.rollback) { _ = try await other.own.save(other.note(in: zone, "secret", name: "late")) }
        await expectRefused(.rollback) { _ = try await other.own.save(RecordZone(zoneID: zone)) }
        #expect(network.sent(to: "records/modify").isEmpty, "nothing was sealed under the key that Bob has")
        // Shown what there is, it goes on under the newer key.
        network.beHonest()
        let saved = try await other.own.save(other.note(in: zone, "secret", name: "late"))
        #expect(saved.base?.statement.epoch == 1)
    }

    /// It is removed while the save is on its way, and the feed that is read then does not show that save: an honest
    /// server would have refused it.
    @Test func aSaveThatTheServerCannotHaveTakenInTimeIsRefused() async throws {
        let (other, network) = try await beside()
        let (reader, hiding) = try ann.behindAttacker()
        hiding.rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { answer in
            answer.records.removeAll { $0.recordName == "late" }
        }
        network.lie { [zone, bob] path, _, _ in
            guard path.hasSuffix("records/modify") else { return }
            try await zone.remove(bob)
            _ = try await reader.own.recordZoneChanges(inZoneWith: zone.zoneID)
        }
        let id = zone.zoneID
        await expectRefused(.rollback) { _ = try await other.own.save(other.note(in: id, "secret", name: "late")) }
        #expect(try await other.container.violations().contains { $0.reason.contains("acknowledged") })
    }

    /// The same where nothing is hidden: it was saved before, and seen.
    @Test func aSaveThatCameBeforeARemovalIsGood() async throws {
        let (other, network) = try await beside()
        network.lie { [zone, ann, bob] path, _, _ in
            guard path.hasSuffix("records/modify") else { return }
            try await zone.remove(bob)
            _ = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID)
        }
        let saved = try await other.own.save(other.note(in: zone.zoneID, "in time", name: "late"))
        #expect(saved.base?.statement.epoch == 0)
        #expect(try await other.container.violations().isEmpty)
    }

    /// What the one has just stored, and not taken over yet, the other finds in the store.
    @Test func aCallThatIsOvertakenByAnotherOneKeepsTheKeys() async throws {
        let (other, network) = try await beside()
        let keeper = try other.keeper(of: zone.zoneID)
        let lacking = LockedValue(0)
        network.lie { path, _, _ in
            guard path.hasSuffix("rosters/fetch"), await keeper.replica.currentKeys.isEmpty else { return }
            lacking.change { $0 += 1 }
        }
        let far = try ann.onFreshDevice()
        for _ in 0..<10 {
            try await far.own.rotateKeys(of: zone.zoneID)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        for _ in 0..<3 { _ = try await keeper.refresh().currentKey() }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(lacking.value == 0)
    }
}
