package import SealPrimitives
package import SealStatements

// What a page's reader of messages gives to be judged: SealKit's `Sealkit_V1_Record+Shown.swift` does the same for
// SwiftProtobuf's.

extension Wire.Record: ShownRecord {
    package var isDerived: Bool { derived != nil }
    package var hasFields: Bool { !fields.isEmpty }
    package var statementBytes: [UInt8] { statement }

    package func withStatementBytes(_ body: (UnsafeRawBufferPointer) -> UInt64) -> UInt64 {
        unsafe statement.withUnsafeBytes { unsafe body($0) }
    }

    package func statementProof() throws(SealError) -> StatementProof { try StatementProof(proof) }

    package func shownFields() throws(SealError) -> [ShownField] {
        var shown: [ShownField] = []
        shown.reserveCapacity(fields.count)
        for field in fields { shown.append(ShownField(name: field.name, field: try WireField(field))) }
        return shown
    }

    package func shownMove() throws(SealError) -> ShownStatement? {
        guard let moved else { return nil }
        return ShownStatement(bytes: moved.statement, proof: try StatementProof(moved.proof))
    }

    package func shownTombstone() throws(SealError) -> ShownStatement {
        let tombstone = derived?.tombstone?.message
        return ShownStatement(bytes: tombstone?.statement ?? [], proof: try StatementProof(tombstone?.proof))
    }

    package func notice(
        of record: VerifiedStatement, tombstone: VerifiedStatement
    ) throws(SealError) -> DerivedDeletion {
        try DerivedDeletion(derived ?? Wire.DerivedDeletion(), of: record, tombstone: tombstone)
    }
}

extension StatementProof {
    /// A message that is left out is an empty one.
    fileprivate init(_ wire: Wire.StatementProof?) throws(SealError) { try self.init(wire ?? Wire.StatementProof()) }
}

extension Wire.TakenRecord: ShownTakenRecord {
    package var shownRecord: Wire.Record { record ?? Wire.Record() }

    package func taken(record: VerifiedStatement) throws(SealError) -> TakenRecord {
        try TakenRecord(self, record: record)
    }
}

extension Wire.RecordResult: ShownWriteResult {
    package var storedName: String? { if case .record(let record)? = outcome { record.recordName } else { nil } }
    package var serverShown: Wire.Record? { serverRecord }
    package var shown: Wire.Record? { if case .record(let record)? = outcome { record } else { serverRecord } }
    package var failureCode: String? { if case .failure(let failure)? = outcome { failure.code } else { nil } }
}
