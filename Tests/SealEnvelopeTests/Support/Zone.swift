import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Somebody with an account.
struct Account: Sendable {
    let seed: AccountSeed
    let keys: IdentityKeys
    let identity: IdentityChain
    var userID: UserID { identity.userID }
    var author: RosterAuthor<XWingHPKE> { RosterAuthor(user: userID, keys: keys) }

    init(_ number: UInt8, container: String = "com.example.notes") throws(SealError) {
        seed = try AccountSeed(secret(number))
        keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
        identity = try keys.firstIdentity(time: 1)
    }
}

/// An owner's zone with its first epoch's key.
struct Zone {
    let owner: Account
    let scope: Scope
    var roster: Roster
    var key: EpochKey
    /// Of the share-wide URL.
    let link: LinkSecret
    var random: FixedRandom

    init(_ name: String = "Notes", owner number: UInt8 = 1) throws(SealError) {
        owner = try Account(number)
        random = FixedRandom(UInt64(number))
        scope = Scope(container: "com.example.notes", environment: .production, owner: owner.userID, zoneName: name)
        let draft = try owner.author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: owner.identity, time: 1, random: &random)
        roster = try Roster(opening: draft.entry, scope: scope)
        guard let opened = draft.epochKey else { throw .missingKey }
        key = opened
        link = LinkSecret(random: &random)
        try roster.append(
            owner.author.next(
                on: roster, changes: [], settings: SettingsDraft(secret: link), rotating: false, current: key, time: 1,
                random: &random
            ).entry)
    }

    func statement(_ record: String = "Note-1", revision: UInt64 = 1, previous: Digest = .zero) -> Statement {
        Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: 1, recordName: record, recordType: "Note", creator: scope.owner,
            author: scope.owner, clientTime: 1, revision: revision, previous: previous, scopeID: roster.scopeID,
            scopeIncarnation: 1, epoch: roster.currentEpoch.number, wrappedKey: [], rosterSequence: roster.sequence,
            rosterHead: roster.head, checkpoint: Checkpoint.none,
            parent: nil, share: nil, salt: ID16(prefixOf: .zero), fieldsDigest: .zero)
    }

    mutating func seal(_ drafts: [RecordDraft]) throws(SealError) -> (records: [SealedRecord], signature: [UInt8]) {
        try RecordSealer.seal(drafts, epochKey: key, signingKey: owner.keys.signingKey, random: &random)
    }

    func verify(_ records: [SealedRecord], _ signature: [UInt8]) throws(SealError) -> [VerifiedStatement] {
        let tree = try StatementTree(leaves: records.map { $0.hash })
        var verifier = StatementVerifier(roster: roster)
        var verified: [VerifiedStatement] = []
        for (index, record) in records.enumerated() {
            let proof = StatementProof(
                signature: signature, leafCount: records.count, index: index, path: tree.path(to: index))
            verified.append(
                try verifier.verify(record.statementBytes, proof: proof, recordName: record.statement.recordName))
        }
        return verified
    }
}

extension SealedRecord {
    func stored(_ name: String) -> StoredField? {
        for field in fields where field.name == name {
            if case .stored(let stored) = field.content { return stored }
        }
        return nil
    }
}

extension OpenedField {
    var value: Value? {
        switch self {
        case .plain(let value), .encrypted(let value): value
        case .asset: nil
        }
    }
}
