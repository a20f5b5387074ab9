import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Attacks on epochs, on the order of entries, and by answers that are errors.
extension MembershipAttacks {
    @Test("A rotation whose grants do not cover exactly the active members is refused.")
    func attack20_aRotationThatLeavesSomebodyOut() async throws {
        let world = try await AttackedZone()
        let mallory = try await Person()
        try await world.carol.shared.leaveShare(of: world.joined)
        let view = try await world.bob.keeper(of: world.joined).refresh()
        var random = SystemRandom()
        let draft = try world.bob.container.core.author.next(
            on: view.roster, changes: [], rotating: true, current: view.currentKey(), time: 1, random: &random)
        var roster = view.roster
        try roster.append(draft.entry)
        #expect(roster.currentEpoch.number == 1, "Bob may rotate now, and his epoch is good as he first made it")
        let entry = try RosterEntry(
            canonicalBytes: draft.entry.bytes, container: world.ann.container.containerIdentifier)
        let epoch = try #require(entry.epoch)
        let strangers = [mallory, world.carol].map {
            EpochOpening.Coverage(subject: .member($0.userID), grantHash: .zero)
        }
        let coverages: [[EpochOpening.Coverage]] = [
            epoch.coverage.filter { $0.subject != .member(world.ann.userID) }, epoch.coverage + [strangers[0]],
            epoch.coverage + [strangers[1]], [],
            epoch.coverage.filter { $0.subject == .member(world.bob.userID) } + [strangers[0]],
        ]
        for coverage in coverages {
            let opening = EpochOpening(
                number: epoch.number, keyID: epoch.keyID, checkpoint: Checkpoint.none, previousKey: epoch.previousKey,
                coverage: coverage.sorted { $0.subject < $1.subject })
            let (ann, network) = try world.ann.behindAttacker()
            network.serve([Forgery.entry(by: world.bob, on: view.roster, [], epoch: opening)])
            await expectRefused(.integrityFailure, by: .coverageMismatch) {
                _ = try await ann.keeper(of: world.zone).refresh()
            }
        }
        let saved = try await world.ann.own.save(world.ann.note(in: world.zone, "after an honest rotation"))
        #expect(
            try await world.bob.body(of: Record.ID(recordName: saved.recordID.recordName, zoneID: world.joined)) != nil)
    }

    @Test("Two administrators who rotate at once converge on one epoch, and nobody loses data.")
    func attack21_twoAdministratorsRotateAtOnce() async throws {
        let world = try await AttackedZone()
        try await world.promote(world.bob)
        for round in 1...3 {
            async let anns = world.ann.own.rotateKeys(of: world.zone)
            async let bobs = world.bob.shared.rotateKeys(of: world.joined)
            _ = try await (anns, bobs)
            async let first = world.ann.own.save(world.ann.note(in: world.zone, "Ann's \(round)", name: "ann-\(round)"))
            async let second = world.bob.shared.save(
                world.bob.note(in: world.joined, "Bob's \(round)", name: "bob-\(round)"))
            _ = try await (first, second)
        }
        let heads = [
            try await world.ann.keeper(of: world.zone).refresh(),
            try await world.bob.keeper(of: world.joined).refresh(),
            try await world.carol.keeper(of: world.joined).refresh(),
        ]
        #expect(Set(heads.map(\.roster.head)).count == 1)
        #expect(Set(try heads.map { try $0.currentKey().keyID }).count == 1)
        for name in ["note", "ann-1", "bob-1", "ann-3", "bob-3"] {
            let read = [
                try await world.ann.body(of: Record.ID(recordName: name, zoneID: world.zone)),
                try await world.bob.body(of: Record.ID(recordName: name, zoneID: world.joined)),
                try await world.carol.body(of: Record.ID(recordName: name, zoneID: world.joined)),
            ]
            #expect(read[0] != nil)
            #expect(Set(read).count == 1)
        }
        AttackOutcome.held("after three rounds one head, one key, and every record with everybody")
        // A server that shows each only its own rotation: both are valid, and at one place of the log.
        let view = try await world.view(world.bob)
        var random = SystemRandom()
        let bobs = try world.bob.container.core.author.next(
            on: view.roster, changes: [], rotating: true, current: view.currentKey(), time: 1, random: &random)
        var other = view.roster
        try other.append(bobs.entry)
        let (ann, network) = try world.ann.behindAttacker()
        try await ann.own.rotateKeys(of: world.zone)
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) {
            $0.rosters[0].entries = [bobs.entry.wire]
        }
        await expectRefused(.rollback) { _ = try await ann.own.share(for: world.zone) }
    }

    @Test(
        "What an administrator does after its demotion is refused, before it accepted: by its place in the roster, not by clocks."
    )
    func attack22_anAdministratorAfterItsDemotion() async throws {
        let world = try await AttackedZone()
        try await world.promote(world.bob)
        let promoted = try await world.bob.keeper(of: world.joined).refresh()
        let farFuture: Int64 = 4_000_000_000_000_000
        // Before: whatever the clock says.
        let raise = Forgery.entry(
            by: world.bob, on: promoted.roster, [.setPermission(world.carol.userID, .readWrite)], time: farFuture)
        try await world.bob.shared.append(.init(entry: raise, grants: [], epochKey: nil), view: promoted)
        let seen = try await world.ann.keeper(of: world.zone).refresh()
        #expect(seen.roster.permission(of: world.carol.userID) == .readWrite)
        let before = seen.roster

        try await world.append([.setRole(world.bob.userID, .privateUser)], rotating: true)
        let after = try await world.ann.keeper(of: world.zone).refresh().roster
        let (ann, network) = try world.ann.behindAttacker()
        let late = Forgery.entry(by: world.bob, on: after, [.unblock(world.carol.userID)], time: 0)
        network.serve([late])
        await expectRefused(.integrityFailure, by: .changeNotPermitted) { _ = try await ann.own.share(for: world.zone) }
        // At the place before it, where it was valid: this device knows what came there.
        var random = SystemRandom()
        let backdated = try world.bob.container.core.author.next(
            on: before, changes: [], invitations: [Forgery.invitation(of: try await Person(), to: before)],
            rotating: false,
            current: seen.currentKey(), time: 0, random: &random
        ).entry
        var branch = before
        #expect(throws: Never.self) { try branch.append(backdated) }
        network.beHonest()
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) {
            $0.rosters[0].entries = [backdated.wire]
        }
        await expectRefused(.rollback) { _ = try await ann.own.share(for: world.zone) }
        network.beHonest()
        #expect(try await ann.own.share(for: world.zone).participants.count == 3)
    }

    @Test("A roster cut back to its beginning, or forked, is refused by a client that saw more.")
    func attack23_aRosterCutBackOrForked() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        let known = try await world.view(ann).roster
        // What was once true is good in itself: a device that never saw more takes it.
        let (novice, backup) = try world.ann.freshBehindAttacker()
        backup.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { $0.rosters[0].entries.removeLast() }
        backup.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.scopes[0].sequence = known.sequence - 1
            answer.scopes[0].head = Data(known.hashes[Int(known.sequence) - 1].bytes)
        }
        #expect(try await novice.body(of: world.note.recordID) == "from Ann")
        for (sequence, head) in [
            (known.sequence - 1, known.hashes[Int(known.sequence) - 1]), (0, known.hashes[0]), (known.sequence, .zero),
        ] {
            network.beHonest()
            network.rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
                answer.scopes[0].sequence = sequence
                answer.scopes[0].head = Data(head.bytes)
            }
            await expectRefused(.rollback) { _ = try await ann.own.record(for: world.note.recordID) }
        }
        // A branch that the owner herself signed, from another device that a hostile server kept apart.
        var base = try Roster(opening: try await entries(world)[0], scope: known.scope)
        for entry in try await entries(world).dropFirst().dropLast() { try base.append(entry) }
        let branch = Forgery.entry(by: ann, on: base, [.close])
        #expect(throws: Never.self) { try base.append(branch) }
        network.beHonest()
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { $0.rosters[0].entries = [branch.wire] }
        await expectRefused(.rollback) { _ = try await ann.own.share(for: world.zone) }
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
        #expect(try await ann.keeper(of: world.zone).known()?.head == known.head)
    }

    private func entries(_ world: AttackedZone) async throws -> [SignedRosterEntry] {
        try await world.ann.container.core.trust.entries(scope: world.view(world.ann).roster.scopeID)
    }

    @Test("A server's error never makes a check pass: it is tried again, and in the end reported.")
    func attack24_anErrorPassesNoCheck() async throws {
        let world = try await AttackedZone()
        let network = try HostileNetwork(world.ann.server)
        let pacing = FakePacing()
        let ann = try world.ann.through(network, pacing: pacing.pacing)
        _ = try await ann.own.record(for: world.note.recordID)
        // The roster has moved on: the record can be judged only with entries that the server now refuses to give.
        let dave = try await Person()
        _ = try await world.ann.share(world.zone, [(dave, .readWrite)])
        let joined = try await dave.join(try await world.ann.own.share(for: world.zone))
        let saved = try await dave.shared.save(dave.note(in: joined, "by Dave"))
        let id = Record.ID(recordName: saved.recordID.recordName, zoneID: world.zone)
        let failures: [(Int, ErrorCode, SealKitError.Code)] = [
            (503, .serviceUnavailable, .serviceUnavailable), (500, .internalError, .internalError),
            (403, .permissionFailure, .permissionFailure),
            // Of a roster that this device knows as open that is no answer.
            (404, .unknownItem, .rollback), (429, .requestRateLimited, .requestRateLimited),
        ]
        for (status, code, told) in failures {
            let device = try world.ann.onFreshDevice(transport: network)
            network.beHonest()
            let known = try device.through(network, pacing: pacing.pacing)
            _ = try await known.own.record(for: world.note.recordID)
            try await world.ann.own.rotateKeys(of: world.zone)
            let edited = try await dave.shared.save(
                dave.note(in: joined, "under epoch \(status)", name: "at-\(status)"))
            network.lie { path, _, response in
                guard path.hasSuffix("rosters/fetch") else { return }
                response = TransportResponse(status: status, body: try Sealkit_V1_Failure(code, "no").serializedData())
            }
            network.forget()
            let wanted = Record.ID(recordName: edited.recordID.recordName, zoneID: world.zone)
            await expectRefused(told) { _ = try await known.own.record(for: wanted) }
            let tries = network.sent(to: "rosters/fetch").count
            #expect(status == 503 || status == 429 ? tries > 1 : tries >= 1, "\(status): \(tries)")
            network.beHonest()
            pacing.advance(.seconds(3_600))
            #expect(try await known.body(of: wanted) == "under epoch \(status)")
        }
        #expect(try await ann.body(of: id) == "by Dave")
    }
}
