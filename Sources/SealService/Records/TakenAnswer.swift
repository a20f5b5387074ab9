import Foundation
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// What goes along with deletions that do not cover it: named to their author, who verifies and signs it. It is added
/// to an answer after the save's transaction, as `ServerRecords` are.
package struct TakenAnswer {
    /// What an answer has room for. A deletion whose records do not fit any more is told nothing, and is sent again
    /// with the others' records; one whose own are more is refused.
    package static let answerBytes = 16 * 1024 * 1024

    package let message: SaveMessage
    package let zone: ZoneRow
    package let user: UserID
    package let rosters: RosterCache
    package let connection: any SQLConnection
    package var answerBytes: Int

    package init(
        message: SaveMessage, zone: ZoneRow, user: UserID, rosters: RosterCache,
        connection: any SQLConnection, answerBytes: Int = TakenAnswer.answerBytes
    ) {
        self.message = message
        self.zone = zone
        self.user = user
        self.rosters = rosters
        self.connection = connection
        self.answerBytes = answerBytes
    }

    package static func isWanted(_ code: ErrorCode) -> Bool { code == .deletionIncomplete }

    /// - Parameter response: its results are the request's records, in their order.
    package func add(to response: inout Sealkit_V1_ModifyRecordsResponse) throws {
        guard response.results.count == message.records.count else { return }
        let wanted = response.results.indices.filter { response.results[$0].failureCode.map(Self.isWanted) ?? false }
        guard !wanted.isEmpty else { return }
        let staying = Set(response.results.filter(\.staysInRequest).map(\.recordName))
        var dependents = Dependents(zone: zone, user: user, rosters: rosters, connection: connection)
        var references = ReferenceReader(zone: zone, connection)
        var room = answerBytes
        for index in wanted {
            guard let deletion = try? Statement(canonicalBytes: message.records[index].statement),
                case .found(let along) = try references.takenAlong(
                    with: deletion, staying: staying, scope: try scope(of: deletion), &dependents)
            else { continue }
            guard let (records, size) = try records(along) else {
                response.results[index].failure = TakenAlong.tooLarge.failure
                continue
            }
            guard size <= room else { continue }
            room -= size
            response.results[index].taken = try Sealkit_V1_TakenRecords(serializedBytes: records)
        }
    }

    private func scope(of deletion: Statement) throws -> CascadeScope {
        CascadeScope(try Shares.identified(by: [deletion.scopeID], in: zone, connection).first?.share)
    }

    /// A serialized `TakenRecords { records = 1 { record = 1, field = 2 } }`; nil for more than any answer takes.
    private func records(_ along: TakenAlong) throws -> (bytes: [UInt8], size: Int)? {
        var writer = WireWriter(capacity: 1024 * along.members.count)
        for member in along.members {
            let record = try member.record.serialized(desired: [member.field])
            var taken = WireWriter(capacity: record.count + member.field.utf8.count + 16)
            taken.blob(1, record)
            taken.text(2, member.field)
            writer.blob(1, taken.bytes)
            guard writer.bytes.count <= answerBytes else { return nil }
        }
        return (writer.bytes, writer.bytes.count)
    }
}

extension Sealkit_V1_RecordResult {
    fileprivate var failureCode: ErrorCode? {
        guard case .failure(let failure)? = outcome else { return nil }
        return failure.errorCode
    }

    /// The request saves or deletes it itself, now or when it is sent again: it goes with nothing.
    fileprivate var staysInRequest: Bool {
        switch failureCode {
        case nil: if case .record? = outcome { true } else { false }
        case .batchRequestFailed, .deletionIncomplete: true
        default: false
        }
    }
}
