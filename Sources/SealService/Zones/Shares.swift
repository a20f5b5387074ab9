import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// Finding a zone's hierarchical shares, in the caller's transaction.
package enum Shares {
    package static let unknown = ServerError(
        .unknownItem, "The zone has no such share, or the caller takes no part in it.",
        remedy: "Fetch the zone's changes; save the share with its root first if it is to be made.")

    static let hierarchiesAreShared = ServerError(
        .alreadyShared, "Hierarchies in the zone are shared, so it is not shared as a whole.",
        remedy: "Delete those shares first, or put the records into another zone.")

    static let twice = ServerError(
        .invalidArguments, "A share comes twice in one request.", remedy: "Send each share once.")

    /// Named so that they stand beside a zone's.
    package static let columns = """
        s.share, s.record_name, s.root, s.began, s.sequence AS share_sequence, s.head AS share_head, \
        s.participants AS share_participants, s.closed AS share_closed
        """

    /// The share of that name, closed ones included.
    package static func find(_ name: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> ScopeRow? {
        try rows(zone, "s.record_name = $3", [.text(name)], connection).first
    }

    static func numbered(_ numbers: Set<Int64>, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [ScopeRow]
    {
        guard !numbers.isEmpty else { return [] }
        return try rows(zone, "s.share IN (\(list(numbers)))", [], connection)
    }

    /// Those that statements name, closed ones included.
    static func identified(
        by scopes: Set<Digest>, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> [ScopeRow] {
        guard !scopes.isEmpty, zone.shares > 0 else { return [] }
        let parameters = scopes.indices.enumerated().map { "$\($0.offset + 3)" }.joined(separator: ", ")
        return try rows(zone, "s.scope_id IN (\(parameters))", scopes.map { .blob($0.bytes) }, connection)
    }

    /// Those that are open, in the order of their making.
    package static func open(
        in zone: ZoneRow, after number: Int64 = 0, limit: Int = .max, _ connection: any SQLConnection
    ) throws -> [ScopeRow] {
        guard zone.shares > 0 else { return [] }
        return try rows(
            zone, "s.closed = 0 AND s.share > $3 ORDER BY s.share LIMIT $4",
            [.integer(number), .integer(Int64(clamping: limit))], connection)
    }

    static func hasOpen(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        guard zone.shares > 0 else { return false }
        return try connection.exists(
            "SELECT 1 FROM share WHERE owner = $1 AND zone = $2 AND closed = 0 LIMIT 1", zone.key)
    }

    /// The open share of a zone that the caller sees.
    /// - Throws: `unknownItem`, alike for one that does not exist and for one of strangers.
    package static func visible(
        _ name: String, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> ScopeRow {
        switch zone.sight {
        case .shares(let shares, _):
            guard let found = shares.first(where: { $0.share?.recordName == name }) else { throw unknown }
            return found
        case .everything, .ownScope:
            guard zone.shares > 0, let found = try find(name, in: zone, connection), !found.isClosed else {
                throw unknown
            }
            return found
        }
    }

    /// The scope that a request is about.
    /// - Parameter name: of a share's record; empty for the zone's own.
    /// - Throws: `unknownItem`; `zoneNotFound`, for the zone's own scope also to participants of shares in it.
    package static func scope(
        _ name: String, in zone: Sealkit_V1_ZoneID, to caller: Caller, _ path: DatabasePath,
        in connection: any SQLConnection
    ) throws -> ScopeRow {
        let zone = try Zones.visible(zone, to: caller, path, in: connection)
        guard name.isEmpty else { return try visible(name, in: zone, connection) }
        guard zone.visibleShares == nil else { throw Zones.notFound }
        return ScopeRow(zone)
    }

    /// A share whose roster the caller may read: also one that it has left, up to the entry that ended it, and to the
    /// owner those that are closed.
    package static func readable(
        _ name: String, in zone: ZoneRow, by caller: Caller, _ connection: any SQLConnection
    ) throws -> (share: ScopeRow, goneSince: UInt64?) {
        guard Names.isPlain(name), zone.shares > 0, let found = try find(name, in: zone, connection)
        else { throw unknown }
        guard caller.id != zone.owner else { return (found, nil) }
        let view = try connection.first(
            "SELECT gone, until_sequence FROM share_view WHERE viewer = $1 AND owner = $2 AND zone = $3 AND share = $4",
            [.integer(caller.id)] + found.key
        ) { (isGone: try $0.bool("gone"), until: UInt64(bitPattern: try $0.int64("until_sequence"))) }
        guard let view else { throw unknown }
        return (found, view.isGone ? view.until : nil)
    }

    /// The shares that limit what a participant sees.
    package static func seen(by viewer: Int64, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [ScopeRow] {
        try rows(
            zone,
            """
            s.closed = 0 AND s.share IN (SELECT w.share FROM share_view w
                WHERE w.viewer = $3 AND w.owner = $1 AND w.zone = $2 AND w.gone = 0) ORDER BY s.share
            """, [.integer(viewer)], connection)
    }

    /// A new row, which no entry is stored for yet: until then the share is closed.
    static func insert(
        _ share: ZoneShare, _ roster: Roster, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> ScopeRow {
        try connection.execute(
            """
            INSERT INTO share (owner, zone, share, record_name, scope_id, root, sequence, head, participants, closed)
            VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 0, 1)
            """,
            zone.key + [
                .integer(share.number), .text(share.recordName), .blob(roster.scopeID.bytes), .text(share.root),
                .blob(roster.head.bytes),
            ])
        try connection.execute(
            "UPDATE zone SET shares = $3 WHERE owner = $1 AND zone = $2 AND shares < $3",
            zone.key + [.integer(share.number)])
        var zone = zone
        zone.shares = max(zone.shares, share.number)
        // No life of it has ended that another one could begin after.
        return ScopeRow(
            zone, share: share, .init(sequence: 0, head: roster.head, participants: 0, isClosed: false))
    }

    /// Of all zones, by their keys: those after one, closed ones included.
    package static func all(
        after key: (owner: Int64, zone: Int64, share: Int64), limit: Int, in connection: any SQLConnection
    ) throws -> [ScopeRow] {
        try connection.rows(
            """
            SELECT \(ZoneRow.columns), \(columns) FROM share s JOIN zone z ON z.owner = s.owner AND z.zone = s.zone
            WHERE (s.owner, s.zone, s.share) > ($1, $2, $3) ORDER BY s.owner, s.zone, s.share LIMIT $4
            """, [.integer(key.owner), .integer(key.zone), .integer(key.share), .integer(Int64(limit))]
        ) { try ScopeRow(of: try ZoneRow($0), $0) }
    }

    private static func rows(
        _ zone: ZoneRow, _ condition: String, _ values: [SQLValue], _ connection: any SQLConnection
    ) throws -> [ScopeRow] {
        try connection.rows(
            "SELECT \(columns) FROM share s WHERE s.owner = $1 AND s.zone = $2 AND \(condition)", zone.key + values
        ) { try ScopeRow(of: zone, $0) }
    }

    /// Numbers of ours, for a statement's text.
    package static func list(_ numbers: some Sequence<Int64>) -> String {
        numbers.map { String($0) }.joined(separator: ", ")
    }
}

extension ScopeRow {
    /// A share's.
    /// - Parameter row: with `Shares.columns`.
    init(of zone: ZoneRow, _ row: any SQLRow) throws {
        self.init(
            zone,
            share: ZoneShare(
                number: try row.int64("share"), recordName: try row.text("record_name"), root: try row.text("root"),
                began: try row.int64("began")),
            State(
                sequence: UInt64(bitPattern: try row.int64("share_sequence")),
                head: try Digest(try row.bytes("share_head")), participants: Int(try row.int64("share_participants")),
                isClosed: try row.bool("share_closed")))
    }
}
