import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire

/// Records that went from one scope into another: their owner alone moves them, and signs it.
extension RecordReader {
    /// A record that left the share, as participants are told: by the statement that took it out, and nothing else.
    mutating func departure(_ wire: Sealkit_V1_Record, recordName: String?) throws(SealError) -> Reading {
        guard wire.deleted, wire.fields.isEmpty else { throw .wrongContext }
        let proof = try StatementProof(wire.proof)
        let verified = try verifier.verifyDeparture([UInt8](wire.statement), proof: proof, recordName: recordName)
        let statement = verified.statement
        guard wire.recordName == statement.recordName, wire.recordType == statement.recordType else {
            throw .wrongContext
        }
        let base = Record.Base(statement: statement, hash: verified.hash, proof: proof)
        return Reading(
            outcome: .deletion(recordName: statement.recordName, recordType: statement.recordType, base),
            sighting: Sighting(verified, isDeparture: true))
    }

    /// What brought a record into its scope, where that came along.
    mutating func origin(of wire: Sealkit_V1_Record, _ record: VerifiedStatement) throws(SealError)
        -> VerifiedStatement?
    {
        guard wire.hasMoved else { return nil }
        return try verifier.verifyOrigin(
            [UInt8](wire.moved.statement), proof: try StatementProof(wire.moved.proof), of: record)
    }
}
