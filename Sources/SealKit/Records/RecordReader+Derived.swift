import SealCoding
import SealPrimitives
import SealStatements
import SealWire

extension RecordReader {
    /// A notice that a record went with the target of its `deleteSelf` reference: every step of it is verified, and what
    /// it says is believed only then.
    /// - Throws: as `read`; `invalidNotice` and others for a notice that does not hold.
    mutating func derivedDeletion(_ wire: Sealkit_V1_Record, recordName: String?) throws(SealError) -> Reading {
        guard wire.deleted, wire.fields.isEmpty, wire.statement.isEmpty else { throw .wrongContext }
        // In the public database, where no roster says who might have deleted what, references dangle.
        guard case .zone(let zone) = ground else { throw .invalidNotice }
        guard wire.derived.steps.count <= Limits.derivedDeletionSteps else { throw .invalidLength }
        var steps: [DerivedDeletion.Step] = []
        steps.reserveCapacity(wire.derived.steps.count)
        for step in wire.derived.steps { steps.append(try self.step(step, zone)) }
        let last = wire.derived.tombstone
        let tombstone = try verifier.verify(
            [UInt8](last.statement), proof: try StatementProof(last.proof), recordName: nil)
        let gone = try DerivedDeletion(steps: steps, tombstone: tombstone).verify()
        let statement = gone.statement
        guard wire.recordName == statement.recordName, wire.recordType == statement.recordType,
            recordName == nil || recordName == statement.recordName, let first = wire.derived.steps.first
        else { throw .wrongContext }

        // The statement that went is a save: whoever makes the record again goes on after it, under a key of its own.
        let base = Record.Base(statement: statement, hash: gone.hash, proof: try StatementProof(first.record.proof))
        return Reading(
            outcome: .deletion(recordName: statement.recordName, recordType: statement.recordType, base),
            sighting: TrustStore.Sighting(gone, grounds: steps.dropFirst().map(\.record) + [tombstone]))
    }

    private mutating func step(_ wire: Sealkit_V1_DerivedStep, _ zone: ZoneGround) throws(SealError) -> DerivedDeletion.Step {
        let verified = try verifier.verify(
            [UInt8](wire.record.statement), proof: try StatementProof(wire.record.proof), recordName: nil)
        var reference: Value?
        var others: [FieldDigest] = []
        others.reserveCapacity(wire.record.fields.count)
        for wireField in wire.record.fields {
            let field = try WireField(wireField)
            if wireField.name == wire.field, case .stored(.plain(let value), _) = field {
                reference = value
            } else {
                others.append(FieldDigest(name: wireField.name, digest: try field.digest(name: wireField.name)))
            }
        }
        guard let reference, let roster = zone.view(of: verified.statement)?.roster else { throw .invalidNotice }
        return DerivedDeletion.Step(
            record: verified, roster: roster, field: wire.field, reference: reference, otherFields: others)
    }
}
