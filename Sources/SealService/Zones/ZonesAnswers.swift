package import SealStorage
package import SealWire
import SwiftProtobuf

/// Zones as one caller sees them in a database, by name or by what has changed.
package struct ZonesAnswers {
    private let caller: Caller
    private let path: DatabasePath
    private let connection: any SQLConnection

    package init(for session: Session, _ path: DatabasePath, in connection: any SQLConnection) throws {
        caller = try Caller(session, container: path.container, in: connection)
        (self.path, self.connection) = (path, connection)
    }

    /// All that there are, where none is named.
    package func lookup(_ message: Sealkit_V1_LookupZonesRequest) throws -> Sealkit_V1_LookupZonesResponse {
        var response = Sealkit_V1_LookupZonesResponse()
        guard message.zones.isEmpty else {
            response.results = try message.zones.map { id in
                try .init(id) { .zone(try Zones.visible(id, to: caller, path, in: connection).wire) }
            }
            return response
        }
        response.results = try Zones.all(of: caller, path, in: connection).map { zone in
            .with {
                $0.zoneID = zone.wireID
                $0.zone = zone.wire
            }
        }
        return response
    }

    /// Zones whose changes are not in the caller's feed yet, as `ZoneRow.key` has them: to be shown before it is read.
    package func waiting() throws -> [[SQLValue]] { try ZoneTouch.waiting(for: caller, path, in: connection) }

    /// Has what waits come into the feed, in a transaction that writes.
    package func show(_ waiting: [[SQLValue]]) throws { try ZoneTouch.show(waiting, to: caller, in: connection) }

    /// - Parameter shown: how much came into the feed just before.
    package func changes(
        _ message: Sealkit_V1_DatabaseChangesRequest, _ feedNames: FeedNames, shown: Int
    ) throws -> Sealkit_V1_DatabaseChangesResponse {
        let limit = RequestItems.limit(message.resultsLimit)
        let name = feedNames.database(path, of: caller)
        let place = try ChangeToken.place(
            message.token, of: caller, path, name: name,
            standing: try DatabaseFeed.lastPosition(of: caller, path, in: connection), in: connection)
        var position = place.position
        // One more than asked for tells whether more is coming.
        let changes = try DatabaseFeed.changes(of: caller, path, after: position, limit: limit + 1, in: connection)
        var response = Sealkit_V1_DatabaseChangesResponse()
        for change in changes.prefix(limit) {
            position = change.position
            if change.gone == DatabaseFeed.Gone.no.rawValue {
                response.modifications.append(change.zone.wire)
            } else {
                response.deletions.append(
                    .with {
                        $0.zoneID = change.zone.wireID
                        $0.reason = UInt32(truncatingIfNeeded: change.gone)
                    })
            }
        }
        // As many as are shown at once: there may be others.
        response.moreComing = changes.count > limit || shown == ZoneTouch.mostOfReader
        response.token =
            ChangeToken.database(name: name, .init(position: position, end: place.end, run: place.run)).data
        return response
    }
}
