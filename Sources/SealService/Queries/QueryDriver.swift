package import SealQuery
import SealStatements
package import SealStorage

/// Where a query's candidates come from: every result is among them, and whatever else is, evaluation leaves out.
package enum QueryDriver: Sendable {
    /// The zone's records, by name.
    case names([KeyRange])
    /// A field's index entries.
    case index(key: String, id: Int64, isList: Bool, [KeyRange])
    case words(Set<String>, all: Bool)

    /// What a condition can be found by; nil when no index is of help.
    package init?(_ condition: Query.Condition, _ type: IndexedType) {
        if case .words(let text, let all) = condition.test {
            self = .words(Words.of(text), all: all)
            return
        }
        guard let key = condition.test.key, let field = type.field(key),
            let ranges = condition.ranges(in: field.type.kind)
        else {
            return nil
        }
        self = QueryDriver(key, field, ranges)
    }

    package init(_ key: String, _ field: IndexedType.Field, _ ranges: [KeyRange]) {
        self =
            key == Query.SystemField.recordID.rawValue
            ? .names(ranges) : .index(key: key, id: field.id, isList: field.type.isList, ranges)
    }

    /// One thing to look at: what it is found by, and whose it is.
    package struct Candidate {
        package let key: IndexKey
        package let record: String
        /// Since when the record has this key: a place in the zone's feed. Nil for what never changes.
        package let since: Int64?
        /// Known not to be a record of the type: counted, and passed over.
        var isOther = false
    }

    /// How many are read at once.
    private static let chunk = 256
}

extension QueryDriver {
    /// The next candidates after a place, at most a chunk.
    /// - Parameter place: one key, and a record.
    package func next(
        after place: QueryPlace?, ascending: Bool, limit: Int, type: String, in zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws -> [Candidate] {
        let limit = min(limit, Self.chunk)
        switch self {
        case .words(let words, let all):
            let after = place?.keys.first.map(Self.number) ?? 0
            return try SearchIndex(zone: zone, connection: connection).find(
                words, all: all, type: type, after: after, limit: limit
            )
            .map { Candidate(key: IndexKey(UInt64(bitPattern: $0.id)), record: $0.record, since: nil) }
        case .names(let ranges), .index(_, _, _, let ranges):
            var found: [Candidate] = []
            for range in ascending ? ranges : ranges.reversed() {
                var start = place
                if let key = place?.keys.first {
                    guard ascending ? key < range.upper : key >= range.lower else { continue }
                    // The range lies wholly ahead.
                    if ascending ? key < range.lower : key >= range.upper { start = nil }
                }
                found += try scan(
                    range, after: start, ascending: ascending, limit: limit - found.count, type: type, zone, connection)
                if found.count >= limit { break }
            }
            return found
        }
    }

    private static func number(_ key: IndexKey) -> Int64 { key.bytes.reduce(0) { $0 << 8 | Int64($1) } }

    private func scan(
        _ range: KeyRange, after place: QueryPlace?, ascending: Bool, limit: Int, type: String, _ zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws -> [Candidate] {
        guard case .index(_, let id, _, _) = self else {
            return try Self.names(range, after: place, ascending: ascending, limit: limit, type: type, zone, connection)
        }
        let start: SQLValue = .blob(place?.keys.first?.bytes ?? (ascending ? range.lower.bytes : range.upper.bytes))
        let end: SQLValue = .blob(ascending ? range.upper.bytes : range.lower.bytes)
        let record: SQLValue = .text(place?.record ?? QueryPlace.lowest)
        return try connection.rows(
            ascending ? Self.ascending : Self.descending,
            zone.key + [.integer(id), start, record, end, .integer(Int64(limit))]
        ) {
            Candidate(
                key: IndexKey(bytes: try $0.bytes("value")), record: try $0.text("record"),
                since: try $0.int64("position"))
        }
    }

    /// One range of the primary key, whatever the zone holds besides.
    package static let ascending = """
        SELECT value, record, position FROM record_index
        WHERE owner = $1 AND zone = $2 AND field = $3 AND (value, record) > ($4, $5) AND value < $6
        ORDER BY value, record LIMIT $7
        """
    static let descending = """
        SELECT value, record, position FROM record_index
        WHERE owner = $1 AND zone = $2 AND field = $3 AND (value, record) < ($4, $5) AND value >= $6
        ORDER BY value DESC, record DESC LIMIT $7
        """

    private static func names(
        _ range: KeyRange, after place: QueryPlace?, ascending: Bool, limit: Int, type: String, _ zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws -> [Candidate] {
        var (lower, upper) = (name(range.lower), name(range.upper))
        if let place, let key = place.keys.first.map(name) {
            // Names are keys and records at once. A place before all records of a key includes it, any other does not.
            if ascending {
                lower = max(lower, place.record == QueryPlace.lowest ? key : key + "\u{1}")
            } else {
                upper = min(upper, place.record == QueryPlace.highest ? key + "\u{1}" : key)
            }
        }
        return try connection.rows(
            """
            SELECT name, type, deleted FROM record
            WHERE owner = $1 AND zone = $2 AND name >= $3 AND name < $4 ORDER BY name \(ascending ? "" : "DESC") LIMIT $5
            """, zone.key + [.text(lower), .text(upper), .integer(Int64(limit))]
        ) { row in
            let name = try row.text("name")
            return Candidate(
                key: IndexKey(bytes: Array(name.utf8)), record: name, since: nil,
                isOther: try row.text("type") != type || row.bool("deleted"))
        }
    }

    /// A bound as a name. Zero, which no text of SQL should hold, is like one: names begin with neither, nor have any.
    private static func name(_ key: IndexKey) -> String {
        key == .end ? QueryPlace.highest : String(decoding: key.bytes.map { max($0, 1) }, as: UTF8.self)
    }

    /// How many candidates there are, counted up to a bound.
    package func count(upTo bound: Int, type: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Int {
        var count = 0
        var place: QueryPlace?
        while count < bound {
            let found = try next(after: place, ascending: true, limit: bound - count, type: type, in: zone, connection)
            guard let last = found.last else { break }
            count += found.count
            place = QueryPlace(keys: [last.key], record: last.record)
        }
        return count
    }
}
