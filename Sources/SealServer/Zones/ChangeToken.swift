import Foundation
import SealPrimitives
import SealStatements
import SealWire

/// A place in a feed, as clients keep it. Opaque to them; not secret, and believed only where it was given out: each is
/// bound to its database and caller, or to its zone and incarnation.
enum ChangeToken: Equatable {
    case database(viewer: Int64, environment: UInt8, isShared: Bool, DatabasePlace)
    case zone(owner: Int64, zone: Int64, incarnation: UInt32, ZonePlace)

    /// Where a reader of a database's feed stands.
    struct DatabasePlace: Equatable {
        let position: Int64
        /// Where the feed stood when the token was given out, and the server's run then.
        let end: Int64
        let run: Int64
    }

    /// Where a reader of a zone's feed stands.
    struct ZonePlace: Equatable {
        let position: Int64
        /// Up to which place deletions had left the feed when its reading began: those it need not be told of.
        let horizon: Int64
        /// Where the feed stood when its reading began: whoever takes part in another share since begins anew.
        let began: Int64
        /// The server's run in which it stood there; 0 for tokens of before there were runs.
        let run: Int64
    }

    private static let version: UInt8 = 1

    static let expired = ServerError(
        .changeTokenExpired, "The change token is not one for this feed, or too old.",
        remedy: "Drop the token and fetch all changes again.")

    var data: Data {
        var writer = CanonicalWriter(capacity: 32)
        writer.number(Self.version)
        switch self {
        case .database(let viewer, let environment, let isShared, let place):
            writer.number(5 as UInt8)
            writer.number(viewer)
            writer.number(environment)
            writer.flag(isShared)
            writer.number(place.position)
            writer.number(place.end)
            writer.number(place.run)
        case .zone(let owner, let zone, let incarnation, let place):
            writer.number(6 as UInt8)
            writer.number(owner)
            writer.number(zone)
            writer.number(incarnation)
            writer.number(place.position)
            writer.number(place.horizon)
            writer.number(place.began)
            writer.number(place.run)
        }
        return Data(writer.bytes)
    }

    /// - Throws: `invalidArguments` for what was never a token; `changeTokenExpired` for another version's.
    init(_ data: Data) throws(ServerError) {
        let malformed = ServerError(
            .invalidArguments, "The change token is damaged.", remedy: "Send a token as it came, or none.")
        guard data.count <= 64, let version = data.first else { throw malformed }
        guard version == Self.version else { throw Self.expired }
        // Zone tokens of before there were horizons.
        guard data.dropFirst().first != 2 else { throw Self.expired }
        var reader = CanonicalReader([UInt8](data))
        do {
            _ = try reader.byte()
            switch try reader.byte() {
            case let kind where kind == 1 || kind == 5:
                let viewer: Int64 = try reader.number()
                let environment: UInt8 = try reader.number()
                let isShared = try reader.flag()
                let position: Int64 = try reader.number()
                self = .database(
                    viewer: viewer, environment: environment, isShared: isShared,
                    // Those of before there were runs.
                    kind == 1
                        ? DatabasePlace(position: position, end: position, run: 0)
                        : DatabasePlace(position: position, end: try reader.number(), run: try reader.number()))
            case let kind where kind == 3 || kind == 4 || kind == 6:
                self = .zone(
                    owner: try reader.number(), zone: try reader.number(), incarnation: try reader.number(),
                    ZonePlace(
                        position: try reader.number(), horizon: try reader.number(),
                        // Those of before there were several scopes in a zone.
                        began: kind == 3 ? 0 : try reader.number(), run: kind == 6 ? try reader.number() : 0))
            default: throw SealError.malformed
            }
            try reader.finish()
        } catch {
            throw malformed
        }
    }

    /// Where a client stands in one of the caller's databases, and the server's run now.
    /// - Parameter standing: where the feed stands.
    /// - Throws: `changeTokenExpired` also for a token of a future that was lost when a backup was restored.
    static func place(
        _ data: Data, of caller: Caller, _ path: DatabasePath, standing: Int64, in connection: any SQLConnection
    ) throws -> DatabasePlace {
        var place = DatabasePlace(position: 0, end: 0, run: 0)
        if !data.isEmpty {
            guard case .database(caller.id, path.environment.rawValue, path.isShared, let known) = try ChangeToken(data)
            else { throw expired }
            place = known
        }
        let reach = try ServerRuns.reach(of: place.run, of: caller, path, standing: standing, in: connection)
        guard data.isEmpty || isReached(place.position, place.end, reach, standing) else { throw expired }
        return DatabasePlace(position: place.position, end: standing, run: reach.newest)
    }

    /// Where a client stands in a zone's feed, as of the server's run now.
    /// - Throws: `changeTokenExpired` also when deletions that it has not been told of have left the feed, and for a token of a
    ///   future that was lost when a backup was restored.
    static func place(_ data: Data, in zone: ZoneRow, _ connection: any SQLConnection) throws -> ZonePlace {
        let compacted = try Compaction.horizon(of: zone, in: connection)
        var place = ZonePlace(position: 0, horizon: compacted, began: zone.position, run: 0)
        if !data.isEmpty {
            guard case .zone(zone.owner, zone.zone, zone.incarnation, let known) = try ChangeToken(data),
                max(known.position, known.horizon) >= compacted
            else { throw expired }
            if case .shares(_, let since) = zone.sight, known.began < since { throw expired }
            place = known
        }
        let reach = try ServerRuns.reach(of: place.run, in: zone, connection)
        // What was read before the last page counts too: all of it has to be of this history.
        guard data.isEmpty || isReached(place.position, max(place.position, place.began), reach, zone.position) else {
            throw expired
        }
        return ZonePlace(position: place.position, horizon: place.horizon, began: place.began, run: reach.newest)
    }

    private static func isReached(_ position: Int64, _ last: Int64, _ reach: ServerRuns.Reach, _ standing: Int64) -> Bool {
        guard let end = reach.end else { return false }
        return position >= 0 && position <= last && last <= end && last <= standing
    }
}
