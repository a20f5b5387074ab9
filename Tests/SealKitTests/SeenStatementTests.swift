import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// What a device remembers of a record's newest statement is held against the next one, in zones without any other
/// scope too, and by a device that only looks records up.
@Suite(.timeLimit(.minutes(60))) struct SeenStatementTests {
    private let ann: UserID
    private let bob: UserID
    private let zone = Hash.digest(.link, [1])

    init() throws {
        ann = UserID(try ID16(Array(repeating: 1, count: 16)))
        bob = UserID(try ID16(Array(repeating: 2, count: 16)))
    }

    private func statement(
        _ revision: UInt64, after last: Statement?, kind: Statement.Kind = .save, type: String = "Note",
        creator: UserID? = nil,
        by author: UserID? = nil, roster: UInt64 = 5
    ) -> Statement {
        Statement(
            kind: kind, container: "org.example.notes", environment: .development, owner: ann, zoneName: "notes",
            zoneIncarnation: 1, recordName: "note", recordType: type, creator: creator ?? ann, author: author ?? bob,
            clientTime: 1,
            revision: revision, previous: last.map(hash) ?? .zero, scopeID: zone, scopeIncarnation: 1, epoch: 0,
            wrappedKey: kind == .save ? Array(repeating: 0, count: Statement.wrappedKeyBytes) : [],
            rosterSequence: roster,
            rosterHead: zone, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
    }

    private func hash(_ statement: Statement) -> Digest { Statement.hash(statement.canonicalBytes()) }

    private func verdict(on last: Statement, after seen: [Statement]) async throws -> Verdict? {
        let trust = try TrustStore()
        for one in seen {
            let sighting = Sighting(one, hash: hash(one))
            #expect(try await trust.admit([sighting], in: ScopePlace(zone, 1)).first == .accepted)
        }
        return try await trust.admit([.init(last, hash: hash(last))], in: ScopePlace(zone, 1)).first
    }

    @Test func aRecordCitesNoOlderHeadThanBefore() async throws {
        let first = statement(1, after: nil, creator: ann, by: ann)
        for revision in [2, 3, 400] as [UInt64] {
            #expect(try await verdict(on: statement(revision, after: first, roster: 4), after: [first]) == .behind)
            #expect(
                try await verdict(on: statement(revision, after: first, by: ann, roster: 4), after: [first]) == .behind)
            #expect(try await verdict(on: statement(revision, after: first, roster: 5), after: [first]) == .accepted)
            #expect(try await verdict(on: statement(revision, after: first, roster: 6), after: [first]) == .accepted)
        }
    }

    /// Whoever was out of the zone holds nobody to what was there before, until that is there again; whichever process
    /// hears of it.
    @Test func whatWasMetBeforeAnAbsenceCountsOnceItIsMetAgain() async throws {
        let trust = try TrustStore()
        let place = ScopePlace(zone, 1)
        let (first, second) = (statement(1, after: nil), statement(2, after: statement(1, after: nil)))
        func meet(_ one: Statement) async throws -> Verdict? {
            try await trust.admit([.init(one, hash: hash(one))], in: ScopePlace(zone, 1)).first
        }
        func counts() async throws -> Bool {
            let names = try await trust.living(in: place, scopes: nil) { _ in true }
            let memory = try await trust.memory(of: "note", in: place, asked: nil)
            #expect((memory == .seen) == (names == ["note"]))
            return memory == .seen
        }
        let (out, back) = (SignedRosterEntry(bytes: [1], signature: []), SignedRosterEntry(bytes: [2], signature: []))
        func hear() async throws {
            try await trust.append([out, back], scope: zone, from: 7, absences: [3, 7], share: nil)
        }
        #expect(try await meet(first) == .accepted)
        #expect(try await meet(second) == .accepted)
        #expect(try await counts())
        try await hear()
        #expect(try await !counts())
        // It may not be older than it was, all the same.
        #expect(try await meet(first) == .older)
        #expect(try await !counts())
        #expect(try await meet(second) == .accepted)
        #expect(try await counts())
        try await hear()
        #expect(try await counts())
    }

    @Test func typeAndCreatorStayUntilTheRecordIsDeleted() async throws {
        let first = statement(1, after: nil, by: ann)
        #expect(try await verdict(on: statement(2, after: first, type: "Letter"), after: [first]) == .changed)
        #expect(try await verdict(on: statement(2, after: first, creator: bob), after: [first]) == .changed)
        #expect(
            try await verdict(on: statement(2, after: first, kind: .delete, type: "Letter"), after: [first]) == .changed
        )
        let gone = statement(2, after: first, kind: .delete)
        #expect(
            try await verdict(on: statement(3, after: gone, type: "Letter", creator: bob), after: [first, gone])
                == .accepted)
        #expect(try await verdict(on: statement(3, after: gone, creator: ann), after: [first, gone]) == .changed)
        #expect(
            try await verdict(on: statement(3, after: gone, kind: .delete, creator: bob), after: [first, gone])
                == .changed)
        // Between these it may have been deleted.
        #expect(
            try await verdict(on: statement(3, after: first, type: "Letter", creator: bob), after: [first]) == .accepted
        )
    }

    @Test func theRestIsAsItWas() async throws {
        let first = statement(1, after: nil, by: ann)
        let second = statement(2, after: first)
        #expect(try await verdict(on: first, after: [first, second]) == .older)
        #expect(try await verdict(on: second, after: [first, second]) == .accepted)
        #expect(try await verdict(on: statement(2, after: first, by: ann), after: [first, second]) == .forked)
        #expect(try await verdict(on: statement(3, after: first), after: [first, second]) == .forked)
    }

    /// A record that is gone is nobody's parent.
    @Test func aRecordIsWhereItWasSeenUntilItIsGone() async throws {
        let trust = try TrustStore()
        let place = ScopePlace(zone, 1)
        #expect(try await trust.lastPlace(of: "note", in: place) == nil)
        let first = statement(1, after: nil, by: ann)
        _ = try await trust.admit([.init(first, hash: hash(first))], in: ScopePlace(zone, 1))
        #expect(try await trust.lastPlace(of: "note", in: place) == first.place)
        let tombstone = Sighting.Deletion(first, hash: zone)
        _ = try await trust.admit(
            [.init(first, hash: hash(first), role: .gone(with: tombstone))], in: ScopePlace(zone, 1))
        #expect(try await trust.lastPlace(of: "note", in: place) == nil)
        let again = statement(2, after: first)
        _ = try await trust.admit([.init(again, hash: hash(again))], in: ScopePlace(zone, 1))
        #expect(try await trust.lastPlace(of: "note", in: place) == first.place)
        let gone = statement(3, after: again, kind: .delete)
        _ = try await trust.admit([.init(gone, hash: hash(gone))], in: ScopePlace(zone, 1))
        #expect(try await trust.lastPlace(of: "note", in: place) == nil)
    }

    /// In a zone that knows no share but the zone-wide one, without a new key and without a feed that was read.
    @Test func nobodyWritesOnWhatWasSeenSinceUnderAnOlderHead() async throws {
        let world = try await AttackedZone()
        let old = try await world.view(world.bob)
        try await world.append([.setPermission(world.carol.userID, .readWrite)])
        var note = world.note
        note.encryptedValues["body"] = "since"
        note = try await world.ann.own.save(note)
        let forged = try await Forgery.record(
            by: world.bob, zone: world.joined, body: "late", name: "note", view: old, following: note.base)
        let (novice, network) = try world.ann.freshBehindAttacker()
        network.show([forged])
        #expect(
            try await novice.body(of: note.recordID) == "late", "nothing but what was seen before stands against it")
        let (ann, hostile) = try world.ann.behindAttacker()
        hostile.show([forged])
        await expectRefused(.rollback) { _ = try await ann.own.record(for: note.recordID) }
        hostile.beHonest()
        #expect(try await ann.body(of: note.recordID) == "since")
    }

    /// This device writes while its question is on its way: the answer from before is asked for once more, and is a
    /// rollback then.
    @Test(arguments: [false, true]) func anAnswerThatWasOvertakenIsAskedForAgain(isLying: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "before", name: "note"))
        let (reader, network) = try ann.behindAttacker()
        let answers = LockedValue<[Data]>([])
        network.lie { path, _, response in
            guard path.hasSuffix("records/lookup") else { return }
            let body = response.body
            answers.change { $0.append(body) }
            if answers.value.count == 1 {
                var next = note
                next.encryptedValues["body"] = "since"
                try await ann.own.save(next)
            } else if isLying {
                response.body = answers.value[0]
            }
        }
        if isLying {
            await expectRefused(.rollback) { _ = try await reader.own.record(for: note.recordID) }
        } else {
            #expect(try await reader.body(of: note.recordID) == "since")
        }
        #expect(answers.value.count == 2)
        #expect(try await reader.container.violations().isEmpty == !isLying)
    }

    @Test func theServerDoesNotHelpAWriterToAnotherTypeOrCreator() async throws {
        let world = try await AttackedZone()
        let view = try await world.view(world.bob)
        let fields: [(name: String, field: FieldDraft)] = [("body", .encrypted(.string("Bob's")))]
        let typed = Forgery.statement(by: world.bob, view, name: "note", type: "Letter", following: world.note.base)
        var taken = Forgery.statement(by: world.bob, view, name: "note", following: world.note.base)
        taken.creator = world.bob.userID
        for statement in [typed, taken] {
            let forged = try Forgery.record(statement, fields, by: world.bob, key: view.currentKey())
            let (novice, network) = try world.ann.freshBehindAttacker()
            network.show([forged])
            #expect(
                try await novice.body(of: world.note.recordID) == "Bob's",
                "nothing but what was seen before stands against it")
            let (ann, hostile) = try world.ann.behindAttacker()
            hostile.show([forged])
            await expectRefused(.integrityFailure) { _ = try await ann.own.record(for: world.note.recordID) }
            hostile.beHonest()
            #expect(try await ann.body(of: world.note.recordID) == "from Ann")
        }
    }
}
