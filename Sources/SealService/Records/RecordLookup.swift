import SealStatements
package import SealStorage
import SealWire
import SwiftProtobuf

/// Records by name.
package enum RecordLookup {
    /// An answer has at most this many bytes of records; those that come after it was full are refused.
    package static let answerBytes = 48 * 1024 * 1024

    /// - Throws: `invalidArguments` for what is no record's name, or comes twice.
    package static func check(_ names: [String]) throws(ServerError) {
        var seen: Set<String> = []
        for name in names {
            guard Names.isPlain(name) else {
                throw ServerError(
                    .invalidArguments, "A record's name has 1 to \(Limits.nameBytes) printable ASCII characters.",
                    remedy: "Ask for records by the names that they were saved with.")
            }
            guard seen.insert(name).inserted else {
                throw ServerError(
                    .invalidArguments, "A record comes twice in one request.", remedy: "Ask for each record once.")
            }
        }
    }

    /// A serialized `LookupRecordsResponse`.
    /// - Parameter rights: the caller's, in the public database; what it may not read is refused record by record.
    package static func answer(
        _ names: [String], in zone: ZoneRow, desired: Set<String>?, rights: PublicRights? = nil,
        _ connection: any SQLConnection
    ) throws -> [UInt8] {
        var writer = WireWriter(capacity: 4096 * names.count + 256)
        var isFull = false
        var authors = PublicAuthors()
        var cited: Set<Int64> = []
        for name in names {
            if !isFull {
                let record = try StoredRecord.find(name, in: zone, connection)
                if let rights, let record {
                    let statement = try Statement(canonicalBytes: record.statement)
                    if let refusal = rights.refusalToRead(statement) {
                        try writer.failed(name, refusal)
                        continue
                    }
                    authors.add(statement)
                }
                if let record { cited.insert(record.share) }
                isFull = try !writer.lookedUp(name, record, desired: desired, in: zone, connection)
            }
            if isFull { try writer.failed(name, noRoom) }
        }
        if rights == nil {
            for head in try zone.scopeHeads(citing: cited, connection) { writer.blob(2, try head.serializedBytes()) }
        } else {
            for chain in try authors.chains(in: zone.container, connection) {
                writer.blob(3, try chain.serializedBytes())
            }
        }
        return writer.bytes
    }

    private static let noRoom = ServerError(
        .limitExceeded, "The answer has no room for this record.", remedy: "Ask in parts: the records before it came.")
}
