import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Zones' feeds, of one zone or of many in one request.
extension RecordsController {
    func changes(
        _ message: Sealkit_V1_RecordChangesRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_RecordChangesResponse> {
        let (session, path) = (call.session, call.path)
        let feedNames = self.feedNames
        let answer = try await transactions.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            return try Self.page(message, caller, path, feedNames, room: RecordFeed.pageBytes, connection)
        }
        return WrittenMessage(answer)
    }

    /// All zones from one snapshot, and together no larger than one zone's page: those that found no room say that more
    /// is coming.
    func changesOfZones(
        _ message: Sealkit_V1_ZonesRecordChangesRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_ZonesRecordChangesResponse> {
        let (session, path) = (call.session, call.path)
        guard message.zones.count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) zones.", remedy: "Ask in parts.")
        }
        let feedNames = self.feedNames
        let answer = try await transactions.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            try Self.checkDistinct(message.zones.map(\.zone), caller)
            var writer = WireWriter(capacity: 1024 * 1024)
            for zone in message.zones {
                let room = RecordFeed.pageBytes - writer.bytes.count
                // `ZoneRecordChanges { zone = 1, changes = 2, failure = 3 }`
                var one = WireWriter(capacity: 256)
                one.blob(1, try zone.zone.serializedBytes())
                do {
                    one.blob(2, try Self.page(zone, caller, path, feedNames, room: room, connection))
                } catch let error as ServerError where error.code != .internalError {
                    one.blob(3, try error.failure.serializedBytes())
                }
                writer.blob(1, one.bytes)
            }
            return writer.bytes
        }
        return WrittenMessage(answer)
    }

    private static func checkDistinct(_ zones: [Sealkit_V1_ZoneID], _ caller: Caller) throws(ServerError) {
        var seen: Set<Sealkit_V1_ZoneID> = []
        for var zone in zones {
            if zone.ownerName.isEmpty { zone.ownerName = caller.userID.recordName }
            guard seen.insert(zone).inserted else {
                throw ServerError(
                    .invalidArguments, "A zone comes twice in one request.", remedy: "Ask for each zone once.")
            }
        }
    }

    /// - Parameter room: bytes that are left; the first zone of an answer always has a record's room.
    private static func page(
        _ message: Sealkit_V1_RecordChangesRequest, _ caller: Caller, _ path: DatabasePath, _ feedNames: FeedNames,
        room: Int, _ connection: any SQLConnection
    ) throws -> [UInt8] {
        let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
        let name = feedNames.zone(zone, of: caller)
        let place = try ChangeToken.place(message.token, in: zone, name: name, connection)
        let limit =
            message.resultsLimit == 0 ? Limits.itemsPerRequest : min(Int(message.resultsLimit), Limits.itemsPerRequest)
        return try RecordFeed.page(
            of: zone, name: name, after: place, limit: limit,
            desired: message.hasDesiredKeys ? try message.desiredKeys.fields() : nil, room: room, in: connection)
    }
}
