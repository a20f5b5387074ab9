import Foundation
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

/// Where a query goes on. Opaque to clients; not secret, and trusted with nothing: it says a place in an order, and whoever
/// makes one up gets what that query gives from there. What may be seen is judged anew for each page.
struct QueryCursor: Equatable {
    /// Of the account, the database, the zone and the query.
    let subject: [UInt8]
    /// Which driver the candidates came by.
    let driver: UInt8
    /// The zone that the place is in, by its number.
    let zone: Int64
    let place: QueryPlace
    /// The place in each zone's feed at which the query began there.
    let snapshots: [Int64: Int64]

    private static let version: UInt8 = 1
    private static let mostBytes = 16_384

    static let damaged = ServerError(
        .invalidArguments, "The cursor is damaged, or one of another query.", remedy: "Send it as it came, with the same query and zone.")
    static let expired = ServerError(
        .changeTokenExpired, "The cursor is not good any more.", remedy: "Ask from the start.")

    static func subject(_ query: Query, zone: ZoneRow?, account: Int64, _ path: DatabasePath) throws -> [UInt8] {
        var writer = CanonicalWriter()
        writer.number(account)
        writer.string(path.container)
        writer.number(path.environment.rawValue)
        writer.string(path.database.rawValue)
        writer.flag(zone != nil)
        writer.number(zone?.owner ?? 0)
        writer.number(zone?.zone ?? 0)
        return ServerHash.digest(.query, writer.bytes, try query.wire.serializedBytes())
    }

    var data: Data {
        var writer = CanonicalWriter(capacity: 512)
        writer.number(Self.version)
        writer.raw(subject)
        writer.number(driver)
        writer.number(zone)
        writer.number(UInt16(place.keys.count))
        for key in place.keys { writer.blob(key.bytes) }
        writer.string(place.record)
        writer.number(UInt16(snapshots.count))
        for (zone, position) in snapshots.sorted(by: { $0.key < $1.key }) {
            writer.number(zone)
            writer.number(position)
        }
        return Data(writer.bytes)
    }

    /// - Parameters:
    ///   - subject: what the cursor must be of.
    ///   - keys: how many keys the query's order has.
    init(_ data: Data, subject wanted: [UInt8], keys: Int) throws(ServerError) {
        guard data.count <= Self.mostBytes else { throw Self.damaged }
        guard data.first == Self.version else { throw Self.expired }
        var reader = CanonicalReader([UInt8](data.dropFirst()))
        do {
            subject = try reader.raw(32)
            driver = try reader.byte()
            zone = try reader.number()
            let count = try reader.count(UInt16.self, ofAtLeast: 4)
            guard subject == wanted, count == keys else { throw SealError.malformed }
            var read: [IndexKey] = []
            for _ in 0..<count { read.append(IndexKey(bytes: try reader.blob(atMost: Query.Limits.keyBytes + 1))) }
            let record = try reader.string(atMost: SealStatements.Limits.nameBytes)
            guard Names.isPlain(record) || record == QueryPlace.lowest || record == QueryPlace.highest else {
                throw SealError.malformed
            }
            place = QueryPlace(keys: read, record: record)
            var positions: [Int64: Int64] = [:]
            for _ in 0..<(try reader.count(UInt16.self, ofAtLeast: 16)) {
                positions[try reader.number()] = try reader.number()
            }
            snapshots = positions
            try reader.finish()
        } catch {
            throw Self.damaged
        }
    }

    init(subject: [UInt8], driver: UInt8, zone: Int64, place: QueryPlace, snapshots: [Int64: Int64]) {
        self.subject = subject
        self.driver = driver
        self.zone = zone
        self.place = place
        self.snapshots = snapshots
    }
}
