import SealPrimitives
package import SealStatements
package import SealStorage
import SealWire
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

    /// A write would have to replay more of a roster than others should wait for.
    private struct Cold: ColdWrite {
        let scope: ScopeRow
        let rosters: RosterCache

        func prepare(in connection: any SQLConnection) throws { try rosters.warm(scope, in: connection) }
    }

    /// Entries that a write replays by itself.
    static let mostInWrite: UInt64 = 50

    private let state = Mutex(State())
    private let capacity: Int

    package init(capacity: Int = 2_000) {
        self.capacity = capacity
    }

    /// A scope's roster, up to the head in its row.
    /// - Throws: `ColdWrite` in a write; `Transactions.write` sees to it.
    package func roster(of scope: ScopeRow, in connection: any SQLConnection) throws -> Roster {
        let key = Key(owner: scope.zone.owner, zone: scope.zone.number, share: scope.number)
        let known = remembered(key)
        if let known, known.head == scope.head { return known }
        let roster = try known.flatMap { try continued($0, scope, in: connection) } ?? replayed(scope, in: connection)
        keep(roster, key)
        return roster
    }

    /// Replays what is durable of a scope's roster, so that a write finds it.
    private func warm(_ scope: ScopeRow, in connection: any SQLConnection) throws {
        let found =
            scope.share == nil
            ? try connection.first(
                "SELECT sequence, head FROM zone WHERE owner = $1 AND zone = $2", scope.zone.key, Self.head)
            : try connection.first(
                "SELECT sequence, head FROM share WHERE owner = $1 AND zone = $2 AND share = $3", scope.key,
                Self.head)
        guard let found else { return }
        var scope = scope
        (scope.state.sequence, scope.state.head) = found
        _ = try roster(of: scope, in: connection)
    }

    private static func head(_ row: any SQLRow) throws -> (UInt64, Digest) {
        (UInt64(bitPattern: try row.int64("sequence")), try Digest(try row.bytes("head")))
    }

    private func check(_ count: UInt64, of scope: ScopeRow, _ connection: any SQLConnection) throws {
        guard !connection.isWriter || count <= Self.mostInWrite else { throw Cold(scope: scope, rosters: self) }
    }

    /// The roster of a scope whose owner or administrator the caller is.
    /// - Throws: `permissionFailure` to anybody else.
    package func administrated(
        _ scope: ScopeRow, by caller: Caller, in connection: any SQLConnection
    ) throws -> Roster {
        let roster = try roster(of: scope, in: connection)
        guard roster.members[caller.userID]?.mayAdminister == true else {
            throw ServerError(
                .permissionFailure, "Only the owner and administrators see a share's links and requests.",
                remedy: "Ask the owner for the link, or to be made an administrator.")
        }
        return roster
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
    private func continued(_ known: Roster, _ scope: ScopeRow, in connection: any SQLConnection) throws -> Roster? {
        guard known.sequence < scope.sequence else { return nil }
        try check(scope.sequence - known.sequence, of: scope, connection)
        var roster = known
        for (entry, _) in try RosterLog.entries(
            of: scope, from: roster.nextSequence, through: scope.sequence, in: connection)
        {
            do {
                try roster.append(entry)
            } catch {
                return nil
            }
        }
        return roster.head == scope.head ? roster : nil
    }

    private func replayed(_ scope: ScopeRow, in connection: any SQLConnection) throws -> Roster {
        try check(scope.sequence, of: scope, connection)
        let entries = try RosterLog.entries(of: scope, from: 0, through: scope.sequence, in: connection)
        do {
            guard let roster = try Roster(replaying: entries.lazy.map(\.entry), scope: scope.id),
                roster.head == scope.head
            else {
                throw damaged(scope)
            }
            return roster
        } catch is SealError {
            throw damaged(scope)
        }
    }

    private func damaged(_ scope: ScopeRow) -> StorageError {
        .failed(
            code: 0,
            message:
                "the roster of scope \(scope.zone.owner)/\(scope.zone.number)/\(scope.number) does not hold together")
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
