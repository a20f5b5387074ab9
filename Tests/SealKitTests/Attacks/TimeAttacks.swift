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

/// Attacks that the review of the design thought of: on what was once right, shown at the wrong time or place.
@Suite(.timeLimit(.minutes(60))) struct TimeAttacks {
    @Test(
        "A removed participant and the server back-date a write under the old epoch: a client that has read past the rotation refuses it."
    )
    func attack53_aBackdatedWrite() async throws {
        let world = try await AttackedZone()
        let old = try await world.view(world.bob)
        try await AttackedZone.remove(world.bob, from: world.zone, of: world.ann)
        _ = try await world.ann.own.recordZoneChanges(inZoneWith: world.zone)
        let forged = try await Forgery.record(by: world.bob, zone: world.joined, body: "back-dated", view: old)
        let edited = try await Forgery.record(
            by: world.bob, zone: world.joined, body: "back-dated", name: "note", view: old, following: world.note.base)
        // At the head that they cite he might write, under the epoch in force there: all else holds, and a device that
        // has read nothing yet has nothing to go by.
        let view = try await world.view(world.ann)
        for (wire, name) in [(forged, "forged"), (edited, "note")] {
            let id = Record.ID(recordName: name, zoneID: world.zone)
            #expect(try Forgery.verifies(wire, view.roster))
            let (novice, network) = try world.ann.freshBehindAttacker()
            network.show([wire])
            #expect(try await novice.body(of: id) == "back-dated")
            let (ann, hostile) = try world.ann.behindAttacker()
            hostile.show([wire])
            await expectRefused(.rollback) { _ = try await ann.own.record(for: id) }
            expectRefused(
                try await ann.own.recordZoneChanges(inZoneWith: world.zone).modifications.first?.result.error, .rollback
            )
            hostile.beHonest()
        }
        #expect(try await world.ann.body(of: world.note.recordID) == "from Ann")
    }

    @Test(
        "Two different statements with one revision, shown to two clients or one after the other: whoever sees both refuses."
    )
    func attack54_twoStatementsWithOneRevision() async throws {
        let world = try await AttackedZone()
        let base = try await world.bob.shared.record(for: world.shared).base
        let faces = [
            try await Forgery.record(by: world.bob, zone: world.joined, body: "for Ann", name: "note", following: base),
            try await Forgery.record(
                by: world.bob, zone: world.joined, body: "for Carol", name: "note", following: base),
        ]
        let (ann, annsServer) = try world.ann.behindAttacker()
        let (carol, carolsServer) = try world.carol.behindAttacker()
        annsServer.show([faces[0]])
        carolsServer.show([faces[1]])
        // Each is good in itself: both clients take theirs.
        let id = world.note.recordID
        #expect(try await ann.body(of: id) == "for Ann")
        #expect(try await carol.body(of: world.shared) == "for Carol")
        annsServer.beHonest()
        annsServer.show([faces[1]])
        carolsServer.beHonest()
        carolsServer.show([faces[0]])
        await expectRefused(.rollback) { _ = try await ann.own.record(for: id) }
        await expectRefused(.rollback) { _ = try await carol.shared.record(for: world.shared) }
        // Nor does a next revision follow from the other face.
        let statement = try Statement(canonicalBytes: [UInt8](faces[1].statement))
        let hash = Statement.hash([UInt8](faces[1].statement))
        let next = try await Forgery.record(
            by: world.bob, zone: world.joined, body: "third", name: "note",
            following: Record.Base(statement: statement, hash: hash, proof: try StatementProof(faces[1].proof)))
        annsServer.beHonest()
        annsServer.show([next])
        await expectRefused(.rollback) { _ = try await ann.own.record(for: id) }
    }

    @Test(
        "A writer in one share signs a statement about a record outside of it, or its tombstone: refused by everyone.")
    func attack55_aWriterSignsOutsideOfItsShare() async throws {
        let world = try await AttackedZone()
        let view = try await world.view(world.bob)
        let other = try await world.ann.makeZone()
        let letter = try await world.ann.own.save(world.ann.note(in: other, "private", name: "letter"))
        // In the scope that he may write in, about a record of another zone; and as if of that zone's own scope.
        let outside = Forgery.statement(by: world.bob, view, name: "letter", following: letter.base)
        let tombstone = Forgery.statement(by: world.bob, view, kind: .delete, name: "letter", following: letter.base)
        let secret = try await world.ann.view(of: other)
        let inside = Forgery.statement(by: world.bob, secret, name: "letter", following: letter.base)
        let key = try view.currentKey()
        let forged: [(Sealkit_V1_Record, SealError)] = [
            (try Forgery.record(outside, [("body", .encrypted(.string("x")))], by: world.bob, key: key), .wrongContext),
            (try Forgery.record(tombstone, [], by: world.bob, key: key), .wrongContext),
            (
                try Forgery.record(
                    inside, [("body", .encrypted(.string("x")))], by: world.bob, key: secret.currentKey()),
                .authorNotPermitted
            ),
        ]
        #expect(try Forgery.verifies(forged[0].0, view.roster), "in his own zone it would be a record like any other")
        for (wire, check) in forged {
            let (ann, network) = try world.ann.behindAttacker()
            network.show([wire])
            await expectRefused(.integrityFailure, by: check) { _ = try await ann.own.record(for: letter.recordID) }
            let request = Sealkit_V1_ModifyRecordsRequest.with {
                $0.operationID = newOperationID()
                $0.zone = secret.scope.zoneIDOnWire
                $0.atomic = true
                $0.signature = wire.proof.signature
                $0.records = [
                    .with {
                        $0 = wire
                        $0.clearProof()
                    }
                ]
            }
            await expectRefused(.zoneNotFound, "the honest server") {
                let _: Sealkit_V1_ModifyRecordsResponse = try await world.bob.container.core.call(
                    .shared, Endpoints.records.modify, request)
            }
        }
        #expect(try await world.ann.body(of: letter.recordID) == "private")
        try await attack55BetweenHierarchies(world)
    }

    @Test(
        "A demoted writer signs under its last writing epoch, citing the old head: refused by whoever has read past the demotion."
    )
    func attack56_aDemotedWriter() async throws {
        let world = try await AttackedZone()
        let old = try await world.view(world.bob)
        try await world.append([.setPermission(world.bob.userID, .readOnly)], rotating: true)
        _ = try await world.ann.own.recordZoneChanges(inZoneWith: world.zone)
        _ = try await world.carol.shared.recordZoneChanges(inZoneWith: world.joined)
        let forged = try await Forgery.record(by: world.bob, zone: world.joined, body: "late", view: old)
        #expect(try Forgery.verifies(forged, try await world.view(world.ann).roster))
        let id = Record.ID(recordName: "forged", zoneID: world.zone)
        let (novice, network) = try world.ann.freshBehindAttacker()
        network.show([forged])
        #expect(try await novice.body(of: id) == "late", "nothing but what was read before stands against it")
        for person in [world.ann, world.carol] {
            let (reader, hostile) = try person.behindAttacker()
            hostile.show([forged])
            let own = person.name == world.ann.name
            let wanted = Record.ID(recordName: "forged", zoneID: own ? world.zone : world.joined)
            await expectRefused(.rollback) { _ = try await (own ? reader.own : reader.shared).record(for: wanted) }
        }
        // Under the new epoch, or citing the new head, it is refused by anybody.
        let now = try await world.bob.keeper(of: world.joined).refresh()
        let current = try await Forgery.record(by: world.bob, zone: world.joined, body: "late", view: now)
        let (reader, hostile) = try world.ann.freshBehindAttacker()
        hostile.show([current])
        await expectRefused(.integrityFailure, by: .authorNotPermitted) { _ = try await reader.own.record(for: id) }
        #expect(try await world.ann.body(of: world.note.recordID) == "from Ann")
    }

    @Test(
        "A reader's forged field is answered to a writer who saves another field: nobody's signature comes to cover it."
    )
    func attack57_nobodySignsAForgedField() async throws {
        let world = try await AttackedZone(bob: .readOnly)
        // Bob may read, so he can seal; the server hands his field out next to Ann's own.
        let view = try await world.view(world.bob)
        let base = try #require(try await world.bob.shared.record(for: world.shared).base)
        let forged = try Forgery.record(
            Forgery.statement(by: world.bob, view, name: "note", following: base),
            [("body", .encrypted(.string("forged")))],
            by: world.bob, key: try view.currentKey(), recordKey: base.recordKey)
        #expect(try Forgery.opens(forged, view: view))
        let digest = try WireField(forged.fields[0]).digest(name: "body")
        let (ann, network) = try world.ann.behindAttacker()
        _ = try await ann.own.record(for: world.note.recordID)
        let real = try #require(network.records.last)
        var mixed = real
        mixed.fields = forged.fields
        var asDigest = real
        asDigest.fields[0].omitted = Data(digest.bytes)
        // Asked for with all fields, with none of them, and in answer to a conflict.
        for lie in [mixed, asDigest, forged] {
            network.beHonest()
            network.show([lie])
            for keys in [nil, [], ["title"]] as [[String]?] {
                let result = try await ann.own.records(for: [world.note.recordID], desiredKeys: keys)[
                    world.note.recordID]
                expectRefused(result?.error, .integrityFailure)
            }
        }
        for lie in [mixed, forged] {
            network.beHonest()
            var stale = try await ann.own.record(for: world.note.recordID)
            var newer = stale
            newer["headline"] = UUID().uuidString
            _ = try await world.ann.own.save(newer)
            network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
                for index in answer.results.indices where answer.results[index].hasServerRecord {
                    answer.results[index].serverRecord = lie
                }
            }
            stale["headline"] = "from another device"
            let change = stale
            for policy in [Database.SavePolicy.changedKeys, .allKeys, .ifServerRecordUnchanged] {
                let results = try await ann.own.modifyRecords(saving: [change], savePolicy: policy)
                let code = results.saveResults[world.note.recordID]?.failureCode
                #expect(code == .integrityFailure || code == .rollback, "\(String(describing: code))")
            }
        }
        for request in network.sent(to: "records/modify") {
            for record in try Sealkit_V1_ModifyRecordsRequest(serializedBytes: request).records {
                for field in record.fields { #expect(try WireField(field).digest(name: field.name) != digest) }
            }
        }
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
    }
}
