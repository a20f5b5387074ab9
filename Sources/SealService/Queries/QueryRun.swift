package import SealQuery
import SealStatements
package import SealStorage

/// One zone's part of a page.
package struct QueryRun {
    package let query: Query
    package let type: IndexedType
    package let zone: ZoneRow
    /// What it may not read, the caller does not find either.
    package let rights: PublicRights?
    /// The zone's place in its feed when the query began. What has moved since is left out of later pages: it may have
    /// been given out where it was.
    package let snapshot: Int64
    let isContinued: Bool
    let order: QueryOrder
    /// What comparing a record with the query costs.
    let comparing: PredicateWork
    package let connection: any SQLConnection

    package struct Page {
        package var found: [QueryPlace] = []
        /// Up to where the zone has been gone through; nil: to its end.
        var reached: QueryPlace?
    }

    /// - Parameter place: nil from the start.
    package func page(
        _ plan: QueryPlan, after place: QueryPlace?, limit: Int, budget: inout QueryBudget
    ) throws -> Page {
        switch plan {
        case .nothing: Page()
        case .walk(let driver): try walk(driver, after: place, limit: limit, budget: &budget)
        case .gather(let driver, let own): try gather(driver, orWalk: own, after: place, limit: limit, &budget)
        case .groups(let driver): try groups(driver, after: place, limit: limit, budget: &budget)
        case .nearest(let key, let field): try nearest(key, field, after: place, limit: limit, &budget)
        }
    }

    private func walk(
        _ driver: QueryDriver, after start: QueryPlace?, limit: Int, budget: inout QueryBudget
    ) throws -> Page {
        var page = Page()
        var place = start
        while true {
            let candidates = try driver.next(
                after: place, ascending: order.isAscending, limit: max(budget.entries, 1), type: type.name, in: zone,
                connection)
            guard !candidates.isEmpty else { return page }
            for candidate in candidates {
                let here = QueryPlace(keys: [candidate.key], record: candidate.record)
                place = here
                budget.entries -= 1
                if !candidate.isOther, candidate.since ?? 0 <= snapshot {
                    let moment = driver.tellsNothingOfBefore ? snapshot : nil
                    if let record = try match(candidate.record, savedBy: moment, &budget),
                        driver.stands(candidate, record)
                    {
                        page.found.append(here)
                    }
                }
                if page.found.count >= limit || budget.isSpent {
                    page.reached = here
                    return page
                }
            }
        }
    }

    /// The record, if it is a result.
    /// - Parameter moment: a place in the zone's feed: what was saved after it is left out.
    func match(
        _ name: String, savedBy moment: Int64? = nil, _ budget: inout QueryBudget
    ) throws -> Query.Subject? {
        let stored = try StoredRecord.find(name, in: zone, connection)
        budget.charge(bytes: stored?.fields.count ?? 0)
        guard let record = stored, !record.isDeleted, record.type == type.name,
            record.position <= moment ?? record.position
        else { return nil }
        if let rights, try rights.refusalToRead(Statement(canonicalBytes: record.statement)) != nil { return nil }
        var subject = try Query.Subject(record, type)
        try budget.charge(work: work(with: subject))
        if comparing.asksForWords { subject.keepWords() }
        return query.matches(subject) ? subject : nil
    }

    private func work(with record: Query.Subject) -> Int {
        var sum = comparing.of { key in ComparisonWork(record.value(key)) }
        guard comparing.asksForWords else { return sum }
        for (key, value) in record.fields where type.searchable.contains(key) {
            sum += ComparisonWork.ofWords(of: value)
        }
        return sum
    }

    // MARK: Few candidates

    private func gather(
        _ driver: QueryDriver, orWalk own: QueryDriver?, after place: QueryPlace?, limit: Int,
        _ budget: inout QueryBudget
    ) throws -> Page {
        let names = try all(driver)
        let whole = budget
        if try own == nil || fit(names, budget) {
            if let page = try ordered(names, after: place, limit: limit, &budget) { return page }
            // What they hold made comparing them dearer than their length told.
            budget = whole
            budget.ordered = 0
        }
        guard let own else { throw QueryBudget.tooMuchToOrder }
        return try walk(own, after: place, limit: limit, budget: &budget)
    }

    /// Whether so many records may be read to put them in order. How long they are is asked only where it matters.
    private func fit(_ names: Set<String>, _ budget: QueryBudget) throws -> Bool {
        let work = QueryBudget.count(ofWork: comparing.of { _ in ComparisonWork(nil) })
        guard names.count > budget.ordered / (QueryBudget.count(of: Limits.recordBytes) + work) else { return true }
        var count = names.count * work
        try connection.runEach(
            "SELECT LENGTH(fields) AS bytes FROM record WHERE owner = $1 AND zone = $2 AND name = $3",
            names.map { zone.key + [.text($0)] }
        ) { _, row in count += QueryBudget.count(of: Int(try row.int64("bytes"))) }
        return count <= budget.ordered
    }

    private func nearest(
        _ key: String, _ field: IndexedType.Field, after place: QueryPlace?, limit: Int, _ budget: inout QueryBudget
    ) throws -> Page {
        guard let centre = query.sortDescriptors[0].relativeLocation else { return Page() }
        var search = NearestSearch(self, key, field, from: centre, after: place, limit: limit)
        return try search.page(&budget)
    }

    /// Every candidate's record, once.
    package func all(_ driver: QueryDriver, atMost bound: Int = .max) throws -> Set<String> {
        var names: Set<String> = []
        var place: QueryPlace?
        while names.count <= bound {
            let candidates = try driver.next(
                after: place, ascending: true, limit: .max, type: type.name, in: zone, connection)
            guard let last = candidates.last else { break }
            names.formUnion(candidates.lazy.filter { !$0.isOther }.map(\.record))
            place = QueryPlace(keys: [last.key], record: last.record)
        }
        return names
    }

    /// Those that are results and come after a place, in order; nil where that costs more than is left for it.
    func ordered(
        _ names: Set<String>, after place: QueryPlace?, limit: Int, _ budget: inout QueryBudget
    ) throws -> Page? {
        var places: [QueryPlace] = []
        for name in names {
            guard budget.ordered > 0 else { return nil }
            if let found = try self.place(of: name, after: place, &budget) { places.append(found) }
        }
        places.sort { order.precedes($0, $1) }
        guard places.count > limit else { return Page(found: places, reached: nil) }
        return Page(found: Array(places.prefix(limit)), reached: places[limit - 1])
    }

    /// The record's place, if it is a result and comes after another place.
    /// - Throws: `limitExceeded` where putting in order has read too much.
    func place(of name: String, after place: QueryPlace?, _ budget: inout QueryBudget) throws -> QueryPlace? {
        guard budget.ordered > 0 else { throw QueryBudget.tooMuchToOrder }
        let before = budget.records
        let subject = try match(name, &budget)
        budget.ordered -= before - budget.records
        guard let record = subject, let keys = query.sortKeys(of: record) else { return nil }
        let found = QueryPlace(keys: keys, record: name)
        if let place, !order.precedes(place, found) { return nil }
        return try isContinued && !stoodStill(record) ? nil : found
    }

    /// Whether everything that the record is sorted by was as it is when the query began.
    private func stoodStill(_ record: Query.Subject) throws -> Bool {
        for descriptor in query.sortDescriptors where descriptor.key != Query.SystemField.recordID.rawValue {
            guard let field = type.field(descriptor.key),
                let key = record.value(descriptor.key).flatMap({ IndexKey($0) }),
                try connection.exists(
                    """
                    SELECT 1 FROM record_index
                    WHERE owner = $1 AND zone = $2 AND field = $3 AND value = $4 AND record = $5 AND position <= $6
                    """,
                    zone.key + [.integer(field.id), .blob(key.bytes), .text(record.recordName), .integer(snapshot)])
            else { return false }
        }
        return true
    }
}
