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

/// Attacks on who belongs to a scope and what each may do.
@Suite(.timeLimit(.minutes(60))) struct MembershipAttacks {
    @Test("Who has no signed entry in the roster is not shown as a participant, and gets no key at the next rotation.")
    func attack14_aParticipantWithoutASignedEntry() async throws {
        let world = try await AttackedZone()
        let mallory = try await Person()
        let (ann, network) = try world.ann.behindAttacker()
        let view = try await world.view(ann)
        // Everything but the signature: in Ann's name, with keys of the server's.
        var random = SystemRandom()
        let draft = try Forgery.invitation(of: mallory, to: view.roster)
        func entry(_ keys: IdentityKeys) throws -> SignedRosterEntry {
            try RosterAuthor<XWingHPKE>(user: ann.userID, keys: keys).next(
                on: view.roster, changes: [], invitations: [draft], rotating: false, current: view.currentKey(),
                time: 1, random: &random
            ).entry
        }
        var roster = view.roster
        try roster.append(entry(ann.identity.keys))
        #expect(roster.invitation(for: mallory.userID) != nil, "signed by Ann it would count")
        network.serve([try entry(mallory.identity.keys)])
        await expectRefused(.integrityFailure, by: .invalidSignature) { _ = try await ann.own.share(for: world.zone) }
        network.beHonest()
        let share = try await ann.own.share(for: world.zone)
        #expect(share.participants.count == 3)
        #expect(share.participants.allSatisfy { $0.userIdentity.userRecordID?.recordName != mallory.name })
        network.forget()
        try await ann.own.rotateKeys(of: world.zone)
        let sent = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(network.sent(to: "rosters/append").first))
        #expect(
            try Set(sent.grants.map { try $0.grantSubject() })
                == Set([ann, world.bob, world.carol].map { .member($0.userID) }))
    }

    @Test("An entry by somebody without the right to make it is refused by clients, whatever the server says.")
    func attack15_anEntryWithoutTheRight() async throws {
        let world = try await AttackedZone()
        let (bob, mallory) = (world.bob, try await Person())
        let (ann, network) = try world.ann.behindAttacker()
        let roster = try await world.view(ann).roster
        var random = SystemRandom()
        let settings = RosterChange.settings(.init(linkID: LinkSecret(random: &random).id(in: roster.scopeID)))
        let changes: [RosterChange] = [
            .setRole(bob.userID, .administrator), .setPermission(world.carol.userID, .readWrite),
            .remove(world.carol.userID),
            .block(mallory.userID), settings, .close,
        ]
        for change in changes {
            // The owner may do each of these; Bob's signature is as good as hers.
            #expect(throws: Never.self) { try roster.applying([change], by: ann.userID) }
            let forged = Forgery.entry(by: bob, on: roster, [change])
            try bob.identity.keys.signingKey.verificationKey.verify(
                forged.signature, over: RosterEntry.signedBytes(forged.bytes))
            network.beHonest()
            network.serve([forged])
            await expectRefused(.integrityFailure, by: .changeNotPermitted) {
                _ = try await ann.own.share(for: world.zone)
            }
            // The honest server would not have taken it either.
            let view = try await world.view(bob)
            // (a zone's end has a call of its own)
            await expectRefused(change == .close ? .invalidArguments : .permissionFailure) {
                try await bob.shared.append(.init(entry: forged, grants: [], epochKey: nil), view: view)
            }
        }
        network.beHonest()
        #expect(try await ann.own.share(for: world.zone).participants.count == 3)
        #expect(try await ann.keeper(of: world.zone).known()?.head == roster.head)
    }

    @Test("A write by a participant who may only read is refused by other clients, though the server took it.")
    func attack16_aReaderWrites() async throws {
        let world = try await AttackedZone(bob: .readOnly)
        let forged = try await Forgery.record(by: world.bob, zone: world.joined, body: "forged by a reader")
        let edited = try await Forgery.record(
            by: world.bob, zone: world.joined, body: "forged by a reader", name: "note",
            following: world.bob.shared.record(for: world.shared).base)
        // The key is the zone's own: without the check of the author's right the records open.
        let view = try await world.view(world.bob)
        for (wire, name) in [(forged, "forged"), (edited, "note")] {
            #expect(try Forgery.opens(wire, view: view))
            for person in [world.ann, world.carol] {
                let (reader, network) = try person.behindAttacker()
                network.show([wire])
                let zone = person.name == world.ann.name ? world.zone : world.joined
                let database = zone.isCurrentUsers ? reader.own : reader.shared
                await expectRefused(.integrityFailure, by: .authorNotPermitted) {
                    _ = try await database.record(for: Record.ID(recordName: name, zoneID: zone))
                }
                let feed = try await database.recordZoneChanges(inZoneWith: zone)
                expectRefused(feed.modifications.first?.result.error, .integrityFailure, by: .authorNotPermitted)
            }
        }
        #expect(try await world.ann.body(of: world.note.recordID) == "from Ann")
    }

    @Test(
        "A removed participant with its old keys and the server's whole database opens nothing that is written later.")
    func attack17_aRemovedParticipantWithTheWholeDatabase() async throws {
        let world = try await AttackedZone()
        let old = try await world.view(world.bob)
        let (ann, network) = try world.ann.behindAttacker()
        let before = try await ann.own.share(for: world.zone).url.map { try ShareURL($0) }
        let url = try #require(before)
        var current = try await ann.own.share(for: world.zone)
        current.removeParticipant(
            try #require(current.participants.first { $0.userIdentity.userRecordID?.recordName == world.bob.name }))
        _ = try await ann.own.save(current)
        let secret = try await ann.own.save(ann.note(in: world.zone, "after Bob left", name: "secret"))
        _ = try await ann.own.records(for: [world.note.recordID, secret.recordID])

        // His keys open what he could read, and none of what came after him.
        let wires = Dictionary(network.records.map { ($0.recordName, $0) }) { $1 }
        let (note, later) = (try #require(wires["note"]), try #require(wires["secret"]))
        #expect(old.keys.values.contains { Forgery.opens(note, with: $0) })
        #expect(old.keys.values.allSatisfy { !Forgery.opens(later, with: $0) })
        // Every grant of the new epoch, with his own seed and with all that the URL gives.
        let append = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(network.sent(to: "rosters/append").last))
        let roster = try await world.view(ann).roster
        #expect(append.grants.count == 2)
        for grant in append.grants {
            let subject = try grant.grantSubject()
            let info = Forgery.grantInfo(roster.currentEpoch.context, roster.currentEpoch.keyID, subject)
            let keys = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: subject.id)
            for seed in [world.bob.identity.keys.grantSeed, keys.grantSeed] {
                expectRefused(.authenticationFailed) {
                    _ = try XWingHPKE.open([UInt8](grant.sealed), seed: seed, info: info)
                }
            }
        }
        // The chain of epochs leads back only: the new key opens the old one, not the other way round.
        let anns = try await world.view(ann)
        #expect(throws: Never.self) {
            try anns.currentKey().openPrevious(roster.currentEpoch.previousKey, epoch: roster.epochs[0])
        }
        expectRefused(.authenticationFailed) {
            _ = try old.currentKey().openPrevious(roster.currentEpoch.previousKey, epoch: roster.currentEpoch)
        }
        await expectRefused(.zoneNotFound) { _ = try await world.bob.shared.record(for: world.shared) }
        #expect(
            try await world.carol.body(of: Record.ID(recordName: "secret", zoneID: world.joined)) == "after Bob left")
    }

    /// The server says that it has appended a new epoch, and has not: an administrator's removal is in its place.
    @Test func theKeyOfAnEntryThatTheServerHasNotAppendedSealsNothing() async throws {
        let world = try await AttackedZone()
        try await world.ann.promote(world.bob, in: world.zone)
        let (ann, network) = try world.ann.behindAttacker()
        let before = try await ann.keeper(of: world.zone).refresh()
        network.swallow("rosters/append")
        network.lie { path, _, _ in
            guard path.hasSuffix("rosters/append") else { return }
            try await world.bob.edit(world.joined) { share in
                share.removeParticipant(try #require(share.participant(world.carol)))
            }
            // Another call of the same device hears of that first.
            _ = try await ann.keeper(of: world.zone).refresh()
        }
        #expect(await failure { try await ann.own.rotateKeys(of: world.zone) } == .rollback)
        network.beHonest()

        // What the server was sent opens for Carol.
        let append = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(network.sent(to: "rosters/append").first))
        var drafted = before.roster
        try drafted.append(SignedRosterEntry(append.entry))
        let carol = world.carol
        let grant = try append.grants.first { try $0.grantSubject() == .member(carol.userID) }
        let carols = try Grants<XWingHPKE>.open(
            [UInt8](try #require(grant).sealed), epoch: drafted.currentEpoch, as: carol.userID,
            keys: carol.identity.keys)
        // Nothing that is written now does.
        let view = try await ann.keeper(of: world.zone).refresh()
        #expect(view.roster.members[carol.userID] == nil)
        #expect(view.roster.currentEpoch.context == carols.context)
        #expect(try view.currentKey().keyID == view.roster.currentEpoch.keyID)
        let secret = try await ann.own.save(ann.note(in: world.zone, "after Carol left", name: "secret"))
        _ = try await ann.own.record(for: secret.recordID)
        let wire = try #require(network.records.first { $0.recordName == "secret" })
        #expect(!Forgery.opens(wire, with: carols))
        let bobs = Record.ID(recordName: "secret", zoneID: world.joined)
        #expect(try await world.bob.body(of: bobs) == "after Carol left")
    }

    @Test(
        "Hints withheld (a rotation is due, a participant left): clients notice by themselves before they next write.")
    func attack18_withheldHints() async throws {
        let world = try await AttackedZone()
        let (bob, network) = try world.bob.behindAttacker()
        let old = try await world.view(bob)
        try await world.carol.shared.leaveShare(of: world.joined)
        // Written as if nothing had happened, it would be Carol's to read.
        let unaware = try await Forgery.record(by: bob, zone: world.joined, body: "x", view: old)
        #expect(Forgery.opens(unaware, with: try await world.view(world.carol).currentKey()))
        network.inject(.emptyFeed(of: world.joined))
        #expect(
            try await bob.shared.databaseChanges().modifications.map(\.zoneID) == [world.joined],
            "he knows it all the same")
        _ = try await bob.shared.recordZoneChanges(inZoneWith: world.joined)
        network.forget()
        let saved = try await bob.shared.save(bob.note(in: world.joined, "under a new key"))
        #expect(saved.base?.statement.epoch == old.roster.currentEpoch.number + 1)
        for request in network.sent(to: "records/modify") {
            for record in try Sealkit_V1_ModifyRecordsRequest(serializedBytes: request).records {
                #expect(try Statement(canonicalBytes: [UInt8](record.statement)).epoch > old.roster.currentEpoch.number)
            }
        }
        let paths = network.exchanges.map { $0.path.split(separator: "/").suffix(2).joined(separator: "/") }
        #expect(try #require(paths.firstIndex(of: "rosters/append")) < #require(paths.firstIndex(of: "records/modify")))
        AttackOutcome.held("the new epoch comes before the first write, and no statement goes out under the old one")
    }

    @Test(
        "Leaving, removal, blocking, an end of public access and an account's new keys each lead to a new epoch before the next write."
    )
    func attack19_whoeverGoesTakesNoKeyAlong() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        var roster = try await world.view(ann).roster
        let view = try await world.view(ann)
        var random = SystemRandom()
        // By the rules, which every client applies: an owner with a modified client who saves the new epoch.
        for change in [
            .remove(world.bob.userID), .block(world.bob.userID), .setPermission(world.bob.userID, .readOnly),
        ] as [RosterChange] {
            let lazy = Forgery.entry(by: ann, on: roster, [change])
            #expect(throws: Never.self) { try roster.applying([change], by: ann.userID) }
            let (carol, hostile) = try world.carol.behindAttacker()
            hostile.serve([lazy])
            await expectRefused(.integrityFailure, by: .epochRequired) {
                _ = try await carol.keeper(of: world.joined).refresh()
            }
        }
        let open = try ann.container.core.author.next(
            on: roster, changes: [],
            settings: SettingsDraft(
                secret: LinkSecret(random: &random), publicAccess: (ID16(random: &random), .readOnly)),
            rotating: false, current: view.currentKey(), time: 1, random: &random)
        try roster.append(open.entry)
        let linkID = try #require(roster.linkID)
        expectRefused(.epochRequired, "public access ends") {
            try roster.append(Forgery.entry(by: ann, on: roster, [.settings(.init(linkID: linkID))]))
        }
        let seed = AccountSeed(random: &random)
        let keys = try seed.identityKeys(container: ann.container.containerIdentifier, using: XWingHPKE.self)
        let bobs = world.bob.identity
        let next = try keys.nextIdentity(after: bobs.chain, signedBy: bobs.keys, time: 1)
        for entry in [
            Forgery.entry(by: world.bob, on: roster, [.identity(Array(next.signed.suffix(1)))]),
            Forgery.entry(by: world.carol, on: roster, [.leave]),
        ] {
            var copy = roster
            try copy.append(entry)
            #expect(copy.rotationDue)
        }
        // And through the SDK.
        try await world.carol.shared.leaveShare(of: world.joined)
        let first = try await ann.own.save(ann.note(in: world.zone, "after leaving"))
        #expect(first.base?.statement.epoch == 1)
        let current = try await world.bob.keeper(of: world.joined).refresh()
        try await world.bob.shared.append(
            world.bob.container.core.author.plain(.identity(Array(next.signed.suffix(1))), on: current.roster, time: 1),
            view: current)
        let second = try await ann.own.save(ann.note(in: world.zone, "after new keys"))
        #expect(second.base?.statement.epoch == 2)
        try await AttackedZone.remove(world.bob, from: world.zone, of: ann)
        let third = try await ann.own.save(ann.note(in: world.zone, "after removal"))
        #expect(third.base?.statement.epoch == 3)
        #expect(network.sent(to: "rosters/append").count == 3)
        var share = try await ann.own.share(for: world.zone)
        share.publicPermission = .readOnly
        share = try await ann.own.save(share)
        let dave = try await Person()
        let known = try await dave.view(of: dave.join(share))
        share = try await ann.own.share(for: world.zone)
        try share.blockParticipant(
            try #require(share.participants.first { $0.userIdentity.userRecordID?.recordName == dave.name }))
        share = try await ann.own.save(share)
        let fourth = try await ann.own.save(ann.note(in: world.zone, "after blocking"))
        share.publicPermission = .none
        _ = try await ann.own.save(share)
        let fifth = try await ann.own.save(ann.note(in: world.zone, "after the end of public access"))
        let epochs = [
            known.roster.currentEpoch.number, try #require(fourth.base).statement.epoch,
            try #require(fifth.base).statement.epoch,
        ]
        #expect(epochs[0] < epochs[1] && epochs[1] < epochs[2])
    }
}
