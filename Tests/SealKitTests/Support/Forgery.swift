import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

@testable import SealKit

/// What a participant with a modified client and a server on its side can make.
enum Forgery {
    /// A record sealed with the zone's real key and signed by somebody who may not write.
    static func record(by person: Person, zone: RecordZone.ID, body: String) async throws -> Sealkit_V1_Record {
        let core = person.container.core
        let view = try await core.keeper(of: core.scope(of: zone)).current()
        let roster = view.roster
        let statement = Statement(
            kind: .save, container: roster.scope.container, environment: roster.scope.environment, owner: roster.owner,
            zoneName: roster.scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: "forged", recordType: "Note",
            creator: core.userID(), author: core.userID(), clientTime: 0, revision: 1, previous: .zero,
            scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [], rosterSequence: roster.sequence, rosterHead: roster.head, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
        let draft = RecordDraft(statement: statement, recordKey: nil, fields: [("body", .encrypted(.string(body)))])
        var random = SystemRandom()
        let sealed = try RecordSealer.seal(
            [draft], epochKey: view.currentKey(), signingKey: core.identity().keys.signingKey, random: &random)
        let record = sealed.records[0]
        let tree = try StatementTree(leaves: [record.hash])
        var wire = Sealkit_V1_Record()
        wire.recordName = "forged"
        wire.recordType = "Note"
        wire.changeTag = "1"
        wire.statement = Data(record.statementBytes)
        wire.proof = StatementProof(signature: sealed.signature, leafCount: 1, index: 0, path: tree.path(to: 0)).wire
        wire.fields = record.fields.compactMap { name, content, _ in
            guard case .stored(let field) = content else { return nil }
            return WireField.stored(field, blob: nil).wire(name: name)
        }
        return wire
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
}
