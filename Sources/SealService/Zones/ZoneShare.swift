import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// A hierarchical share of a zone: one row for ever, like its zone's.
package struct ZoneShare: Sendable {
    /// From 1 within its zone. 0 stands for the zone's own scope wherever rows say which scope they belong to.
    package let number: Int64
    package let recordName: String
    /// The record whose hierarchy is shared.
    package var root: String
    /// The place in the zone's feed at which its present life began; 0 in its first. What was deleted in it before, or
    /// left it, is nothing to those who take part now: to them no statement of an earlier life counts.
    var began: Int64 = 0
}

extension ZoneRow {
    /// Who looks at a zone, as far as that makes a difference to what there is to see.
    package enum Sight: Sendable {
        /// The owner; in a zone that never had hierarchical shares its participants too.
        case everything
        /// A participant of the zone itself. What is in shares that have ended is its owner's to move, and their
        /// rosters are nobody else's to read. `since` is the place in the zone's feed since which it is one: while it
        /// was none, records may have come into shares and gone there, which it is not told; and it may have read
        /// shares, which do not show what was beside them.
        case ownScope(since: Int64)
        /// A participant of hierarchical shares: the scope of each, and the place in the zone's feed since which it is
        /// these. A reading that began before has not come past all that they hold.
        case shares([ScopeRow], since: Int64)
    }

    /// The shares that limit what is seen; nil where nothing does.
    package var visibleShares: [ZoneShare]? {
        guard case .shares(let shares, _) = sight else { return nil }
        return shares.compactMap(\.share)
    }

    /// - Parameter tag: the number behind the record's change tag. A tombstone's stays when it has left the feed, and
    ///   nothing gives it another one.
    func sees(share number: Int64, isDeleted: Bool, tag: Int64) -> Bool {
        switch sight {
        case .everything: true
        case .ownScope: number == 0
        case .shares(let shares, _):
            shares.lazy.compactMap(\.share).contains { $0.number == number && (!isDeleted || tag > $0.began) }
        }
    }

    /// The heads of the scopes that an answer about this zone's records cites.
    /// - Parameter cited: numbers of the shares that its records are in; 0 for the zone's own scope.
    func scopeHeads(citing cited: Set<Int64>, _ connection: any SQLConnection) throws -> [Sealkit_V1_ScopeHead] {
        if case .shares(let shares, _) = sight { return shares.map(\.scopeHead) }
        let others = cited.subtracting([0])
        guard !others.isEmpty else { return [scopeHead] }
        return [scopeHead] + (try Shares.numbered(others, in: self, connection).map(\.scopeHead))
    }
}
