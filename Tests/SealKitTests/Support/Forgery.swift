import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit

/// What a participant with a modified client and a server on its side can make.
enum Forgery {
    /// A record sealed with the zone's real key and signed by somebody, as of the roster that `view` knows.
    /// - Parameter base: the record's statement before; nil for a new record.
    static func record(
        by person: Person, zone: RecordZone.ID, body: String, name: String = "forged", view given: ZoneView? = nil,
        following base: Record.Base? = nil
    ) async throws -> Sealkit_V1_Record {
        let view = if let given { given } else { try await person.view(of: zone) }
        let statement = statement(by: person, view, name: name, following: base)
        return try record(statement, [("body", .encrypted(.string(body)))], by: person, key: view.currentKey())
    }

    /// A statement of somebody's, citing the head that `view` knows.
    static func statement(
        by person: Person, _ view: ZoneView, kind: Statement.Kind = .save, name: String, type: String = "Note",
        following base: Record.Base? = nil
    ) -> Statement {
        let roster = view.roster
        let previous = base?.statement
        return Statement(
            kind: kind, container: roster.scope.container, environment: roster.scope.environment, owner: roster.owner,
            zoneName: roster.scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: name,
            recordType: type,
            creator: previous?.creator ?? person.userID, author: person.userID, clientTime: 0,
            revision: (previous?.revision ?? 0) + 1, previous: base?.hash ?? .zero,
            scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [], rosterSequence: roster.sequence, rosterHead: roster.head, checkpoint: Checkpoint.none,
            parent: previous?.parent, share: nil,
            salt: .zero, fieldsDigest: .zero)
    }

    /// A sealed and signed record as the server would hand it out.
    /// - Parameters:
    ///   - recordKey: of another record, for ciphertexts that are carried over from there; nil for a fresh one.
    ///   - stored: fields as they are, under any name, whatever they were sealed for.
    static func record(
        _ statement: Statement, _ fields: [(name: String, field: FieldDraft)],
        stored: [(name: String, field: WireField)] = [],
        by person: Person, key: EpochKey, recordKey: SecretBytes? = nil, taking taken: TakenRecords = .none
    ) throws -> Sealkit_V1_Record {
        let carried = try stored.map { (name: $0.name, field: FieldDraft.carried(try $0.field.digest(name: $0.name))) }
        let all = (fields + carried).sorted { FieldSet.isOrdered($0.name, $1.name) }
        var random = SystemRandom()
        let sealed = try RecordSealer.seal(
            [RecordDraft(statement: statement, recordKey: recordKey, fields: all, taking: taken)], epochKey: key,
            signingKey: person.identity.keys.signingKey, random: &random)
        let record = sealed.records[0]
        let contents = record.fields.compactMap { name, content, _ -> Sealkit_V1_Field? in
            if let moved = stored.first(where: { $0.name == name }) { return moved.field.wire(name: name) }
            guard case .stored(let field) = content else { return nil }
            return WireField.stored(field, blob: nil).wire(name: name)
        }
        return wire(record.statement, record.statementBytes, contents, signature: sealed.signature)
    }

    /// A notice that a record went with a deletion which covers these statements.
    /// - Parameter index: of the leaf whose path comes along, where it is not the record's own.
    static func notice(
        of gone: Sealkit_V1_Record, with tombstone: Sealkit_V1_Record, covering records: [Sealkit_V1_Record],
        index: Int? = nil
    ) throws -> Sealkit_V1_Record {
        let taken = try Self.taken(records)
        let leaf = index ?? taken.names.firstIndex(of: gone.recordName) ?? 0
        return .with {
            $0 = gone
            $0.fields = []
            $0.deleted = true
            $0.derived.tombstone = tombstone
            $0.derived.count = UInt32(max(taken.count, 1))
            $0.derived.index = UInt32(leaf)
            $0.derived.path = Data(taken.count > 0 ? taken.path(to: leaf).flatMap(\.bytes) : [])
        }
    }

    static func taken(_ records: [Sealkit_V1_Record]) throws -> TakenRecords {
        try TakenRecords(records.map { (recordName: $0.recordName, hash: Statement.hash([UInt8]($0.statement))) })
    }

    /// A record's deletion by somebody, as of the roster that `view` knows.
    static func deletion(
        of base: Record.Base?, by person: Person, _ view: ZoneView, covering records: [Sealkit_V1_Record]
    ) throws -> Sealkit_V1_Record {
        let name = base?.statement.recordName ?? "list"
        return try record(
            statement(by: person, view, kind: .delete, name: name, following: base), [], by: person,
            key: view.currentKey(),
            taking: taken(records))
    }

    /// The same statement with something in it changed, signed anew.
    static func resign(_ wire: Sealkit_V1_Record, by key: SigningKey, _ change: (inout Statement) -> Void) throws
        -> Sealkit_V1_Record
    {
        var statement = try Statement(canonicalBytes: [UInt8](wire.statement))
        change(&statement)
        let bytes = statement.canonicalBytes()
        let root = try StatementTree(leaves: [Statement.hash(bytes)]).root
        return self.wire(
            statement, bytes, wire.fields, signature: key.sign(StatementTree.signedBytes(root: root, leafCount: 1)))
    }

    private static func wire(
        _ statement: Statement, _ bytes: [UInt8], _ fields: [Sealkit_V1_Field], signature: [UInt8]
    ) -> Sealkit_V1_Record {
        .with {
            $0.recordName = statement.recordName
            $0.recordType = statement.recordType
            $0.changeTag = "\(statement.revision)"
            $0.deleted = statement.kind == .delete
            $0.statement = Data(bytes)
            $0.proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: []).wire
            $0.fields = fields
        }
    }

    /// An entry that nobody but its signer vouches for.
    static func entry(
        by person: Person, on roster: Roster, _ changes: [RosterChange], epoch: EpochOpening? = nil, time: Int64 = 0,
        author: UserID? = nil
    ) -> SignedRosterEntry {
        let entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head,
            author: author ?? person.userID, time: time,
            changes: changes, epoch: epoch)
        let bytes = entry.canonicalBytes()
        return SignedRosterEntry(
            bytes: bytes, signature: person.identity.keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }

    /// A seat for somebody under a link secret that only its maker knows.
    static func invitation(of person: Person, to roster: Roster, _ permission: Permission = .readWrite) throws
        -> InvitationDraft
    {
        var random = SystemRandom()
        let keys = try LinkSecret(random: &random).invitationKeys(
            scopeID: roster.scopeID, invitationID: ID16(random: &random))
        return try InvitationDraft(
            keys: keys, permission: permission, invitee: person.identity.chain, using: XWingHPKE.self)
    }

    /// The grant of a key that its maker chose, bound to whatever it says: HPKE asks nobody who seals.
    static func grant(_ key: [UInt8], for epoch: Roster.Epoch, to member: IdentityChain) throws -> [UInt8] {
        try XWingHPKE.seal(
            key, to: member.current.grantKey, info: grantInfo(epoch.context, epoch.keyID, .member(member.userID)))
    }

    static func grantInfo(_ context: EpochContext, _ keyID: Digest, _ subject: GrantSubject) -> [UInt8] {
        var pae = PAE(.grant, pieces: EpochContext.pieces + 3)
        context.add(to: &pae)
        pae.add(keyID)
        pae.add(subject.kind)
        pae.add(subject.id)
        return pae.finish()
    }

    /// A zone as the server would name it.
    static func zone(_ view: ZoneView) -> Sealkit_V1_Zone {
        var zone = Sealkit_V1_Zone()
        zone.zoneID = view.scope.zoneIDOnWire
        zone.scope.zone = zone.zoneID
        zone.scope.sequence = view.roster.sequence
        zone.scope.head = Data(view.roster.head.bytes)
        return zone
    }

    /// Whether everything about the record but its author's right holds.
    static func opens(_ wire: Sealkit_V1_Record, view: ZoneView) throws -> Bool {
        let statement = try Statement(canonicalBytes: [UInt8](wire.statement))
        guard let member = view.roster.members[statement.author] else { return false }
        let proof = try StatementProof(wire.proof)
        let root = try proof.root(from: Statement.hash([UInt8](wire.statement)))
        try member.identity.current.signingKey.verify(
            proof.signature, over: StatementTree.signedBytes(root: root, leafCount: proof.leafCount))
        return opens(wire, with: try view.currentKey())
    }

    /// Whether this key, used as the statement asks, unwraps the record's key.
    static func opens(_ wire: Sealkit_V1_Record, with key: EpochKey) -> Bool {
        guard let statement = try? Statement(canonicalBytes: [UInt8](wire.statement)) else { return false }
        return RecordOpener.unwraps(statement, with: key)
    }

    /// Whether the core's verifier takes statement, signature and fields, as of this roster: what is left is to open
    /// it.
    static func verifies(_ wire: Sealkit_V1_Record, _ roster: Roster) throws -> Bool {
        var verifier = StatementVerifier(roster: roster)
        let verified = try verifier.verify(
            [UInt8](wire.statement), proof: StatementProof(wire.proof), recordName: wire.recordName)
        try verified.check(
            wire.fields.map { FieldDigest(name: $0.name, digest: try WireField($0).digest(name: $0.name)) })
        return true
    }
}
