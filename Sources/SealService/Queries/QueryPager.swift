import SealQuery
import SealStatements
import SealStorage
import SealWire

/// One page of a query over one zone or several.
package struct QueryPager {
    let query: Query
    let type: IndexedType
    /// In the order of their numbers.
    let zones: [ZoneRow]
    /// The caller's, in the public database; nil elsewhere.
    let rights: PublicRights?
    let cursor: QueryCursor?
    let seal: CursorSeal
    let limit: Int
    let connection: any SQLConnection

    /// An order over so many zones at most: each is asked for its first.
    package static let mostOrderedZones = 100
    /// Conditions whose candidates are counted as far as they are few, in each zone, however many there are.
    private static let countedConditions = 8
    /// Candidates that are read at once and put in order, over all zones.
    private static let gathered = 1_000

    struct Found {
        /// An index into `zones`.
        let zone: Int
        let place: QueryPlace
        let driver: UInt8
    }

    struct Page {
        var found: [Found] = []
        /// Where to go on once all of these were given out; nil: that was all.
        var next: QueryCursor?
        var snapshots: [Int64: Int64] = [:]
    }

    func page() throws -> Page {
        if let cursor {
            for zone in zones {
                // A place that this history does not have comes from before a restore.
                guard let position = cursor.snapshots[zone.number] else { continue }
                let reach = try ServerRuns.reach(of: cursor.run, in: zone, connection)
                guard let end = reach.end, position <= end else { throw QueryCursor.expired }
            }
        }
        // They follow from the query alone, which may have more values than a zone has records.
        let drivers = QueryDriver.all(query, type)
        let comparing = PredicateWork(query.predicate)
        return query.sortDescriptors.isEmpty ? try inTurn(drivers, comparing) : try merged(drivers, comparing)
    }

    /// Where to go on after one of a page's results, when those after it had no room.
    func cursor(after found: Found, of page: Page) throws -> QueryCursor {
        try cursor(found.driver, zones[found.zone], found.place, page.snapshots)
    }

    private func cursor(
        _ driver: UInt8, _ zone: ZoneRow, _ place: QueryPlace, _ snapshots: [Int64: Int64]
    ) throws -> QueryCursor {
        QueryCursor(
            driver: driver, zone: zone.number, place: place,
            // Without an order the zones after this one begin when they are come to.
            snapshots: query.sortDescriptors.isEmpty ? snapshots.filter { $0.key == zone.number } : snapshots,
            run: try ServerRuns.current(in: connection))
    }

    private func run(_ zone: ZoneRow, snapshot: Int64, _ comparing: PredicateWork) -> QueryRun {
        QueryRun(
            query: query, type: type, zone: zone, rights: rights, snapshot: snapshot, isContinued: cursor != nil,
            order: QueryOrder(ascending: query.sortDescriptors.map(\.ascending)), comparing: comparing,
            connection: connection)
    }

    /// Of a zone, without an order.
    private static let beginning = QueryPlace(keys: [IndexKey(bytes: [])], record: QueryPlace.lowest)

    /// Without an order: one zone after the other.
    private func inTurn(_ drivers: [QueryDriver], _ comparing: PredicateWork) throws -> Page {
        var page = Page()
        var budget = QueryBudget()
        for (index, zone) in zones.enumerated() where zone.number >= cursor?.zone ?? .min {
            // The zones before have cost enough: which way this one is gone through the next page finds out.
            if budget.counted <= 0 || budget.isSpent {
                page.snapshots[zone.number] = zone.position
                page.next = try cursor(QueryCursor.undecided, zone, Self.beginning, page.snapshots)
                return page
            }
            let isResumed = zone.number == cursor?.zone
            let snapshot = isResumed ? cursor?.snapshots[zone.number] ?? 0 : zone.position
            page.snapshots[zone.number] = snapshot
            let (plan, driver) = try QueryPlan.make(
                query, type, drivers, chosen: isResumed ? cursor?.chosen : nil, gathered: Self.gathered,
                budget: &budget,
                in: zone, connection)
            // One more than wanted tells whether there is more.
            let wanted = limit - page.found.count + 1
            var part = try run(zone, snapshot: snapshot, comparing).page(
                plan, after: isResumed ? cursor?.place : nil, limit: wanted, budget: &budget)
            let isFull = part.found.count >= wanted
            if isFull {
                part.found.removeLast()
                guard let last = part.found.last else {
                    // Nothing of this zone has room: the page before it ends where this zone begins.
                    page.next = try cursor(UInt8(driver), zone, Self.beginning, page.snapshots)
                    return page
                }
                part.reached = last
            }
            page.found += part.found.map { Found(zone: index, place: $0, driver: UInt8(driver)) }
            if let reached = part.reached {
                page.next = try cursor(UInt8(driver), zone, reached, page.snapshots)
                return page
            }
            budget.entries -= plan.lookUps
        }
        return page
    }

    /// In an order: each zone's first results, merged.
    private func merged(_ drivers: [QueryDriver], _ comparing: PredicateWork) throws -> Page {
        guard zones.count <= Self.mostOrderedZones else {
            throw ServerError(
                .limitExceeded, "An order over more than \(Self.mostOrderedZones) zones cannot be asked for.",
                remedy: "Name a zone.")
        }
        let order = QueryOrder(ascending: query.sortDescriptors.map(\.ascending))
        let share = max(1, zones.count)
        var page = Page()
        var all: [Found] = []
        var frontier: (zone: Int, place: QueryPlace)?
        var whole = QueryBudget()
        for (index, zone) in zones.enumerated() {
            // A zone that was not there when the query began is left out.
            guard let snapshot = cursor == nil ? zone.position : cursor?.snapshots[zone.number] else { continue }
            page.snapshots[zone.number] = snapshot
            var budget = whole
            budget.entries = max(100, budget.entries / share)
            budget.records = max(100, budget.records / share)
            let gathered = max(50, Self.gathered / share)
            // A zone's own: which way it is gone through does not depend on those before it.
            budget.counted = max(budget.counted / share, Self.countedConditions * (gathered + 1))
            let (plan, _) = try QueryPlan.make(
                query, type, drivers, chosen: nil, gathered: gathered, budget: &budget, in: zone, connection)
            let part = try run(zone, snapshot: snapshot, comparing).page(
                plan, after: start(in: zone, order), limit: limit + 1, budget: &budget)
            whole.ordered = budget.ordered
            all += part.found.map { Found(zone: index, place: $0, driver: 0) }
            if let reached = part.reached, frontier.map({ precedes((index, reached), $0, order) }) ?? true {
                frontier = (index, reached)
            }
        }
        all.sort { precedes(($0.zone, $0.place), ($1.zone, $1.place), order) }
        // Beyond the first zone's end of what it was asked for, others may come in between.
        if let frontier { all.removeAll { precedes(frontier, ($0.zone, $0.place), order) } }
        page.found = Array(all.prefix(limit))
        if all.count > limit, let last = page.found.last {
            page.next = try cursor(after: last, of: page)
        } else if let frontier {
            page.next = try cursor(0, zones[frontier.zone], frontier.place, page.snapshots)
        }
        return page
    }

    /// The order over all zones: by the keys, then by the zone, then by the record's name.
    private func precedes(
        _ left: (zone: Int, place: QueryPlace), _ right: (zone: Int, place: QueryPlace), _ order: QueryOrder
    ) -> Bool {
        if let known = order.precedes(left.place.keys, right.place.keys) { return known }
        guard left.zone == right.zone else { return (left.zone < right.zone) == order.isAscending }
        return order.precedes(left.place, right.place)
    }

    /// Where a zone goes on, given a place that may be in another.
    private func start(in zone: ZoneRow, _ order: QueryOrder) -> QueryPlace? {
        guard let cursor else { return nil }
        guard zone.number != cursor.zone else { return cursor.place }
        let isBefore = (zone.number < cursor.zone) == order.isAscending
        return QueryPlace(keys: cursor.place.keys, record: isBefore ? order.last : order.first)
    }
}
