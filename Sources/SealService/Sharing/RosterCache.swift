import SealPrimitives
package import SealStatements
package import SealStorage
import Synchronization

/// Rosters replayed so far. What is remembered counts only while the zone's head, read in the same transaction, says
/// so; a longer log is continued, anything else is replayed from the start.
package final class RosterCache: Sendable {
    private struct Key: Hashable {
        let owner: Int64
        let zone: Int64
        /// 0 for the zone's own scope.
        let share: Int64
    }

    private struct Entry {
        let roster: Roster
        var used: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var clock: UInt64 = 0
    }

    /// A write would have to replay more of a roster than others should wait for: that is done beside the writer first.
    package struct Cold: Error {
        package let zone: ZoneRow
    }

    /// Entries that a write replays by itself.
    static let mostInWrite: UInt64 = 50

    private let state = Mutex(State())
    private let capacity: Int

    package init(capacity: Int = 2_000) {
        self.capacity = capacity
    }

    /// The roster of the scope that the row shows, up to the head in it.
    /// - Throws: `Cold` in a write; `Services.write` sees to it.
    package func roster(of zone: ZoneRow, in connection: any SQLConnection) throws -> Roster {
        let key = Key(owner: zone.owner, zone: zone.zone, share: zone.share?.number ?? 0)
        let known = remembered(key)
        if let known, known.head == zone.head { return known }
        let roster = try known.flatMap { try continued($0, zone, in: connection) } ?? replayed(zone, in: connection)
        keep(roster, key)
        return roster
    }

    /// Replays what is durable of a scope's roster, so that a write finds it.
    package func warm(_ zone: ZoneRow, in connection: any SQLConnection) throws {
        let found =
            zone.share == nil
            ? try connection.first(
                "SELECT sequence, head FROM zone WHERE owner = $1 AND zone = $2", zone.key, Self.head)
            : try connection.first(
                "SELECT sequence, head FROM share WHERE owner = $1 AND zone = $2 AND share = $3", zone.scopeKey,
                Self.head)
        guard let found else { return }
        var zone = zone
        (zone.sequence, zone.head) = found
        _ = try roster(of: zone, in: connection)
    }

    private static func head(_ row: any SQLRow) throws -> (UInt64, Digest) {
        (UInt64(bitPattern: try row.int64("sequence")), try Digest(try row.bytes("head")))
    }

    private static func check(_ count: UInt64, of zone: ZoneRow, _ connection: any SQLConnection) throws {
        guard !connection.isWriter || count <= mostInWrite else { throw Cold(zone: zone) }
    }

    /// What is remembered of a zone's own roster, whatever the zone's head says now.
    package func remembered(owner: Int64, zone: Int64) -> Roster? {
        remembered(Key(owner: owner, zone: zone, share: 0))
    }

    private func remembered(_ key: Key) -> Roster? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.used = state.clock
            return state.entries[key]?.roster
        }
    }

    /// Nil when what is known is not a beginning of the log: a write that was taken back had been remembered.
    private func continued(_ known: Roster, _ zone: ZoneRow, in connection: any SQLConnection) throws -> Roster? {
        guard known.sequence < zone.sequence else { return nil }
        try Self.check(zone.sequence - known.sequence, of: zone, connection)
        var roster = known
        for (entry, _) in try RosterLog.entries(
            of: zone, from: roster.nextSequence, through: zone.sequence, in: connection)
        {
            do {
                try roster.append(entry)
            } catch {
                return nil
            }
        }
        return roster.head == zone.head ? roster : nil
    }

    private func replayed(_ zone: ZoneRow, in connection: any SQLConnection) throws -> Roster {
        try Self.check(zone.sequence, of: zone, connection)
        let entries = try RosterLog.entries(of: zone, from: 0, through: zone.sequence, in: connection)
        do {
            guard let roster = try Roster(replaying: entries.lazy.map(\.entry), scope: zone.scope),
                roster.head == zone.head
            else {
                throw damaged(zone)
            }
            return roster
        } catch is SealError {
            throw damaged(zone)
        }
    }

    private func damaged(_ zone: ZoneRow) -> StorageError {
        .failed(
            code: 0,
            message: "the roster of scope \(zone.owner)/\(zone.zone)/\(zone.share?.number ?? 0) does not hold together")
    }

    private func keep(_ roster: Roster, _ key: Key) {
        state.withLock { state in
            state.clock += 1
            state.entries[key] = Entry(roster: roster, used: state.clock)
            guard state.entries.count > capacity else { return }
            // Drops the older half at once, so that the search for it is paid rarely.
            let middle = state.entries.values.map(\.used).sorted()[state.entries.count / 2]
            state.entries = state.entries.filter { $0.value.used >= middle }
        }
    }
}
