import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealStatements

/// Attacks on what a record was, on what is drawn for it, and on what its sealed bytes show.
extension RecordAttacks {
    @Test("A deleted record brought back, and a forged deletion, are noticed.")
    func attack34_aDeletionUndoneOrForged() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        let doomed = try await ann.own.save(ann.note(in: world.zone, "doomed"))
        _ = try await ann.own.record(for: doomed.recordID)
        let alive = try #require(network.records.last)
        try await ann.own.deleteRecord(withID: doomed.recordID)
        network.show([alive])
        await expectRefused(.rollback) { _ = try await ann.own.record(for: doomed.recordID) }
        expectRefused(
            try await ann.own.recordZoneChanges(inZoneWith: world.zone).modifications.first?.result.error, .rollback)
        network.beHonest()
        #expect(await failure { _ = try await ann.own.record(for: doomed.recordID) } == .unknownItem)

        // A deletion that Carol signs, who may only read; one that nobody signs; and none at all.
        let base = try await world.carol.shared.record(for: world.shared).base
        let view = try await world.view(world.carol)
        let tombstone = try Forgery.record(
            Forgery.statement(by: world.carol, view, kind: .delete, name: "note", following: base), [], by: world.carol,
            key: try view.currentKey())
        #expect(try Statement(canonicalBytes: [UInt8](tombstone.statement)).kind == .delete)
        network.show([tombstone])
        let id = world.note.recordID
        await expectRefused(.integrityFailure, by: .authorNotPermitted) { _ = try await ann.own.record(for: id) }
        await expectRefused(.integrityFailure, by: .authorNotPermitted, "a feed applies none of its deletions") {
            _ = try await ann.own.recordZoneChanges(inZoneWith: world.zone)
        }
        network.beHonest()
        network.inject(.unsignedDeletion(of: id))
        await expectRefused(.integrityFailure, by: .wrongContext) { _ = try await ann.own.record(for: id) }
        network.beHonest()
        network.inject(.deniedRecord(id))
        await expectRefused(.rollback) { _ = try await ann.own.record(for: id) }
        await expectRefused(.rollback, "nor is it deleted by a client that is told so") {
            try await ann.own.deleteRecord(withID: id)
        }
        network.beHonest()
        #expect(try await ann.body(of: id) == "from Ann")
    }

    @Test("A client restored from an old backup never repeats a key with a nonce.")
    func attack35_aRestoredClientRepeatsNoNonce() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "before the backup"))
        let key = try #require(note.base?.recordKey)
        var nonces: Set<Data> = []
        for round in 0..<20 {
            // The same state again: the record with its key, its statement, and everything that the device had.
            let capturing = CapturingTransport(try HTTPTransport(server: ann.server.origin))
            let restored = try ann.through(capturing)
            var edited = note
            edited.encryptedValues["body"] = "after restore \(round)"
            let sent = edited
            let captured = try await capturing.capture { try await restored.own.save(sent) }
            let request = try Sealkit_V1_ModifyRecordsRequest(serializedBytes: try #require(captured.first).body)
            let record = try #require(request.records.first)
            let statement = try Statement(canonicalBytes: [UInt8](record.statement))
            // Under the very same record key: a repeated nonce would give both plaintexts away.
            let verified = VerifiedStatement(
                statement: statement, bytes: [UInt8](record.statement), hash: Statement.hash([UInt8](record.statement)))
            let opener = try RecordOpener(verified, epochKey: try await ann.view(of: zone).currentKey())
            #expect(SecretBytes.areEqual(opener.recordKey, key))
            nonces.insert(record.fields[0].encrypted.sealed.prefix(AEAD.nonceBytes))
            nonces.insert(Data(statement.wrappedKey.prefix(AEAD.nonceBytes)))
        }
        #expect(nonces.count == 40)
        #expect(try await ann.body(of: note.recordID) == "before the backup")
        AttackOutcome.held("40 seals of one restored state: 40 nonces")
    }

    @Test(
        "Plaintexts of one padding bucket give equal sizes; nothing is deduplicated or compressed across participants.")
    func attack36_sizesTellTheBucketAndNothingIsShared() async throws {
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        let lengths = Array(1...300)
        _ = try await ann.own.modifyRecords(
            saving: lengths.map { ann.note(in: world.zone, String(repeating: "x", count: $0), name: "length-\($0)") })
        let request = try Sealkit_V1_ModifyRecordsRequest(
            serializedBytes: try #require(network.sent(to: "records/modify").first))
        var sizes: [Int: Set<Int>] = [:]
        for record in request.records {
            let length = try #require(Int(record.recordName.dropFirst(7)))
            let canonical = try Value.string(String(repeating: "x", count: length)).canonicalBytes().count
            sizes[Int(Padding.paddedLength(UInt64(canonical))), default: []].insert(
                record.fields[0].encrypted.sealed.count)
        }
        // Bare sizes would tell 300 lengths apart.
        #expect(request.records.count == 300)
        #expect(sizes.count < 40)
        #expect(sizes.allSatisfy { $0.value == [$0.key + AEAD.overhead] })

        // The same words, and the same file, of two people and twice of one: nothing in common. Zeros take as much as
        // noise.
        let folder = try TemporaryFolder()
        let (zeros, noise) = (folder.url.appendingPathComponent("zeros"), folder.url.appendingPathComponent("noise"))
        try Data(count: 100_000).write(to: zeros)
        try pattern(100_000).write(to: noise)
        func save(_ person: Person, _ zone: RecordZone.ID, _ file: URL) async throws {
            var record = person.note(in: zone, "the same words")
            record["file"] = Asset(fileURL: file)
            let database = zone.isCurrentUsers ? person.own : person.shared
            try await database.save(record)
        }
        let (bob, bobs) = try world.bob.behindAttacker()
        try await save(ann, world.zone, zeros)
        try await save(ann, world.zone, zeros)
        try await save(ann, world.zone, noise)
        try await save(bob, world.joined, zeros)
        let blobs = network.uploads.map(\.bytes) + bobs.uploads.map(\.bytes)
        #expect(blobs.count == 4)
        let (blobSizes, starts) = (Set(blobs.map(\.count)), Set(blobs.map { $0.prefix(64) }))
        #expect(blobSizes.count == 1)
        #expect(starts.count == 4)
        let bodies = try (network.sent(to: "records/modify").dropFirst() + bobs.sent(to: "records/modify")).map {
            try Sealkit_V1_ModifyRecordsRequest(serializedBytes: $0).records[0].fields[0].encrypted.sealed
        }
        #expect(bodies.count == 4)
        #expect(Set(bodies).count == 4)
        let bodySizes = Set(bodies.map(\.count))
        #expect(bodySizes.count == 1)
        AttackOutcome.held("300 lengths show as \(sizes.count) sizes; equal contents share no byte")
    }
}
