import Foundation
import SealClient
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// Deletions that are said to have taken others along.
extension RecordAttacks {
    @Test(
        "A server says that a record went with a deletion that does not cover it as it is now, is back-dated, or by somebody without the right: it stays."
    )
    func attack70_aDeletionSaidToHaveTakenAlong() async throws {
        let world = try await AttackedZone()
        let target = try await world.ann.own.save(world.ann.note(in: world.zone, "target", name: "list"))
        let (ann, network) = try world.ann.behindAttacker()
        let id = world.note.recordID
        _ = try await ann.own.record(for: id)
        let first = try #require(network.records.last)
        var edited = try await ann.own.record(for: id)
        edited.encryptedValues["body"] = "edited"
        let kept = try await ann.own.save(edited)
        _ = try await ann.own.record(for: id)
        let newest = try #require(network.records.last)
        // As of what the newest statement cites: an older deletion takes nothing.
        let old = try await ann.view(of: world.zone)

        func expectKept(
            _ code: SealKitError.Code, by check: SealError? = nil, _ comment: Comment, _ notice: Sealkit_V1_Record
        ) async throws {
            network.show([notice])
            await expectRefused(code, by: check, comment) { _ = try await ann.own.record(for: id) }
            network.beHonest()
            #expect(try await ann.body(of: id) == "edited", comment)
        }
        func deletion(by person: Person, covering records: [Sealkit_V1_Record]) throws -> Sealkit_V1_Record {
            try Forgery.deletion(of: target.base, by: person, old, covering: records)
        }
        try await expectKept(
            .integrityFailure, by: .fieldMismatch, "a deletion that covers nothing",
            try Forgery.notice(of: newest, with: deletion(by: world.bob, covering: []), covering: []))
        try await expectKept(
            .integrityFailure, by: .fieldMismatch, "a deletion that covers an older statement",
            try Forgery.notice(of: newest, with: deletion(by: world.bob, covering: [first]), covering: [first]))
        try await expectKept(
            .rollback, "the older statement, which it does cover",
            try Forgery.notice(of: first, with: deletion(by: world.bob, covering: [first]), covering: [first]))
        try await expectKept(
            .integrityFailure, by: .authorNotPermitted, "a deletion by somebody who may only read",
            try Forgery.notice(of: newest, with: deletion(by: world.carol, covering: [newest]), covering: [newest]))
        let other = try await ann.makeZone()
        let elsewhere = try await ann.own.save(ann.note(in: other, "target", name: "list"))
        let outside = try Forgery.deletion(
            of: elsewhere.base, by: world.ann, try await ann.view(of: other), covering: [newest])
        try await expectKept(
            .integrityFailure, by: .wrongContext, "a deletion in another zone",
            try Forgery.notice(of: newest, with: outside, covering: [newest]))

        // Bob might have deleted it; removed, he signs so with the server's help, under the key that he had.
        try await AttackedZone.remove(world.bob, from: world.zone, of: world.ann)
        _ = try await ann.own.recordZoneChanges(inZoneWith: world.zone)
        let backdated = try Forgery.notice(
            of: newest, with: deletion(by: world.bob, covering: [newest]), covering: [newest])
        try await expectKept(.rollback, "a back-dated deletion", backdated)
        // All else about it holds: whoever has read nothing yet has nothing to go by.
        let (novice, hostile) = try world.ann.freshBehindAttacker()
        hostile.show([backdated])
        #expect(await failure { _ = try await novice.own.record(for: id) } == .unknownItem)
        #expect(kept.recordID == id)
    }
}
