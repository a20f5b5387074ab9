import Foundation
package import SealCoding
package import SealPrimitives
package import SealStatements
package import SealWire
import SwiftProtobuf

/// What a server-to-server key signs to change or delete one record of a public database: of what was verified, so that
/// nobody who writes to the disk has it sign what others never said.
package struct PublicEdit: Sendable {
    package enum Change: Sendable {
        /// By name; nil takes a field away. What is not named stays, by its digest.
        case fields([String: Value?])
        case deletion
    }

    private let record: Sealkit_V1_Record
    private let base: VerifiedStatement
    private let path: DatabasePath

    /// - Parameters:
    ///   - record: with all its fields.
    ///   - authors: the chain of whoever signed it among them.
    /// - Throws: `unknownItem` for a record that is not there; `integrityFailure` for one that nobody has signed so.
    package init(
        of record: Sealkit_V1_Record, by authors: [Sealkit_V1_IdentityChain], in path: DatabasePath
    ) throws(ServerError) {
        guard !record.deleted else { throw Self.unknown }
        base = try ServerError.checking("The record") { () throws(SealError) in
            let bytes = [UInt8](record.statement)
            let statement = try Statement(canonicalBytes: bytes)
            var author: IdentityChain?
            for chain in authors where author == nil {
                let chain = try IdentityChain(chain, container: path.container)
                if chain.userID == statement.author { author = chain }
            }
            guard let author else { throw .invalidIdentity }
            let verified = try PublicStatements.verify(
                bytes, proof: try StatementProof(record.proof), author: author, container: path.container,
                environment: path.environment, recordName: record.recordName)
            var digests: [FieldDigest] = []
            for field in record.fields {
                digests.append(FieldDigest(name: field.name, digest: try WireField(field).digest(name: field.name)))
            }
            try verified.check(digests)
            guard verified.statement.kind == .save, verified.statement.recordType == record.recordType else {
                throw .wrongContext
            }
            return verified
        }
        (self.record, self.path) = (record, path)
    }

    package static let unknown = ServerError(
        .unknownItem, "There is no such record.", remedy: "Look for it by a query.")

    /// The request to make the change, for the server that has the record.
    /// - Parameter now: microseconds since 1970.
    /// - Throws: what a statement cannot say.
    package func request(
        _ change: Change, by signer: ServerCredentialFile, now: Int64
    ) throws(SealError) -> Sealkit_V1_ModifyRecordsRequest {
        var random = SystemRandom()
        let isDeletion = if case .deletion = change { true } else { false }
        let fields = try fields(after: change)
        var statement = PublicStatements.next(
            isDeletion ? .delete : .save, of: record.recordName, type: record.recordType, in: path.container,
            path.environment, by: signer.chain.userID, at: now, after: (base.statement, base.hash),
            parent: base.statement.parent)
        statement.salt = ID16(random: &random)
        var digests: [FieldDigest] = []
        for (name, field) in fields { digests.append(FieldDigest(name: name, digest: try field.digest(name: name))) }
        statement.fieldsDigest = isDeletion ? TakenRecords.none.digest : try FieldSet.digest(digests)
        try statement.check()
        let bytes = statement.canonicalBytes()
        let tree = try StatementTree(leaves: [Statement.hash(bytes)])
        let signature = signer.signingKey.sign(
            StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount))
        return .with {
            $0.operationID = Data(ID16(random: &random).bytes)
            $0.zone.zoneName = Names.defaultZone
            $0.atomic = true
            $0.signature = Data(signature)
            $0.records = [
                .with {
                    ($0.recordName, $0.recordType) = (record.recordName, record.recordType)
                    ($0.changeTag, $0.statement) = (record.changeTag, Data(bytes))
                    $0.fields = fields.map { name, field in field.wire(name: name) }
                }
            ]
        }
    }

    private func fields(after change: Change) throws(SealError) -> [(name: String, field: WireField)] {
        guard case .fields(let changes) = change else { return [] }
        var fields: [(name: String, field: WireField)] = []
        for field in record.fields where !changes.keys.contains(field.name) {
            fields.append((field.name, .digest(try WireField(field).digest(name: field.name))))
        }
        for case (let name, let value?) in changes { fields.append((name, .stored(.plain(value), blob: nil))) }
        return fields.sorted { FieldSet.isOrdered($0.name, $1.name) }
    }
}
