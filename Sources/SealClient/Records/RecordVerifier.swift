public import SealPrimitives
public import SealStatements

/// Verifies the statements of an answer's records, each by the roster of the scope that it cites, or by its author's
/// identity.
///
/// Changed in place: what it holds is much to copy for each record.
public struct RecordVerifier: Sendable {
    private struct Scoped: Sendable {
        var verifier: StatementVerifier
        /// The owner's devices alone take what an earlier life of a share has left, to carry it over.
        let isMigrating: Bool
    }

    private var scopes: [Digest: Scoped] = [:]
    /// Of the public database.
    private var open: PublicVerifier?
    private let authors: [UserID: IdentityChain]

    public init(_ ground: RecordGround) {
        switch ground {
        case .zone(let ground):
            let isOwners = ground.views.values.contains { $0.user == ground.zone.owner }
            scopes = ground.views.mapValues {
                Scoped(
                    verifier: StatementVerifier(roster: $0.roster),
                    isMigrating: isOwners && !$0.scope.shareRecordName.isEmpty)
            }
            authors = [:]
        case .publicDatabase(let ground):
            open = PublicVerifier(container: ground.scope.container, environment: ground.scope.environment)
            authors = ground.authors
        }
    }

    var isOfZone: Bool { open == nil }

    /// Where a statement's record is; nil for a scope that is not at hand.
    func scope(of statement: Statement) -> Scope? { scopes[statement.scopeID]?.verifier.roster.scope }

    /// - Parameter recordName: the record that was asked for; nil in a feed.
    /// - Throws: `wrongContext` for a scope that is not at hand; as `StatementVerifier.verify` or
    ///   `PublicVerifier.verify`.
    public mutating func verify(
        _ bytes: [UInt8], proof: StatementProof, recordName: String?
    ) throws(SealError) -> VerifiedStatement {
        if open != nil {
            // Whose keys these are, the name itself says: a chain that the server left out or swapped is no author.
            guard let author = authors[try Statement(canonicalBytes: bytes).author],
                let verified = try open?.verify(bytes, proof: proof, author: author, recordName: recordName)
            else { throw .authorNotPermitted }
            return verified
        }
        let scope: Digest
        if scopes.count == 1, let only = scopes.keys.first {
            scope = only
        } else {
            scope = try Statement(canonicalBytes: bytes).scopeID
        }
        guard let index = scopes.index(forKey: scope) else { throw .wrongContext }
        let isMigrating = scopes.values[index].isMigrating
        // In its place: it remembers which roots it has checked.
        return try scopes.values[index].verifier.verify(
            bytes, proof: proof, recordName: recordName, migrating: isMigrating)
    }

    /// A record that left a share: by the scope that it left.
    public func verifyDeparture(
        _ bytes: [UInt8], proof: StatementProof, recordName: String?
    ) throws(SealError) -> VerifiedDeparture {
        guard let former = try Statement(canonicalBytes: bytes).formerScope?.scopeID,
            let verifier = scopes[former]?.verifier
        else { throw .wrongContext }
        return try verifier.verifyDeparture(bytes, proof: proof, recordName: recordName)
    }
}
