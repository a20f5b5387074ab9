public import SealPrimitives

/// A statement whose author, place, epoch and signature hold. There is no other way to make one.
public struct VerifiedStatement: Sendable, Hashable {
    public let statement: Statement
    public let bytes: [UInt8]
    public let hash: Digest

    fileprivate init(statement: Statement, bytes: [UInt8], hash: Digest) {
        self.statement = statement
        self.bytes = bytes
        self.hash = hash
    }
}

/// Verifies statements against one roster. Remembers the roots whose signatures it has checked, so that a batch costs
/// one signature, however many of its records come.
public struct StatementVerifier: Sendable {
    private struct SignedRoot: Hashable {
        let author: VerificationKey
        let root: Digest
        let leafCount: Int
        let signature: [UInt8]
    }

    public private(set) var roster: Roster
    private var checked: Set<SignedRoot> = []

    public init(roster: Roster) { self.roster = roster }

    /// - Parameters:
    ///   - recordName: the record that was asked for; nil when the statement itself names it (a change feed).
    /// - Throws: `malformed` and other decoding errors; `wrongContext`; `unknownRosterHead` (fetch the roster's tail and
    ///   try again); `staleEpoch`; `authorNotPermitted`; `invalidProof`; `invalidSignature`.
    public mutating func verify(
        _ bytes: [UInt8], proof: StatementProof, recordName: String?
    ) throws(SealError) -> VerifiedStatement {
        let statement = try Statement(canonicalBytes: bytes)
        let key = try StatementVerifier.authorKey(of: statement, recordName: recordName, roster: roster)
        let hash = Statement.hash(bytes)
        let root = try proof.root(from: hash)
        let signed = SignedRoot(author: key, root: root, leafCount: proof.leafCount, signature: proof.signature)
        if !checked.contains(signed) {
            try key.verify(proof.signature, over: StatementTree.signedBytes(root: root, leafCount: proof.leafCount))
            checked.insert(signed)
        }
        return VerifiedStatement(statement: statement, bytes: bytes, hash: hash)
    }

    /// The statement is about this scope's records, and its author could write when it was signed.
    /// Returns the key that must have signed.
    public static func authorKey(
        of statement: Statement, recordName: String?, roster: Roster
    ) throws(SealError) -> VerificationKey {
        let scope = roster.scope
        guard statement.container == scope.container, statement.environment == scope.environment,
            statement.owner == scope.owner, statement.zoneName == scope.zoneName, statement.scopeID == roster.scopeID
        else { throw .wrongContext }
        if let recordName, recordName != statement.recordName { throw .wrongContext }
        guard statement.revision > 1 || statement.creator == statement.author else { throw .wrongContext }

        guard statement.rosterSequence < roster.nextSequence else { throw .unknownRosterHead }
        guard roster.hashes[Int(statement.rosterSequence)] == statement.rosterHead else { throw .unknownRosterHead }
        guard let epoch = roster.epochInForce(at: statement.rosterSequence), epoch.number == statement.epoch,
            epoch.context.incarnations == statement.incarnations
        else { throw .staleEpoch }
        // Of this life of the zone: what was said in an earlier one, deletions included, says nothing now.
        guard epoch.context.incarnations == roster.incarnations else { throw .staleEpoch }
        guard let right = roster.right(of: statement.author, at: statement.rosterSequence), right.permission == .readWrite else {
            throw .authorNotPermitted
        }
        // The share's own record is its owner's to write.
        if statement.recordType == Names.shareType || statement.recordName == Names.zoneWideShare {
            guard statement.author == scope.owner else { throw .authorNotPermitted }
        }
        return right.signingKey
    }
}

extension VerifiedStatement {
    /// The fields that came are the fields that were signed: every stored byte, every name, nothing left out.
    /// - Throws: `fieldMismatch`.
    public func check(_ fields: [FieldDigest]) throws(SealError) {
        guard let digest = try? FieldSet.digest(fields), digest == statement.fieldsDigest else { throw .fieldMismatch }
    }
}
