import Foundation
import SealPrimitives
import SealStatements
import SealWire

/// A place in a feed, as clients keep it. Opaque to them; not secret, and believed only where it was given out: each is
/// bound to its database and caller, or to its zone and incarnation.
enum ChangeToken: Equatable {
    case database(viewer: Int64, environment: UInt8, isShared: Bool, position: Int64)
    case zone(owner: Int64, zone: Int64, incarnation: UInt32, ZonePlace)

    /// Where a reader of a zone's feed stands.
    struct ZonePlace: Equatable {
        let position: Int64
        /// Up to which place deletions had left the feed when its reading began: those it need not be told of.
        let horizon: Int64
        /// Where the feed stood when its reading began: whoever takes part in another share since begins anew.
        var began: Int64 = 0
    }

    private static let version: UInt8 = 1

    static let expired = ServerError(
        .changeTokenExpired, "The change token is not one for this feed, or too old.",
        remedy: "Drop the token and fetch all changes again.")

    var data: Data {
        var writer = CanonicalWriter(capacity: 32)
        writer.number(Self.version)
        switch self {
        case .database(let viewer, let environment, let isShared, let position):
            writer.number(1 as UInt8)
            writer.number(viewer)
            writer.number(environment)
            writer.flag(isShared)
            writer.number(position)
        case .zone(let owner, let zone, let incarnation, let place):
            writer.number(4 as UInt8)
            writer.number(owner)
            writer.number(zone)
            writer.number(incarnation)
            writer.number(place.position)
            writer.number(place.horizon)
            writer.number(place.began)
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
            case 1:
                self = .database(
                    viewer: try reader.number(), environment: try reader.number(), isShared: try reader.flag(),
                    position: try reader.number())
            case let kind where kind == 3 || kind == 4:
                self = .zone(
                    owner: try reader.number(), zone: try reader.number(), incarnation: try reader.number(),
                    ZonePlace(
                        position: try reader.number(), horizon: try reader.number(),
                        // Those of before there were several scopes in a zone.
                        began: kind == 3 ? 0 : try reader.number()))
            default: throw SealError.malformed
            }
            try reader.finish()
        } catch {
            throw malformed
        }
    }

    /// Where a client stands in one of the caller's databases.
    static func position(
        _ data: Data, of caller: Caller, _ path: DatabasePath, last: @autoclosure () throws -> Int64
    ) throws -> Int64 {
        guard !data.isEmpty else { return 0 }
        guard
            case .database(caller.id, path.environment.rawValue, path.isShared, let position) = try ChangeToken(data),
            // A place that was never given out comes from before a restore.
            position >= 0, try position <= last()
        else { throw expired }
        return position
    }

    /// Where a client stands in a zone's feed.
    /// - Throws: `changeTokenExpired` also when deletions that it has not been told of have left the feed.
    static func place(_ data: Data, in zone: ZoneRow, _ connection: any SQLConnection) throws -> ZonePlace {
        let compacted = try Compaction.horizon(of: zone, in: connection)
        guard !data.isEmpty else { return ZonePlace(position: 0, horizon: compacted, began: zone.position) }
        guard case .zone(zone.owner, zone.zone, zone.incarnation, let place) = try ChangeToken(data),
            place.position >= 0, place.position <= zone.position, max(place.position, place.horizon) >= compacted
        else { throw expired }
        if case .shares(_, let since) = zone.sight, place.began < since { throw expired }
        return place
    }
}
