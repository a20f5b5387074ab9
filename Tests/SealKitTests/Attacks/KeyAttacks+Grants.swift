import CSodium
import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealLab
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit
@testable import SealStatements

/// Attacks on grants, and on what makes a client hand a key out.
extension KeyAttacks {
    @Test("A grant replayed to another scope, epoch or member is refused.")
    func attack09_aReplayedGrant() async throws {
        let world = try await AttackedZone()
        let ann = world.ann
        let other = try await ann.makeZone()
        let letter = try await ann.own.save(ann.note(in: other, "in the other zone"))
        func grants(_ person: Person, _ zone: RecordZone.ID) async throws -> [Sealkit_V1_Grant] {
            let (fresh, network) = try person.freshBehindAttacker()
            _ = try await fresh.view(of: zone)
            return try network.exchanges.filter { $0.path.hasSuffix("rosters/fetch") }
                .flatMap { try Sealkit_V1_FetchRostersResponse(serializedBytes: $0.response).rosters[0].grants }
        }
        let (here, there) = (try await grants(ann, world.zone), try await grants(ann, other))
        let carols = try await grants(world.carol, world.joined)
        // Each is real, sealed by whom it should be, and opens where it belongs.
        let roster = try await world.view(ann).roster
        #expect(throws: Never.self) {
            try Grants<XWingHPKE>.open(
                [UInt8](here[0].sealed), epoch: roster.epochs[0], as: ann.userID, keys: ann.identity.keys)
        }
        for replayed in [
            there[0],
            .with {
                $0 = there[0]
                $0.subject = here[0].subject
            }, carols[0],
        ] {
            let (fresh, network) = try ann.freshBehindAttacker()
            network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { $0.rosters[0].grants = [replayed] }
            await expectRefused(.integrityFailure, by: .missingKey) {
                _ = try await fresh.own.record(for: world.note.recordID)
            }
            await expectRefused(.permissionFailure) { try await fresh.own.save(fresh.note(in: world.zone, "x")) }
            #expect(network.sent(to: "records/modify").isEmpty)
        }
        // The old epoch's under the new one's number; and sealed again by a member, bound to the new one.
        try await ann.own.rotateKeys(of: world.zone)
        let after = try await world.view(ann)
        let late = try await ann.own.save(ann.note(in: world.zone, "in the new epoch"))
        let oldKey = try #require(after.keys[0]).key.copyBytes()
        let bound = try Forgery.grant(oldKey, for: after.roster.currentEpoch, to: ann.identity.chain)
        expectRefused(.keyMismatch) {
            _ = try Grants<XWingHPKE>.open(
                bound, epoch: after.roster.currentEpoch, as: ann.userID, keys: ann.identity.keys)
        }
        for replayed in [
            .with {
                $0 = here[0]
                $0.epoch = 1
            }, Sealkit_V1_Grant(subject: .member(ann.userID), epoch: 1, sealed: bound),
        ] {
            let (fresh, network) = try ann.freshBehindAttacker()
            network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { $0.rosters[0].grants = [replayed] }
            await expectRefused(.integrityFailure, by: .missingKey) {
                _ = try await fresh.own.record(for: late.recordID)
            }
        }
        let honest = try ann.onFreshDevice()
        #expect(try await honest.body(of: late.recordID) == "in the new epoch")
        #expect(try await honest.body(of: letter.recordID) == "in the other zone")
    }

    @Test("One ciphertext that opens under two keys: every key that opens anything shared is committed to.")
    func attack10_aCiphertextThatOpensUnderTwoKeys() async throws {
        let world = try await AttackedZone()
        try await world.carol.shared.leaveShare(of: world.joined)
        let (ann, bob) = (world.ann, world.bob)
        let view = try await bob.keeper(of: world.joined).refresh()
        // While rotation is due Bob opens an epoch, and seals one key to himself and another one to Ann.
        var random = SystemRandom()
        let context = EpochContext(scopeID: view.roster.scopeID, incarnations: view.roster.incarnations, epoch: 1)
        let (first, second) = (EpochKey(random: &random, context: context), EpochKey(random: &random, context: context))
        let epoch = Roster.Epoch(
            context: context, keyID: first.keyID,
            previousKey: first.seal(previous: try view.currentKey(), random: &random), openedAt: 0,
            grantHashes: [:])
        let sealed = [
            (bob, try Forgery.grant(first.key.copyBytes(), for: epoch, to: bob.identity.chain)),
            (ann, try Forgery.grant(second.key.copyBytes(), for: epoch, to: ann.identity.chain)),
        ]
        let opening = EpochOpening(
            number: 1, keyID: first.keyID, checkpoint: Checkpoint.none, previousKey: epoch.previousKey,
            coverage: sealed.map { .init(subject: .member($0.0.userID), grantHash: GrantHash.of($0.1)) }.sorted {
                $0.subject < $1.subject
            })
        let entry = Forgery.entry(by: bob, on: view.roster, [], epoch: opening)
        let grants = sealed.map {
            RosterAuthor<XWingHPKE>.Grant(subject: .member($0.0.userID), epoch: 1, sealed: $0.1)
        }
        try await bob.shared.append(.init(entry: entry, grants: grants, epochKey: first), view: view)

        // One record whose key opens under both, each to another key: the cipher alone does not mind.
        let statement = Forgery.statement(by: bob, view, name: "two faces")
        var pae = PAE(.recordKey, pieces: EpochContext.pieces + 1)
        context.add(to: &pae)
        pae.add(RecordBinding(statement).context)
        let data = pae.finish()
        let wrapped = TwoKeyCiphertext.make(first.wrappingKey, second.wrappingKey, associatedData: data)
        let faces = try [first, second].map { try AEAD.open(wrapped, under: $0.wrappingKey, associatedData: data) }
        #expect(faces[0] != faces[1])
        // Ann's grant opens to a key, and that is not the one that the entry names: she has none, reads with none,
        // writes with none.
        let info = Forgery.grantInfo(context, first.keyID, .member(ann.userID))
        #expect(
            try XWingHPKE.open(sealed[1].1, seed: ann.identity.keys.grantSeed, info: info) == second.key.copyBytes())
        expectRefused(.keyMismatch) {
            _ = try Grants<XWingHPKE>.open(sealed[1].1, epoch: epoch, as: ann.userID, keys: ann.identity.keys)
        }
        expectRefused(.keyMismatch) { _ = try EpochKey(second.key, context: context, keyID: first.keyID) }
        _ = try await ann.keeper(of: world.zone).refresh()
        await expectRefused(.permissionFailure) { try await ann.own.save(ann.note(in: world.zone, "x")) }
        // What was there before stays readable, and the owner mends the epoch.
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
        try await ann.own.rotateKeys(of: world.zone)
        try await ann.own.save(ann.note(in: world.zone, "after the mending", name: "after"))
        #expect(try await bob.body(of: Record.ID(recordName: "after", zoneID: world.joined)) == "after the mending")
    }

    @Test(
        "Nothing that the server announces makes a client hand out or escrow a key without its user's signed consent.")
    func attack11_nothingAnnouncedGetsAKey() async throws {
        let world = try await AttackedZone()
        let mallory = try await Person()
        let (ann, network) = try world.ann.behindAttacker()
        // That the key has to be renewed, that the roster has moved, and that the directory's people are others now.
        let announced = LockedValue(0)
        network.lie { path, _, response in
            if path.hasSuffix("records/modify"), announced.value < 2 {
                announced.change { $0 += 1 }
                let code: ErrorCode = announced.value == 1 ? .rotationDue : .staleEpoch
                response = TransportResponse(
                    status: 409, body: try Sealkit_V1_Failure(code, "renew the key for everybody").serializedData())
            }
        }
        let theirs = mallory.identity.chain.wire
        network.rewrite("directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) { $0.results[0].chain = theirs }
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            // A grant to somebody else, for the client to pass on.
            answer.rosters[0].grants.append(Sealkit_V1_Grant(subject: .member(mallory.userID), epoch: 0, sealed: [1]))
        }
        // The save was made before the server said otherwise; that it was is then found by asking.
        let note = ann.note(in: world.zone, "as always")
        #expect(await failure { try await ann.own.save(note) } == .serverRecordChanged)
        #expect(try await ann.body(of: note.recordID) == "as always")
        #expect(announced.value == 2)
        try await ann.own.rotateKeys(of: world.zone)
        _ = try await ann.own.share(for: world.zone)
        var subjects: Set<GrantSubject> = []
        for request in network.sent(to: "rosters/append") {
            subjects.formUnion(
                try Sealkit_V1_AppendRosterRequest(serializedBytes: request).grants.map { try $0.grantSubject() })
        }
        #expect(subjects == Set([ann, world.bob, world.carol].map { .member($0.userID) }))
        let view = try await world.view(ann)
        let secrets =
            view.keys.values.map { $0.key.copyBytes() } + [
                ann.account.seed.bytes.copyBytes(), ann.identity.keys.grantSeed.copyBytes(),
                ann.account.seed.storageKey().copyBytes(),
            ]
        #expect(secrets.count == 5)
        for secret in secrets { #expect(!network.everything.shows(secret)) }
        #expect(network.sent(to: "accounts/create").isEmpty)
        AttackOutcome.held("grants go to the roster's members alone, and no key or seed to anybody")
    }

    @Test("No key pair both signs and agrees.")
    func attack13_noKeyPairSignsAndAgrees() async throws {
        let world = try await AttackedZone()
        let url = try ShareURL(try #require(world.share.url))
        let invitation = try await url.secret.invitationKeys(
            scopeID: world.view(world.ann).roster.scopeID, invitationID: .zero)
        var agreeing: Set<[UInt8]> = [[UInt8](try XWingHPKE.publicKey(seed: invitation.grantSeed).suffix(32))]
        var signing: Set<[UInt8]> = [invitation.signingKey.verificationKey.bytes]
        for person in [world.ann, world.bob] {
            agreeing.insert([UInt8](person.identity.keys.grantKey.suffix(32)))
            signing.insert(person.identity.keys.signingKey.verificationKey.bytes)
            signing.insert(try person.account.seed.loginKey().verificationKey.bytes)
        }
        // The same point seen from the other curve would show a pair that does both.
        var converted: Set<[UInt8]> = []
        for key in signing {
            var point = [UInt8](repeating: 0, count: 32)
            #expect(crypto_sign_ed25519_pk_to_curve25519(&point, key) == 0)
            converted.insert(point)
        }
        #expect(signing.count == 5)
        #expect(converted.count == 5)
        #expect(agreeing.count == 3)
        #expect(converted.isDisjoint(with: agreeing))
        #expect(signing.isDisjoint(with: agreeing))
        // Nor do two of them come of one seed.
        #expect(!SecretBytes.areEqual(world.ann.identity.keys.grantSeed, world.ann.account.seed.bytes))
        AttackOutcome.held("all signing and grant keys are of different pairs, on either curve")
    }
}
