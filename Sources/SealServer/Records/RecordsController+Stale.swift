import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// What is left to be sealed under the newest key.
extension RecordsController {
    func stale(
        _ message: Sealkit_V1_StaleRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_StaleRecordsResponse> {
        let (session, path) = (call.session, call.path)
        guard let place = Int64(exactly: message.after) else {
            throw ServerError(
                .invalidArguments, "There is no such place in a feed.",
                remedy: "Send the position of a record of the answer before.")
        }
        let limit =
            message.resultsLimit == 0 ? Limits.itemsPerRequest : min(Int(message.resultsLimit), Limits.itemsPerRequest)
        let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
        let rosters = self.rosters
        let answer = try await transactions.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            return try StaleRecords.page(
                of: zone, try rosters.roster(of: zone, in: connection), after: place, limit: limit, desired: desired,
                counting: message.counting, in: connection)
        }
        return WrittenMessage(answer)
    }
}
