public import SealPrimitives

/// The public database: its records are signed by whoever saves them, and nothing in them is sealed. It has no scopes,
/// so that no roster says who may write: the server's roles decide that, and the signature shows who it was.
public enum PublicStatements {
    /// Everything about a statement but its signature.
    /// - Parameters:
    ///   - author: the identity of whoever the statement names; a name certifies its keys.
    ///   - recordName: the record that was asked for; nil when the statement itself names it.
    /// - Throws: `wrongContext`; `authorNotPermitted` when the identity is somebody else's, or the record somebody
    ///   else's own; `fieldMismatch` for a deletion that takes others along.
    public static func check(
        _ statement: Statement, author: IdentityChain, container: String, environment: Environment, recordName: String?
    ) throws(SealError) {
        guard statement.isPublic, statement.container == container, statement.environment == environment,
            statement.owner == UserID(.zero), statement.zoneName == Names.defaultZone
        else { throw .wrongContext }
        guard statement.share == nil, !statement.isShareRecord else { throw .wrongContext }
        guard statement.kind == .save || statement.fieldsDigest == TakenRecords.none.digest else {
            throw .fieldMismatch
        }
        // Somebody's own record is that person's to write.
        guard statement.recordType != Names.usersType || statement.recordName == author.userID.recordName else {
            throw .authorNotPermitted
        }
        if let recordName, recordName != statement.recordName { throw .wrongContext }
        guard statement.revision > 1 || statement.creator == statement.author else { throw .wrongContext }
        guard author.userID == statement.author, author.current.container == container else {
            throw .authorNotPermitted
        }
    }

    /// A record's next statement, as long as nothing is known of its fields: its salt and their digest are zero.
    /// - Parameters:
    ///   - time: of its author's clock, microseconds since 1970.
    ///   - base: what it follows; nil for a record that was never there. One that is made again after its deletion
    ///     goes on counting, with a new creator.
    public static func next(
        _ kind: Statement.Kind, of recordName: String, type: String, in container: String, _ environment: Environment,
        by author: UserID, at time: Int64, after base: (statement: Statement, hash: Digest)?, parent: String?
    ) -> Statement {
        let context = EpochContext.publicDatabase
        let creator = base.flatMap { $0.statement.kind == .save ? $0.statement.creator : nil }
        return Statement(
            kind: kind, container: container, environment: environment, owner: UserID(.zero),
            zoneName: Names.defaultZone, zoneIncarnation: context.incarnations.zone, recordName: recordName,
            recordType: type, creator: creator ?? author, author: author, clientTime: time,
            revision: (base?.statement.revision ?? 0) + 1, previous: base?.hash ?? .zero, scopeID: context.scopeID,
            scopeIncarnation: context.incarnations.scope, epoch: context.epoch, wrappedKey: [], rosterSequence: 0,
            rosterHead: .zero, checkpoint: Checkpoint.none, parent: parent, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    /// One statement by itself; `PublicVerifier` verifies many at less cost.
    /// - Throws: as `PublicVerifier.verify`.
    public static func verify(
        _ bytes: [UInt8], proof: StatementProof, author: IdentityChain, container: String, environment: Environment,
        recordName: String?
    ) throws(SealError) -> VerifiedStatement {
        var verifier = PublicVerifier(container: container, environment: environment)
        return try verifier.verify(bytes, proof: proof, author: author, recordName: recordName)
    }
}

/// Verifies statements of one container's public database. Remembers the roots whose signatures it has checked, so that
/// a batch costs one signature, however many of its records come.
public struct PublicVerifier: Sendable {
    private struct SignedRoot: Hashable {
        let author: IdentityChain
        let root: Digest
        let leafCount: Int
        let signature: [UInt8]
    }

    private let container: String
    private let environment: Environment
    private var checked: Set<SignedRoot> = []

    public init(container: String, environment: Environment) {
        self.container = container
        self.environment = environment
    }

    /// - Parameters: as `PublicStatements.check`.
    /// - Throws: decoding errors; as `PublicStatements.check`; `invalidProof`; `invalidSignature`.
    public mutating func verify(
        _ bytes: [UInt8], proof: StatementProof, author: IdentityChain, recordName: String?
    ) throws(SealError) -> VerifiedStatement {
        let statement = try Statement(canonicalBytes: bytes)
        try PublicStatements.check(
            statement, author: author, container: container, environment: environment, recordName: recordName)
        let hash = Statement.hash(bytes)
        let root = try proof.root(from: hash)
        let signed = SignedRoot(author: author, root: root, leafCount: proof.leafCount, signature: proof.signature)
        guard checked.contains(signed) || signs(signed) else { throw .invalidSignature }
        checked.insert(signed)
        return VerifiedStatement(statement: statement, bytes: bytes, hash: hash)
    }

    /// There are no epochs: a record signed by an earlier generation stays its author's.
    private func signs(_ signed: SignedRoot) -> Bool {
        let message = StatementTree.signedBytes(root: signed.root, leafCount: signed.leafCount)
        return signed.author.signingKeys.reversed().contains { key in
            (try? key.verify(signed.signature, over: message)) != nil
        }
    }
}
