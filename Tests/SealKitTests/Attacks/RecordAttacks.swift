import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealStatements

/// Attacks on records: a server that rewrites its answers, and participants who sign what no honest client would.
@Suite(.timeLimit(.minutes(60))) struct RecordAttacks {
    @Test("Ciphertexts moved to another field, record, type, zone, share or container do not open.")
    func attack25_ciphertextsMovedElsewhere() async throws {
        let world = try await AttackedZone()
        let (bob, view) = (world.bob, try await world.view(world.bob))
        let mine = try await bob.shared.record(for: world.shared)
        let key = try #require(mine.base?.recordKey)
        let (fresh, network) = try bob.freshBehindAttacker()
        _ = try await fresh.shared.record(for: world.shared)
        let stolen = try WireField(try #require(network.records.first?.fields.first))

        // Bob may write, has every key, and signs: only where the ciphertext belongs stands against him.
        let other = try await world.ann.makeZone()
        _ = try await bob.join(try await world.ann.share(other, [(bob, .readWrite)]))
        let otherView = try await bob.view(of: RecordZone.ID(zoneName: other.zoneName, ownerName: world.ann.name))
        let moves: [(view: ZoneView, zone: RecordZone.ID, statement: Statement, field: String)] = [
            (view, world.zone, Forgery.statement(by: bob, view, name: "note", following: mine.base), "title"),
            (view, world.zone, Forgery.statement(by: bob, view, name: "other"), "body"),
            (view, world.zone, Forgery.statement(by: bob, view, name: "note", type: "Letter"), "body"),
            (otherView, other, Forgery.statement(by: bob, otherView, name: "note"), "body"),
        ]
        for move in moves {
            let forged = try Forgery.record(
                move.statement, [], stored: [(move.field, stolen)], by: bob, key: try move.view.currentKey(),
                recordKey: key)
            #expect(
                try Forgery.verifies(forged, move.view.roster)
                    && Forgery.opens(forged, with: try move.view.currentKey()))
            let (ann, hostile) = try world.ann.freshBehindAttacker()
            hostile.show([forged])
            let id = Record.ID(recordName: move.statement.recordName, zoneID: move.zone)
            await expectRefused(.integrityFailure, by: .authenticationFailed) { _ = try await ann.own.record(for: id) }
        }

        // What a ciphertext is bound to, one by one: the same keys, and only the place is another.
        let changes: [(inout Statement) -> Void] = [
            { $0.container = "org.example.other" }, { $0.environment = .production }, { $0.owner = bob.userID },
            { $0.zoneName += "2" },
            { $0.zoneIncarnation += 1 }, { $0.recordName += "2" }, { $0.recordType += "2" },
        ]
        let home = Forgery.statement(by: bob, view, name: "note")
        guard case .stored(let sealed, _) = stolen else { throw SealError.malformed }
        #expect(try opens(sealed, as: "body", in: home, under: key))
        for change in changes {
            var place = home
            change(&place)
            expectRefused(.authenticationFailed) { _ = try opens(sealed, as: "body", in: place, under: key) }
        }
        #expect(try await world.ann.body(of: world.note.recordID) == "from Ann")
    }

    /// With a record key that was wrapped for exactly this place.
    private func opens(_ field: StoredField, as name: String, in statement: Statement, under recordKey: SecretBytes)
        throws -> Bool
    {
        var random = SystemRandom()
        let key = EpochKey(random: &random, context: statement.epochContext)
        let draft = RecordDraft(
            statement: statement, recordKey: recordKey, fields: [(name, .carried(try field.digest(name: name)))])
        let sealed = try RecordSealer.seal(
            [draft], epochKey: key, signingKey: try SigningKey(seed: SecretBytes(random: &random)), random: &random
        ).records[0]
        let verified = VerifiedStatement(statement: sealed.statement, bytes: sealed.statementBytes, hash: sealed.hash)
        _ = try RecordOpener(verified, epochKey: key).open(field, name: name)
        return true
    }

    @Test("Fields of two revisions mixed into one record: the record is refused.")
    func attack26_fieldsOfTwoRevisionsMixed() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        var note = ann.note(in: zone, "first body")
        note.encryptedValues["title"] = "first title"
        note = try await ann.own.save(note)
        _ = try await ann.own.record(for: note.recordID)
        note.encryptedValues["body"] = "second body"
        note = try await ann.own.save(note)
        _ = try await ann.own.record(for: note.recordID)
        let (first, second) = (try #require(network.records.first), try #require(network.records.last))
        // Both fields are the author's own, under one key, and open where they are: they never stood together.
        let view = try await ann.view(of: zone)
        #expect(try Forgery.verifies(first, view.roster) && Forgery.verifies(second, view.roster))
        #expect(first.fields.map(\.name) == ["body", "title"] && first.fields[0] != second.fields[0])
        var mixed = second
        mixed.fields[0] = first.fields[0]
        network.show([mixed])
        let id = note.recordID
        await expectRefused(.integrityFailure, by: .fieldMismatch) { _ = try await ann.own.record(for: id) }
        let feed = try await ann.own.recordZoneChanges(inZoneWith: zone)
        expectRefused(feed.modifications.first?.result.error, .integrityFailure, by: .fieldMismatch)
        network.beHonest()
        #expect(try await ann.body(of: id) == "second body")
    }

    @Test("A revision older than the device has seen is refused.")
    func attack27_anOlderRevision() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        var note = try await ann.own.save(ann.note(in: zone, "first"))
        _ = try await ann.own.record(for: note.recordID)
        let old = try #require(network.records.first)
        note.encryptedValues["body"] = "second"
        note = try await ann.own.save(note)
        network.show([old])
        let id = note.recordID
        await expectRefused(.rollback) { _ = try await ann.own.record(for: id) }
        expectRefused(
            try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.first?.result.error, .rollback)
        // The old answer is good in itself: a device that never saw the second revision takes it.
        #expect(try await ann.onFreshDevice(transport: network).body(of: id) == "first")
        network.beHonest()
        #expect(try await ann.body(of: id) == "second")
    }

    @Test("An encrypted field that comes plain, or is left out without its digest, is refused, not defaulted.")
    func attack28_anEncryptedFieldComesPlainOrNotAtAll() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "sealed"))
        _ = try await ann.own.record(for: note.recordID)
        let real = try #require(network.records.first)
        let id = note.recordID
        var added = real
        added.fields.append(WireField.stored(.plain(.string("more")), blob: nil).wire(name: "more"))
        let more = added
        let lies: [@Sendable () -> Void] = [
            { network.inject(.plainField(of: id)) }, { network.inject(.withheldField(of: id)) },
            { network.show([more]) },
        ]
        for lie in lies {
            network.beHonest()
            lie()
            network.forget()
            await expectRefused(.integrityFailure, by: .fieldMismatch) { _ = try await ann.own.record(for: id) }
            let partial = try await ann.own.records(for: [id], desiredKeys: [])[id]
            expectRefused(partial?.error, .integrityFailure, by: .fieldMismatch)
            // Each is a record that decodes, with the real author's signature over its statement.
            let forged = try #require(network.records.first)
            let proof = try StatementProof(forged.proof)
            try ann.identity.keys.signingKey.verificationKey.verify(
                proof.signature,
                over: StatementTree.signedBytes(
                    root: try proof.root(from: Statement.hash([UInt8](forged.statement))), leafCount: 1))
            #expect(throws: Never.self) { try forged.fields.map { try WireField($0) } }
        }
        // With its digest it may be left out, but not where it was asked for.
        var withheld = real
        withheld.fields[0].omitted = Data(try #require(note.base?.digests["body"]).bytes)
        network.beHonest()
        network.show([withheld])
        await expectRefused(.integrityFailure, by: .fieldMismatch) { _ = try await ann.own.record(for: id) }
        let partial = try await ann.own.records(for: [id], desiredKeys: [])[id]?.get()
        #expect(partial?.omittedKeys == ["body"])
        network.beHonest()
        #expect(try await ann.body(of: id) == "sealed")
    }

    @Test("No date, flag or version that the server supplies waives a check.")
    func attack29_noCheckIsWaivedByWhatTheServerSays() async throws {
        let world = try await AttackedZone()
        let view = try await world.view(world.carol)
        // Carol may only read, and holds the key: everything else about her record holds.
        let forged = try await Forgery.record(by: world.carol, zone: world.joined, body: "forged")
        #expect(try Forgery.opens(forged, view: view))
        let (ann, network) = try world.ann.behindAttacker()
        let id = Record.ID(recordName: "forged", zoneID: world.zone)
        var variants = [forged]
        let dates: [Int64] = [0, 1, -1, .min, .max]
        for date in dates {
            variants.append(
                .with {
                    $0 = forged
                    $0.creationDate = date
                    $0.modificationDate = date
                })
            variants.append(
                try Forgery.resign(forged, by: world.carol.identity.keys.signingKey) { $0.clientTime = date })
        }
        for tag in ["", "0", "99999999999", "trusted"] {
            variants.append(
                .with {
                    $0 = forged
                    $0.changeTag = tag
                })
        }
        for position in [0, .max] as [UInt64] {
            variants.append(
                .with {
                    $0 = forged
                    $0.position = position
                })
        }
        // Fields that a later version might have.
        for number in [11, 15, 99, 120, 140, 2000] as [UInt64] {
            let extra = Data([
                UInt8(truncatingIfNeeded: number << 3 & 0x7F | 0x80), UInt8(truncatingIfNeeded: number >> 4), 1,
            ])
            variants.append(try Sealkit_V1_Record(serializedBytes: try forged.serializedData() + extra))
        }
        for variant in variants {
            network.beHonest()
            network.show([variant])
            await expectRefused(.integrityFailure, by: .authorNotPermitted) { _ = try await ann.own.record(for: id) }
        }
        // Said to have left a share, which only the owner's move can show.
        network.beHonest()
        network.show([
            .with {
                $0 = forged
                $0.departed = true
            }
        ])
        await expectRefused(.integrityFailure, by: .wrongContext) { _ = try await ann.own.record(for: id) }
        network.beHonest()
        network.show([forged])
        network.rewrite("zones/lookup", Sealkit_V1_LookupZonesResponse.self) { answer in
            for index in answer.results.indices {
                answer.results[index].zone.capabilities = .max
                answer.results[index].zone.shared = false
                answer.results[index].zone.changeTag = "verified"
            }
        }
        #expect(try await ann.own.recordZone(for: world.zone).isShared)
        await expectRefused(.integrityFailure, by: .authorNotPermitted) { _ = try await ann.own.record(for: id) }
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
        #expect(await failure { _ = try await ann.own.record(for: id) } == .unknownItem)
    }

    @Test("A record, zone or share put in without a valid author never reaches the app.")
    func attack32_nothingReachesTheAppWithoutAValidAuthor() async throws {
        let world = try await AttackedZone()
        let mallory = try await Person()
        let view = try await world.view(world.carol)
        // Mallory is nobody in the zone; somebody even gave her its key.
        let statement = Forgery.statement(by: mallory, view, name: "forged")
        let forged = try Forgery.record(
            statement, [("body", .encrypted(.string("x")))], by: mallory, key: try view.currentKey())
        #expect(Forgery.opens(forged, with: try view.currentKey()))
        let (ann, network) = try world.ann.behindAttacker()
        network.show([forged])
        await expectRefused(.integrityFailure, by: .authorNotPermitted) {
            _ = try await ann.own.record(for: Record.ID(recordName: "forged", zoneID: world.zone))
        }
        let feed = try await ann.own.recordZoneChanges(inZoneWith: world.zone)
        expectRefused(feed.modifications.first?.result.error, .integrityFailure, by: .authorNotPermitted)

        // A zone, with its real and whole roster: Dave is not in it.
        let (dave, hostile) = try await Person().behindAttacker()
        let anns = try await world.view(world.ann)
        let entries = try await world.ann.container.core.trust.entries(scope: anns.roster.scopeID)
        hostile.lie { path, _, response in
            if path.hasSuffix("zones/lookup") {
                response = TransportResponse(
                    status: 200,
                    body: try Sealkit_V1_LookupZonesResponse.with {
                        $0.results = [.with { $0.zone = Forgery.zone(anns) }]
                    }.serializedData())
            }
            if path.hasSuffix("zones/changes") {
                response = TransportResponse(
                    status: 200,
                    body: try Sealkit_V1_DatabaseChangesResponse.with { $0.modifications = [Forgery.zone(anns)] }
                        .serializedData())
            }
            if path.hasSuffix("rosters/fetch") {
                response = TransportResponse(
                    status: 200,
                    body: try Sealkit_V1_FetchRostersResponse.with {
                        $0.rosters = [.with { $0.entries = entries.map(\.wire) }]
                    }.serializedData())
            }
        }
        #expect(try await dave.shared.allRecordZones().isEmpty)
        #expect(try await dave.shared.databaseChanges().modifications.isEmpty)
        #expect(try await world.bob.shared.allRecordZones().map(\.zoneID) == [world.joined])
        AttackOutcome.held("a zone without this account in its roster is not listed")
    }

    @Test("A changed parent or share reference is noticed.")
    func attack33_aChangedParentOrShareReference() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let zone = try await ann.makeZone()
        let (first, second) = (ann.note(in: zone, "first", name: "first"), ann.note(in: zone, "second", name: "second"))
        var child = ann.note(in: zone, "child", name: "child")
        child.setParent(first)
        _ = try await ann.own.modifyRecords(saving: [first, second, child])
        #expect(try await ann.own.record(for: child.recordID).parent?.recordName == "first")
        let real = try #require(network.records.last)
        let stranger = try await Person().identity.keys.signingKey
        for change in [{ $0.parent = "second" }, { $0.parent = nil }, { $0.share = "a share" }]
            as [(inout Statement) -> Void]
        {
            var forged = try Forgery.resign(real, by: stranger, change)
            #expect(
                try Statement(canonicalBytes: [UInt8](forged.statement)).parent != "first"
                    || forged.statement != real.statement)
            network.beHonest()
            // With the author's signature over what it was, or with one over what it is.
            for proof in [real.proof, forged.proof] {
                forged.proof = proof
                network.show([forged])
                await expectRefused(.integrityFailure, by: .invalidSignature) {
                    _ = try await ann.own.record(for: child.recordID)
                }
            }
        }
        network.beHonest()
        #expect(try await ann.own.record(for: child.recordID).parent?.recordName == "first")
    }
}
