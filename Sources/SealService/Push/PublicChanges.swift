import SealStatements
package import SealStorage

/// Changes in public databases whose subscribers are still to be told.
///
/// Anybody may subscribe to a public database. To tell them all within the save would let subscribers slow down whoever
/// writes; so a save only notes what changed, durable with it, and `PublicNotifier` tells them afterwards, some at a
/// time.
package enum PublicChanges {
    /// Why subscribers are told. The codes of saves and deletions are those on the wire.
    enum Reason: Int64, Sendable {
        /// More changed than is kept: subscribers are told to fetch.
        case overflow = 0
        case created = 1
        case updated = 2
        case deleted = 3

        init(_ kind: RecordChange.Kind) {
            switch kind {
            case .created: self = .created
            case .updated: self = .updated
            case .deleted: self = .deleted
            }
        }

        var kind: RecordChange.Kind? {
            switch self {
            case .overflow: nil
            case .created: .created
            case .updated: .updated
            case .deleted: .deleted
            }
        }
    }

    private static let rowsPerStatement = 32

    /// Whether somebody is still to be told.
    package static func areThere(in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM public_change c JOIN zone z ON z.owner = c.zone_owner AND z.zone = 1 LIMIT 1")
    }

    /// After a save in a public database that somebody has subscribed to.
    /// - Parameter most: how many changes of one database wait; what is more is told as an overflow.
    package static func note(
        _ changes: [RecordChange], in zone: ZoneRow, by caller: Caller, now: Int64,
        most: Int = PushLimits.publicChanges,
        connection: any SQLConnection
    ) throws {
        let types = Set(changes.map(\.type)).sorted()
        let watched = Set(
            try connection.rows(
                """
                SELECT DISTINCT record_type FROM subscription
                WHERE database = 1 AND zone_owner = $1 AND record_type IN (\(parameters(types.count, after: 1)))
                """, [.integer(zone.owner)] + types.map { .text($0) }
            ) { try $0.text("record_type") })
        let changes = changes.filter { watched.contains($0.type) }
        guard !changes.isEmpty else { return }
        let waiting = try connection.first(
            "SELECT COUNT(*) AS count FROM public_change WHERE zone_owner = $1", [.integer(zone.owner)]
        ) { try $0.int64("count") }
        if Int(waiting ?? 0) + changes.count > most {
            for type in watched.sorted() { try noteOverflow(type, zone, now, connection) }
        } else {
            var rest = changes[...]
            while !rest.isEmpty {
                try insert(rest.prefix(rowsPerStatement), zone, caller, now, connection)
                rest = rest.dropFirst(rowsPerStatement)
            }
        }
        connection.announce(.publicChanges)
    }

    private static func insert(
        _ changes: ArraySlice<RecordChange>, _ zone: ZoneRow, _ caller: Caller, _ now: Int64,
        _ connection: any SQLConnection
    ) throws {
        var values: [SQLValue] = [.integer(zone.owner), .blob(caller.session), .integer(now)]
        var tuples: [String] = []
        for change in changes {
            tuples.append("($1, $2, $3, \(parameters(8, after: values.count)), 0, '')")
            values += [
                .integer(Reason(change.kind).rawValue), .text(change.name), .text(change.type),
                .text(change.creator.recordName), .text(change.author.recordName), .integer(change.created),
                .integer(change.modified), .blob(change.kind == .deleted ? change.formerFields : change.fields),
            ]
        }
        try connection.execute(
            """
            INSERT INTO public_change (zone_owner, origin, changed, reason, record, record_type, creator, author, created,
                modified, fields, told_owner, told_id)
            VALUES \(tuples.joined(separator: ", "))
            """, values)
    }

    /// Once for all that follow, until the first subscriber hears of it.
    private static func noteOverflow(_ type: String, _ zone: ZoneRow, _ now: Int64, _ connection: any SQLConnection)
        throws
    {
        try connection.execute(
            """
            INSERT INTO public_change (zone_owner, origin, changed, reason, record, record_type, creator, author, created,
                modified, fields, told_owner, told_id)
            SELECT $1, $2, $3, 0, '', $4, '', '', 0, 0, $2, 0, ''
            WHERE NOT EXISTS (SELECT 1 FROM public_change
                WHERE zone_owner = $1 AND record_type = $4 AND reason = 0 AND told_owner = 0)
            """, [.integer(zone.owner), .blob([]), .integer(now), .text(type)])
    }

    private static func parameters(_ count: Int, after first: Int) -> String {
        (1...max(1, count)).map { "$\(first + $0)" }.joined(separator: ", ")
    }
}
