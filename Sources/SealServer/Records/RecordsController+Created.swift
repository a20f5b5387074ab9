import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// What the caller has made in the public database: the way to have all of it, which no feed and no look-up by name
/// gives.
extension RecordsController {
    func created(
        _ message: Sealkit_V1_CreatedRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_CreatedRecordsResponse> {
        let (session, path) = (call.session, call.path)
        guard message.after.isEmpty || Names.isPlain(message.after) else {
            throw ServerError(
                .invalidArguments, "A record's name has 1 to \(Limits.nameBytes) printable ASCII characters.",
                remedy: "Go on after the last name of the answer before.")
        }
        let limit =
            message.resultsLimit == 0 ? Limits.itemsPerRequest : min(Int(message.resultsLimit), Limits.itemsPerRequest)
        let schemas = self.schemas
        let answer = try await transactions.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            guard let rights = try PublicRights.of(session, path, schemas, in: connection) else {
                throw PublicZone.notFound
            }
            return try CreatedRecords.page(
                of: caller.userID, in: try PublicZone.find(path, in: connection), rights: rights, after: message.after,
                limit: limit,
                connection)
        }
        return WrittenMessage(answer)
    }
}
