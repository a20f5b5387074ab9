package import Foundation
import SealPrimitives
import SealStatements
package import SealStorage
import SealWire

/// A place in a feed, as clients keep it. Opaque to them; not secret, and believed only where it was given out: each is
/// bound to its reader, and to the database, or the zone and its incarnation (`FeedNames`).
package enum ChangeToken: Equatable {
    case database(name: [UInt8], DatabasePlace)
    case zone(name: [UInt8], incarnation: UInt32, ZonePlace)

    /// Where a reader of a database's feed stands.
    package struct DatabasePlace: Equatable {
        package let position: Int64
        /// Where the feed stood when the token was given out, and the server's run then.
        package let end: Int64
        package let run: Int64

        package init(position: Int64, end: Int64, run: Int64) {
            self.position = position
            self.end = end
            self.run = run
        }
    }

    /// Where a reader of a zone's feed stands.
    package struct ZonePlace: Equatable {
        package let position: Int64
        /// Up to which place deletions had left the feed when its reading began: those it need not be told of.
        let horizon: Int64
        /// Where the feed stood when its reading began: whoever takes part in another share since, or in the zone as a
        /// whole where it has had shares, begins anew.
        let began: Int64
        /// The server's run in which it stood there.
        package let run: Int64
    }

    private static let version: UInt8 = 1

    static let expired = ServerError(
        .changeTokenExpired, "The change token is not one for this feed, or too old.",
        remedy: "Drop the token and fetch all changes again.")

    package var data: Data {
        var writer = CanonicalWriter(capacity: 64)
        writer.number(Self.version)
        switch self {
        case .database(let name, let place):
            writer.number(1 as UInt8)
            writer.raw(name)
            writer.number(place.position)
            writer.number(place.end)
            writer.number(place.run)
        case .zone(let name, let incarnation, let place):
            writer.number(2 as UInt8)
            writer.raw(name)
            writer.number(incarnation)
            writer.number(place.position)
            writer.number(place.horizon)
            writer.number(place.began)
            writer.number(place.run)
        }
        return Data(writer.bytes)
    }

    /// - Throws: `invalidArguments` for what was never a token; `changeTokenExpired` for another version's.
    package init(_ data: Data) throws(ServerError) {
        let malformed = ServerError(
            .invalidArguments, "The change token is damaged.", remedy: "Send a token as it came, or none.")
        guard data.count <= 64, let version = data.first else { throw malformed }
        guard version == Self.version else { throw Self.expired }
        var reader = CanonicalReader([UInt8](data))
        do {
            _ = try reader.byte()
            switch try reader.byte() {
            case 1:
                self = .database(
                    name: try reader.raw(FeedNames.byteCount),
                    DatabasePlace(position: try reader.number(), end: try reader.number(), run: try reader.number()))
            case 2:
                self = .zone(
                    name: try reader.raw(FeedNames.byteCount), incarnation: try reader.number(),
                    ZonePlace(
                        position: try reader.number(), horizon: try reader.number(), began: try reader.number(),
                        run: try reader.number()))
            default: throw SealError.malformed
            }
            try reader.finish()
        } catch {
            throw malformed
        }
    }

    /// Where a client stands in one of the caller's databases, and the server's run now.
    /// - Parameters:
    ///   - name: the database's, for this caller.
    ///   - standing: where the feed stands.
    /// - Throws: `changeTokenExpired` also for a token of a future that was lost when a backup was restored.
    package static func place(
        _ data: Data, of caller: Caller, _ path: DatabasePath, name: [UInt8], standing: Int64,
        in connection: any SQLConnection
    ) throws -> DatabasePlace {
        var place = DatabasePlace(position: 0, end: 0, run: 0)
        if !data.isEmpty {
            guard case .database(name, let known) = try ChangeToken(data) else { throw expired }
            place = known
        }
        let reach = try ServerRuns.reach(of: place.run, of: caller, path, standing: standing, in: connection)
        guard data.isEmpty || isReached(place.position, place.end, reach, standing) else { throw expired }
        return DatabasePlace(position: place.position, end: standing, run: reach.newest)
    }

    /// Where a client stands in a zone's feed, as of the server's run now.
    /// - Parameter name: the zone's, for this caller.
    /// - Throws: `changeTokenExpired` also when deletions that it has not been told of have left the feed, and for a
    ///   token of a future that was lost when a backup was restored.
    package static func place(
        _ data: Data, in zone: ZoneRow, name: [UInt8], _ connection: any SQLConnection
    ) throws -> ZonePlace {
        let compacted = try Compaction.horizon(of: zone, in: connection)
        var place = ZonePlace(position: 0, horizon: compacted, began: zone.position, run: 0)
        if !data.isEmpty {
            guard case .zone(name, zone.incarnation, let known) = try ChangeToken(data),
                max(known.position, known.horizon) >= compacted
            else { throw expired }
            switch zone.sight {
            case .everything: break
            case .ownScope(let since), .shares(_, let since): guard known.began >= since else { throw expired }
            }
            place = known
        }
        let reach = try ServerRuns.reach(of: place.run, in: zone, connection)
        // What was read before the last page counts too: all of it has to be of this history.
        guard data.isEmpty || isReached(place.position, max(place.position, place.began), reach, zone.position) else {
            throw expired
        }
        return ZonePlace(position: place.position, horizon: place.horizon, began: place.began, run: reach.newest)
    }

    private static func isReached(_ position: Int64, _ last: Int64, _ reach: ServerRuns.Reach, _ standing: Int64)
        -> Bool
    {
        guard let end = reach.end else { return false }
        return position >= 0 && position <= last && last <= end && last <= standing
    }
}
