import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// A page of the feed of one zone, or of many zones, for one caller.
package struct ChangesPage {
    private let caller: Caller
    private let path: DatabasePath
    private let feedNames: FeedNames
    private let connection: any SQLConnection

    package init(
        for session: Session, _ path: DatabasePath, _ feedNames: FeedNames, in connection: any SQLConnection
    ) throws {
        caller = try Caller(session, container: path.container, in: connection)
        (self.path, self.feedNames, self.connection) = (path, feedNames, connection)
    }

    /// A serialized `RecordChangesResponse`.
    package func changes(_ message: Sealkit_V1_RecordChangesRequest) throws -> [UInt8] {
        try changes(message, room: RecordFeed.pageBytes)
    }

    /// A serialized `ZonesRecordChangesResponse`: all zones from one snapshot, and together no larger than one zone's
    /// page. Those that found no room say that more is coming.
    package func changes(_ message: Sealkit_V1_ZonesRecordChangesRequest) throws -> [UInt8] {
        try checkDistinct(message.zones.map(\.zone))
        var writer = WireWriter(capacity: 1024 * 1024)
        for zone in message.zones {
            // `ZoneRecordChanges { zone = 1, changes = 2, failure = 3 }`
            var one = WireWriter(capacity: 256)
            one.blob(1, try zone.zone.serializedBytes())
            do {
                one.blob(2, try changes(zone, room: RecordFeed.pageBytes - writer.bytes.count))
            } catch let error as ServerError where error.isOfItem {
                one.blob(3, try error.failure.serializedBytes())
            }
            writer.blob(1, one.bytes)
        }
        return writer.bytes
    }

    private func checkDistinct(_ zones: [Sealkit_V1_ZoneID]) throws(ServerError) {
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
    private func changes(_ message: Sealkit_V1_RecordChangesRequest, room: Int) throws -> [UInt8] {
        let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
        let name = feedNames.zone(zone, of: caller)
        let place = try ChangeToken.place(message.token, in: zone, name: name, connection)
        return try RecordFeed.page(
            of: zone, name: name, after: place, limit: RequestItems.limit(message.resultsLimit),
            desired: message.hasDesiredKeys ? try message.desiredKeys.fields() : nil, room: room, in: connection)
    }
}
