import Foundation
import SealPrimitives
import SealQuery
import SealStatements
import SealWire

/// Where a query goes on. Opaque to clients: it may name a record that its reader is not allowed to find, where a page
/// has ended among such. So it is sealed (`CursorSeal`), and what may be seen is judged anew for each page.
struct QueryCursor: Equatable {
    /// Which driver the candidates came by.
    let driver: UInt8
    /// The zone that the place is in, by its number.
    let zone: Int64
    let place: QueryPlace
    /// The place in each zone's feed at which the query began there.
    let snapshots: [Int64: Int64]
    /// The database's, in which it was made (`ServerRuns`).
    let run: Int64

    /// In the place of a driver: which one it is, is still to be found out.
    static let undecided = UInt8.max
    /// Nil where none is decided on.
    var chosen: Int? { driver == Self.undecided ? nil : Int(driver) }

    private static let version: UInt8 = 3
    private static let mostBytes = 16_384

    static let damaged = ServerError(
        .invalidArguments, "The cursor is damaged, or one of another query.",
        remedy: "Send it as it came, with the same query and zone.")
    static let expired = ServerError(
        .changeTokenExpired, "The cursor is not good any more.", remedy: "Ask from the start.")

    func data(_ seal: CursorSeal) -> Data {
        var writer = CanonicalWriter(capacity: 512)
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
        writer.number(run)
        return Data([Self.version] + seal.close(writer.bytes))
    }

    /// - Parameters:
    ///   - seal: of what the cursor must be of.
    ///   - keys: how many keys the query's order has.
    init(_ data: Data, _ seal: CursorSeal, keys: Int) throws(ServerError) {
        guard data.count <= Self.mostBytes else { throw Self.damaged }
        guard data.first == Self.version else { throw Self.expired }
        do {
            var reader = CanonicalReader(try seal.open([UInt8](data.dropFirst())))
            driver = try reader.byte()
            zone = try reader.number()
            let count = try reader.count(UInt16.self, ofAtLeast: 4)
            guard count == keys else { throw SealError.malformed }
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
            run = try reader.number()
            try reader.finish()
        } catch {
            throw Self.damaged
        }
    }

    init(driver: UInt8, zone: Int64, place: QueryPlace, snapshots: [Int64: Int64], run: Int64) {
        self.driver = driver
        self.zone = zone
        self.place = place
        self.snapshots = snapshots
        self.run = run
    }
}
