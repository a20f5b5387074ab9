public import SealPrimitives

/// A statement whose author, place, epoch and signature hold. Only the verifiers of this module make one.
public struct VerifiedStatement: Sendable, Hashable {
    public let statement: Statement
    public let bytes: [UInt8]
    public let hash: Digest
}

/// A statement that took a record out of a scope, as that scope's roster vouches for it.
public struct VerifiedDeparture: Sendable, Hashable {
    public let statement: VerifiedStatement
    /// The epoch of the scope that was left in which the owner's key that has signed it was replaced there; nil for the
    /// newest one.
    public let replacedIn: UInt32?
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
    ///   - migrating: also accept what was signed in an earlier life of a share, for the owner to carry over.
    /// - Throws: `malformed` and other decoding errors; `wrongContext`; `unknownRosterHead` (fetch the roster's tail
    ///   and try again); `staleEpoch`; `authorNotPermitted`; `invalidProof`; `invalidSignature`.
    public mutating func verify(
        _ bytes: [UInt8], proof: StatementProof, recordName: String?, migrating: Bool = false
    ) throws(SealError) -> VerifiedStatement {
        let statement = try Statement(canonicalBytes: bytes)
        let key = try StatementVerifier.authorKey(
            of: statement, recordName: recordName, roster: roster, migrating: migrating)
        let hash = Statement.hash(bytes)
        let root = try proof.root(from: hash)
        let signed = SignedRoot(author: key, root: root, leafCount: proof.leafCount, signature: proof.signature)
        if !checked.contains(signed) {
            try key.verify(proof.signature, over: StatementTree.signedBytes(root: root, leafCount: proof.leafCount))
            checked.insert(signed)
        }
        return VerifiedStatement(statement: statement, bytes: bytes, hash: hash)
    }

    /// The statement that took a record out of this scope, as who may not read the scope that it went into is shown it:
    /// the owner's, who alone moves records, and by the record's former scope this one's.
    ///
    /// Nothing else of it can be judged here, nor need it be: it takes a record away, and gives nothing. It is kept as
    /// it was signed, so that any key counts that the owner has had in this life.
    /// - Throws: decoding errors; `wrongContext`; `staleEpoch` for another life; `invalidProof`; `invalidSignature`.
    public func verifyDeparture(
        _ bytes: [UInt8], proof: StatementProof, recordName: String?
    ) throws(SealError) -> VerifiedDeparture {
        let statement = try Statement(canonicalBytes: bytes)
        let scope = roster.scope
        guard statement.container == scope.container, statement.environment == scope.environment,
            statement.owner == scope.owner, statement.zoneName == scope.zoneName, statement.author == scope.owner,
            statement.scopeID != roster.scopeID, statement.formerScope?.scopeID == roster.scopeID,
            recordName == nil || recordName == statement.recordName
        else { throw .wrongContext }
        guard statement.zoneIncarnation == roster.incarnations.zone,
            statement.formerScope?.incarnation == roster.incarnations.scope
        else { throw .staleEpoch }
        guard let owner = roster.knownIdentity(of: scope.owner) else { throw .authorNotPermitted }
        let hash = Statement.hash(bytes)
        let root = try proof.root(from: hash)
        let signed = StatementTree.signedBytes(root: root, leafCount: proof.leafCount)
        for generation in roster.ownersGenerations.reversed() {
            guard (try? owner.signingKeys[generation].verify(proof.signature, over: signed)) != nil else { continue }
            return VerifiedDeparture(
                statement: VerifiedStatement(statement: statement, bytes: bytes, hash: hash),
                replacedIn: roster.epoch(thatReplaced: generation))
        }
        throw .invalidSignature
    }

    /// The statement is about this scope's records, and its author could write when it was signed.
    /// Returns the key that must have signed.
    public static func authorKey(
        of statement: Statement, recordName: String?, roster: Roster, migrating: Bool = false
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
        // Of this life: what was said in an earlier one, deletions included, says nothing now. Only what the owner's
        // devices carry over from an earlier life of a share is still good, for that.
        let isCurrent = epoch.context.incarnations == roster.incarnations
        guard isCurrent || (migrating && epoch.context.incarnations.zone == roster.incarnations.zone) else {
            throw .staleEpoch
        }
        guard let standing = roster.standing(of: statement.author, at: statement.rosterSequence),
            standing.permission == .readWrite
        else { throw .authorNotPermitted }
        // The share's own record is for the owner and administrators to write, and only the owner moves records.
        let isShareRecord = statement.isShareRecord || statement.recordName == scope.shareRecordName
        guard !isShareRecord || standing.mayAdminister else { throw .authorNotPermitted }
        guard statement.formerScope == nil || statement.author == scope.owner else { throw .authorNotPermitted }
        return standing.identity.current.signingKey
    }
}

extension VerifiedStatement {
    /// The fields that came are the fields that were signed: every stored byte, every name, nothing left out. A
    /// deletion has none; what it takes along, notices show (`DerivedDeletion`).
    /// - Throws: `fieldMismatch`.
    public func check(_ fields: [FieldDigest]) throws(SealError) {
        guard statement.kind == .save else {
            guard fields.isEmpty else { throw .fieldMismatch }
            return
        }
        guard let digest = try? FieldSet.digest(fields), digest == statement.fieldsDigest else { throw .fieldMismatch }
    }

    /// The statement is the next one of the same record after `predecessor`.
    /// - Throws: `notSuccessor`.
    public func check(follows predecessor: VerifiedStatement) throws(SealError) {
        try statement.check(follows: predecessor.statement, hash: predecessor.hash)
    }
}

extension Statement {
    /// - Parameter hash: of the predecessor's bytes.
    /// - Throws: `notSuccessor`.
    public func check(follows predecessor: Statement, hash: Digest) throws(SealError) {
        guard isOfSameRecord(as: predecessor) else { throw .notSuccessor }
        try check(follows: SeenStatement(predecessor, hash: hash))
    }

    /// - Parameter predecessor: what is remembered of a statement of the same record.
    /// - Throws: `notSuccessor`.
    public func check(follows predecessor: SeenStatement) throws(SealError) {
        guard revision > 0, revision - 1 == predecessor.revision, previous == predecessor.hash else {
            throw .notSuccessor
        }
        if predecessor.kind == .delete {
            // A record made again may be of another type, and is its maker's.
            guard kind == .save, creator == author else { throw .notSuccessor }
        } else {
            guard creator == predecessor.creator, recordType == predecessor.recordType else { throw .notSuccessor }
        }
        guard formerScope == (place == predecessor.place ? nil : predecessor.place) else { throw .notSuccessor }
        // Its author has verified the predecessor, and so knows the head that that one cites.
        guard place != predecessor.place || rosterSequence >= predecessor.rosterSequence else { throw .notSuccessor }
    }

    /// The statement may be what a record has become since a reader saw `seen` of it, an older one by any number.
    ///
    /// Right after `seen` it has to follow it. Where statements in between are not at hand, it stays in its scope or is
    /// the owner's, who alone moves records, and does not cite an older head: a writer of one scope has no say about a
    /// record of another.
    /// - Throws: `notSuccessor` (fetch what lies between and check each step, or refuse).
    public func check(after seen: Statement, hash: Digest) throws(SealError) {
        guard isOfSameRecord(as: seen) else { throw .notSuccessor }
        try check(after: SeenStatement(seen, hash: hash))
    }

    /// - Parameter seen: what is remembered of a statement of the same record.
    /// - Throws: `notSuccessor` (fetch what lies between and check each step, or refuse).
    public func check(after seen: SeenStatement) throws(SealError) {
        guard revision > seen.revision, revision - seen.revision > 1 else { return try check(follows: seen) }
        guard place == seen.place || author == owner else { throw .notSuccessor }
        guard place != seen.place || rosterSequence >= seen.rosterSequence else { throw .notSuccessor }
    }

    private func isOfSameRecord(as other: Statement) -> Bool {
        recordName == other.recordName && container == other.container && environment == other.environment
            && owner == other.owner && zoneName == other.zoneName && zoneIncarnation == other.zoneIncarnation
    }

    /// The scope, and its life, that the record is in.
    public var place: FormerScope { FormerScope(scopeID: scopeID, incarnation: scopeIncarnation) }
}
