import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire

extension RecordReader {
    /// A notice that a record went with the target of its `deleteSelf` reference: the record's last statement and the
    /// target's deletion are verified, and that the one covers the other. What the notice says is believed only then.
    /// - Throws: as `read`; `invalidNotice` and others for a notice that does not hold.
    mutating func derivedDeletion(_ wire: Sealkit_V1_Record, recordName: String?) throws(SealError) -> Reading {
        guard wire.deleted, wire.fields.isEmpty else { throw .wrongContext }
        let proof = try StatementProof(wire.proof)
        let record = try verifier.verify([UInt8](wire.statement), proof: proof, recordName: recordName)
        let last = wire.derived.tombstone
        let tombstone = try verifier.verify(
            [UInt8](last.statement), proof: try StatementProof(last.proof), recordName: nil)
        let gone = try verifier.check(try DerivedDeletion(wire.derived, of: record, tombstone: tombstone))
        let statement = gone.statement
        guard wire.recordName == statement.recordName, wire.recordType == statement.recordType else {
            throw .wrongContext
        }

        // The statement that went is a save: whoever makes the record again goes on after it, under a key of its own.
        let base = Record.Base(statement: statement, hash: gone.hash, proof: proof)
        return Reading(
            outcome: .deletion(recordName: statement.recordName, recordType: statement.recordType, base),
            sighting: Sighting(gone, moved: try origin(of: wire, gone), role: .gone(with: .init(tombstone))))
    }

    /// A record that is said to go along with a deletion which this device is to sign: verified like any other, except
    /// that of its fields only the reference comes.
    mutating func taken(_ wire: Sealkit_V1_TakenRecord) throws(SealError) -> (record: TakenRecord, sighting: Sighting) {
        let verified = try verifier.verify(
            [UInt8](wire.record.statement), proof: try StatementProof(wire.record.proof), recordName: nil)
        guard wire.record.recordName == verified.statement.recordName,
            wire.record.recordType == verified.statement.recordType
        else { throw .wrongContext }
        let sighting = Sighting(verified, moved: try origin(of: wire.record, verified), role: .covered)
        return (try TakenRecord(wire, record: verified), sighting)
    }
}
