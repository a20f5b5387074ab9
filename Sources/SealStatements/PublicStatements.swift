public import SealPrimitives

/// The public database: its records are signed by whoever saves them, and nothing in them is sealed. It has no scopes, so
/// that no roster says who may write: the server's roles decide that, and the signature shows who it was.
public enum PublicStatements {
    /// - Parameters:
    ///   - author: the identity of whoever the statement names; a name certifies its keys.
    ///   - recordName: the record that was asked for; nil when the statement itself names it.
    /// - Throws: decoding errors; `wrongContext`; `authorNotPermitted` when the identity is somebody else's; `invalidProof`;
    ///   `invalidSignature`.
    public static func verify(
        _ bytes: [UInt8], proof: StatementProof, author: IdentityChain, container: String, environment: Environment,
        recordName: String?
    ) throws(SealError) -> VerifiedStatement {
        let statement = try Statement(canonicalBytes: bytes)
        guard statement.isPublic, statement.container == container, statement.environment == environment,
            statement.owner == UserID(.zero), statement.zoneName == Names.defaultZone
        else { throw .wrongContext }
        guard statement.share == nil, !statement.isShareRecord else { throw .wrongContext }
        // Somebody's own record is that person's to write.
        guard statement.recordType != Names.usersType || statement.recordName == author.userID.recordName else {
            throw .authorNotPermitted
        }
        if let recordName, recordName != statement.recordName { throw .wrongContext }
        guard statement.revision > 1 || statement.creator == statement.author else { throw .wrongContext }
        guard author.userID == statement.author, author.current.container == container else { throw .authorNotPermitted }
        let hash = Statement.hash(bytes)
        let message = StatementTree.signedBytes(root: try proof.root(from: hash), leafCount: proof.leafCount)
        // There are no epochs: a record signed by an earlier generation stays its author's.
        for key in author.signingKeys.reversed() where (try? key.verify(proof.signature, over: message)) != nil {
            return VerifiedStatement(statement: statement, bytes: bytes, hash: hash)
        }
        throw .invalidSignature
    }
}
