import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

extension WireWriter {
    /// A `RecordResult` as field 1:
    /// `{ record_name = 1, record = 2, failure = 3, server_record = 4, dependents = 210 }`.
    private mutating func result(
        _ name: String, _ field: UInt64, _ content: [UInt8], serverRecord: [UInt8]? = nil, dependents: [String] = []
    ) {
        var result = WireWriter(capacity: content.count + (serverRecord?.count ?? 0) + name.utf8.count + 32)
        result.text(1, name)
        result.head(field, count: content.count)
        result.raw(content)
        if let serverRecord { result.blob(4, serverRecord) }
        for dependent in dependents { result.text(210, dependent) }
        blob(1, result.bytes)
    }

    /// One looked-up record. Of a deleted one the tombstone comes along, so that the client can continue after it.
    /// - Returns: false, with nothing written, when the answer has no room for the record.
    mutating func lookedUp(
        _ name: String, _ record: StoredRecord?, desired: Set<String>?, in zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws -> Bool {
        let content = try record?.serialized(desired: desired, in: zone, connection)
        guard bytes.count + (content?.count ?? 0) <= RecordLookup.answerBytes else { return false }
        if let record, let content, !record.isDeleted {
            result(name, 2, content)
        } else {
            let error = ServerError(
                .unknownItem, "There is no such record.", remedy: "Fetch the zone's changes to see what there is.")
            result(name, 3, try error.failure.serializedBytes(), serverRecord: content)
        }
        return true
    }

    /// A record that is there, serialized.
    package mutating func found(_ name: String, _ content: [UInt8]) { result(name, 2, content) }

    mutating func failed(_ name: String, _ error: ServerError, dependents: [String] = []) throws {
        result(name, 3, try error.failure.serializedBytes(), dependents: dependents)
    }

    mutating func saved(_ record: WrittenRecord, now: Int64) {
        let accepted = record.accepted
        var writer = WireWriter(capacity: 128)
        writer.systemFields(
            name: accepted.name, type: accepted.statement.recordType, position: record.position, tag: record.tag,
            created: accepted.created(now: now), modified: accepted.modified(now: now), isDeleted: accepted.isDeletion)
        result(accepted.name, 2, writer.bytes)
    }
}
