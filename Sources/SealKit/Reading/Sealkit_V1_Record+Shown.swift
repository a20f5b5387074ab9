import Foundation
package import SealClient
import SealCoding
package import SealPrimitives
package import SealStatements
package import SealWire

// SwiftProtobuf's messages as what is to be judged: `Wire+Shown.swift` in SealClient does the same for a page's.

extension Sealkit_V1_Record: ShownRecord {
    package var isDerived: Bool { hasDerived }
    package var hasFields: Bool { !fields.isEmpty }
    package var statementBytes: [UInt8] { [UInt8](statement) }

    package func withStatementBytes(_ body: (UnsafeRawBufferPointer) -> UInt64) -> UInt64 {
        statement.withUnsafeBytes(body)
    }

    package func statementProof() throws(SealError) -> StatementProof { try StatementProof(proof) }

    package func shownFields() throws(SealError) -> [ShownField] {
        var shown: [ShownField] = []
        shown.reserveCapacity(fields.count)
        for field in fields { shown.append(ShownField(name: field.name, field: try WireField(field))) }
        return shown
    }

    package func shownMove() throws(SealError) -> ShownStatement? {
        guard hasMoved else { return nil }
        return ShownStatement(bytes: [UInt8](moved.statement), proof: try StatementProof(moved.proof))
    }

    package func shownTombstone() throws(SealError) -> ShownStatement {
        let last = derived.tombstone
        return ShownStatement(bytes: [UInt8](last.statement), proof: try StatementProof(last.proof))
    }

    package func notice(of record: VerifiedStatement, tombstone: VerifiedStatement) throws(SealError) -> DerivedDeletion
    {
        try DerivedDeletion(derived, of: record, tombstone: tombstone)
    }
}

extension Sealkit_V1_TakenRecord: ShownTakenRecord {
    package var shownRecord: Sealkit_V1_Record { record }

    package func taken(record: VerifiedStatement) throws(SealError) -> TakenRecord {
        try TakenRecord(self, record: record)
    }
}

extension Sealkit_V1_RecordResult: ShownWriteResult {
    package var storedName: String? { if case .record(let wire)? = outcome { wire.recordName } else { nil } }
    package var serverShown: Sealkit_V1_Record? { hasServerRecord ? serverRecord : nil }

    package var shown: Sealkit_V1_Record? {
        if case .record(let wire)? = outcome { return wire }
        return hasServerRecord ? serverRecord : nil
    }

    package var failureCode: String? { if case .failure(let failure)? = outcome { failure.code } else { nil } }
}
