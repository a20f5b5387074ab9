import Foundation
import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A request as it was noted before it was sent, with what its answer is read by.
struct KeptRequest: Sendable {
    /// Microseconds since 1970.
    let noted: Int64
    /// As it was sent: what is repeated is the same bytes.
    let request: Data
    let message: Sealkit_V1_ModifyRecordsRequest
    /// By place in the message: the record as it was to be stored, and its key; nothing for a deletion.
    let saved: [(record: Record, key: SecretBytes?)?]
    /// By place in the message: what goes with a deletion.
    let taken: [[WrittenAlong]]
    /// What was stored by the batch's requests before.
    let before: ModificationResults

    /// Whether the server still answers its repetition as it has answered it first.
    func isRepeatable(at now: Int64) -> Bool { OperationJournal.isWithinServersDay(noted, at: now) }

    /// - Throws: `internalError` for what is no such request.
    init(
        _ request: Data, _ items: [ZoneBatch.Item], _ signed: [SignedRecord], taking taken: [[WrittenAlong]],
        after results: ModificationResults, at time: Int64
    ) throws(SealKitError) {
        noted = time
        self.request = request
        do { message = try Sealkit_V1_ModifyRecordsRequest(serializedBytes: request) } catch {
            throw SealKitError(.internalError, "the request could not be noted")
        }
        // What is stored under a record that does not open cannot be read back, and nothing here needs it.
        saved = zip(items, signed).map { item, signed in
            item.saved.map { record in
                var record = record
                (record.base, record.recordChangeTag) = (nil, nil)
                return (record: record, key: signed.recordKey)
            }
        }
        self.taken = taken
        before = results.successes
    }

    func bytes() throws(SealError) -> [UInt8] {
        var writer = CanonicalWriter(capacity: 4096)
        writer.time(noted)
        writer.data(request)
        for case let (record, key)? in saved {
            try writer.record(record)
            writer.flag(key != nil)
            if let key { writer.secret(key) }
        }
        for (wire, taken) in zip(self.message.records, taken) where wire.deleted {
            writer.number(UInt32(taken.count))
            for one in taken { writer.data(Data(one.statement.canonicalBytes())) }
        }
        try before.write(to: &writer)
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        noted = try reader.number()
        request = try reader.data()
        guard let message = try? Sealkit_V1_ModifyRecordsRequest(serializedBytes: request) else { throw .malformed }
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
        taken = try message.records.map { wire throws(SealError) in
            guard wire.deleted else { return [] }
            var taken: [WrittenAlong] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 4)) {
                let bytes = [UInt8](try reader.data())
                taken.append(WrittenAlong(try Statement(canonicalBytes: bytes), hash: Statement.hash(bytes)))
            }
            return taken
        }
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
        var fields: [Wire.Field] = []
        var digests = FieldList<Digest>()
        for field in wire.fields {
            let content = try WireField(field)
            fields.append(Wire.Field(content, name: field.name))
            digests[field.name] = try content.digest(name: field.name)
        }
        (self.fields, self.digests) = (fields, digests)
        self.recordKey = recordKey
    }
}
