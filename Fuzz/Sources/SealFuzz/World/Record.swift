import SealPrimitives
import SealStatements

@testable import SealEnvelope

/// A record of the zone's, verified and opened.
struct Record: Sendable {
    let statement: Statement
    let opener: RecordOpener

    /// `H("record-context", …)`, as PROTOCOL.md has it.
    var context: Digest {
        var pae = PAE(.recordContext, pieces: 7)
        pae.add(statement.container)
        pae.add(statement.environment.rawValue)
        pae.add(statement.owner.id)
        pae.add(statement.zoneName)
        pae.add(statement.zoneIncarnation)
        pae.add(statement.recordName)
        pae.add(statement.recordType)
        return Hash.digest(pae)
    }

    init() {
        let zone = World.zone
        let owner = World.people[0]
        var random = FixedRandom()
        let draft = RecordDraft(statement: Record.statement(zone.roster, by: owner.userID), recordKey: nil, fields: [])
        (statement, opener) = certain("a record") {
            let sealed = try RecordSealer.seal(
                [draft], epochKey: zone.key, signingKey: owner.signingKey, random: &random)
            let verified = try Record.verify(sealed.records[0].statementBytes, sealed.signature, zone.roster)
            return (verified.statement, try RecordOpener(verified, epochKey: zone.key))
        }
    }

    /// A first save at the head of `roster`.
    static func statement(_ roster: Roster, by author: UserID) -> Statement {
        Statement(
            kind: .save, container: roster.scope.container, environment: roster.scope.environment, owner: roster.owner,
            zoneName: roster.scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: "Note-1",
            recordType: "Note", creator: author, author: author, clientTime: 1, revision: 1, previous: .zero,
            scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [UInt8](repeating: 6, count: Statement.wrappedKeyBytes), rosterSequence: roster.sequence,
            rosterHead: roster.head, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    /// A statement that is signed alone.
    static func sign(_ bytes: [UInt8], by key: SigningKey) -> [UInt8] {
        key.sign(StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
    }

    static func verify(
        _ bytes: [UInt8], _ signature: [UInt8], _ roster: Roster, migrating: Bool = false
    ) throws(SealError) -> VerifiedStatement {
        var verifier = StatementVerifier(roster: roster)
        let proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
        return try verifier.verify(bytes, proof: proof, recordName: nil, migrating: migrating)
    }
}
