import Foundation
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// What the server has under the names of records that it refused to save, for the client to merge with. It is added to
/// an answer after the save's transaction, so the writer does not wait for it, and anew when an operation is repeated.
package enum ServerRecords {
    /// An answer has at most this many bytes of them; failures beyond it come without.
    package static let answerBytes = 2 * 1024 * 1024

    /// Whether a result that failed so would take a record, or what goes along with one.
    static func isWanted(after code: ErrorCode) -> Bool { isWanted(code) || TakenAnswer.isWanted(code) }

    /// - Parameter response: without server records.
    /// - Parameter rights: the caller's, in the public database; what it may not read is left out.
    package static func add(
        to response: inout Sealkit_V1_ModifyRecordsResponse, in zone: ZoneRow, rights: PublicRights?,
        _ connection: any SQLConnection
    ) throws {
        var room = answerBytes
        var authors = PublicAuthors()
        for index in response.results.indices {
            guard case .failure(let failure) = response.results[index].outcome, let code = failure.errorCode,
                isWanted(code),
                let record = try StoredRecord.find(response.results[index].recordName, in: zone, connection),
                // Made again since: "there is no such record" does not go with a record.
                code == .serverRecordChanged || record.isDeleted
            else { continue }
            if let rights {
                let statement = try Statement(canonicalBytes: record.statement)
                guard rights.refusalToRead(statement) == nil else { continue }
                authors.add(statement)
            }
            let bytes = try record.serialized(desired: nil, in: zone, connection)
            guard bytes.count <= room else { break }
            room -= bytes.count
            response.results[index].serverRecord = try Sealkit_V1_Record(serializedBytes: bytes)
        }
        if rights != nil { response.authors = try authors.chains(in: zone.container, connection) }
    }

    private static func isWanted(_ code: ErrorCode) -> Bool { code == .serverRecordChanged || code == .unknownItem }
}
