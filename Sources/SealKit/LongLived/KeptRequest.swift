import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A request as it was noted before it was sent, with what its answer is read by.
struct KeptRequest: Sendable {
    /// Microseconds since 1970.
    let noted: Int64
    let message: Sealkit_V1_ModifyRecordsRequest
    /// By place in the message: the record as it was to be stored, and its key; nothing for a deletion.
    let saved: [(record: Record, key: SecretBytes?)?]
    /// What was stored by the batch's requests before.
    let before: ModificationResults

    /// Whether the server still answers its repetition as it has answered it first.
    func isRepeatable(at now: Int64) -> Bool { OperationJournal.isWithinServersDay(noted, at: now) }

    init(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ items: [ZoneBatch.Item], _ signed: [SignedRecord],
        after results: ModificationResults, at time: Int64
    ) {
        noted = time
        self.message = message
        // What is stored under a record that does not open cannot be read back, and nothing here needs it.
        saved = zip(items, signed).map { item, signed in
            item.saved.map { record in
                var record = record
                (record.base, record.recordChangeTag) = (nil, nil)
                return (record: record, key: signed.recordKey)
            }
        }
        before = results.successes
    }

    func bytes() throws(SealError) -> [UInt8] {
        var writer = CanonicalWriter(capacity: 4096)
        writer.time(noted)
        guard let message = try? message.serializedData() else { throw .malformed }
        writer.data(message)
        for case let (record, key)? in saved {
            try writer.record(record)
            writer.flag(key != nil)
            if let key { writer.secret(key) }
        }
        try before.write(to: &writer)
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        noted = try reader.number()
        guard let message = try? Sealkit_V1_ModifyRecordsRequest(serializedBytes: try reader.data()) else {
            throw .malformed
        }
        self.message = message
        var saved: [(record: Record, key: SecretBytes?)?] = []
        for wire in message.records {
            guard !wire.deleted else {
                saved.append(nil)
                continue
            }
            let record = try reader.record()
            saved.append((record: record, key: try reader.flag() ? try reader.secret() : nil))
        }
        self.saved = saved
        before = try ModificationResults(reading: &reader)
        try reader.finish()
    }
}

extension SignedRecord {
    /// As it was sent.
    init(_ wire: Sealkit_V1_Record, recordKey: SecretBytes?) throws(SealError) {
        statementBytes = [UInt8](wire.statement)
        statement = try Statement(canonicalBytes: statementBytes)
        hash = Statement.hash(statementBytes)
        var fields: [(name: String, field: WireField, digest: Digest)] = []
        for field in wire.fields {
            let content = try WireField(field)
            fields.append((field.name, content, try content.digest(name: field.name)))
        }
        self.fields = fields
        self.recordKey = recordKey
    }
}
