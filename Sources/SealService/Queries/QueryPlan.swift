package import SealQuery
import SealSchema
import SealStatements
package import SealStorage

/// How one zone is asked: from which candidates, and in which order they come.
package enum QueryPlan {
    /// Nothing can fulfil the predicate.
    case nothing
    /// Candidates come in the order that is wanted.
    case walk(QueryDriver)
    /// So few candidates that all are read and put in order; where they are too long for that, and candidates come in
    /// the order that is wanted, these are walked instead.
    case gather(QueryDriver, orWalk: QueryDriver?)
    /// The first key's index gives the order; records with equal values are put in order by the other keys.
    case groups(QueryDriver)
    /// By distance: circles that grow.
    case nearest(key: String, IndexedType.Field)

    /// - Parameters:
    ///   - drivers: the query's.
    ///   - chosen: which driver the page before came by, where there is no order.
    ///   - gathered: how many candidates are few.
    /// - Returns: the plan, and which of the drivers it goes by.
    package static func make(
        _ query: Query, _ type: IndexedType, _ drivers: [QueryDriver], chosen: Int?, gathered: Int,
        budget: inout QueryBudget, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> (plan: QueryPlan, driver: Int) {
        if query.predicate.conditions.contains(where: { $0.test == .never && !$0.isNegated }) { return (.nothing, 0) }
        if drivers.contains(where: \.isEmpty) { return (.nothing, 0) }
        guard let first = query.sortDescriptors.first else {
            if let chosen {
                guard drivers.indices.contains(chosen) || (drivers.isEmpty && chosen == 0) else {
                    throw QueryCursor.damaged
                }
            }
            guard !drivers.isEmpty else {
                guard type.systemFields[.recordID]?.indexes.contains(.queryable) ?? false else {
                    throw QueryRules.unmarked(Query.SystemField.recordID.rawValue, "queryable")
                }
                return (.walk(.names([.all])), 0)
            }
            let index =
                try chosen
                ?? (drivers.count == 1
                    ? 0 : fewest(drivers, upTo: gathered, query, &budget, in: zone, connection)?.index ?? 0)
            return (.walk(drivers[index]), index)
        }
        guard let field = type.field(first.key) else { return (.nothing, 0) }
        let own = drivers.first { $0.key == first.key } ?? QueryDriver(first.key, field, [.all])
        let isWalk = query.sortDescriptors.count == 1 && first.relativeLocation == nil
        if !(isWalk && drivers.count == 1 && drivers[0].key == first.key), !drivers.isEmpty,
            let few = try fewest(drivers, upTo: gathered + 1, query, &budget, in: zone, connection),
            few.count <= gathered
        {
            return (.gather(drivers[few.index], orWalk: isWalk ? own : nil), 0)
        }
        if isWalk { return (.walk(own), 0) }
        return (first.relativeLocation == nil ? .groups(own) : .nearest(key: first.key, field), 0)
    }

    /// Of those that the budget was enough to count, those that cost little first: nil for none.
    private static func fewest(
        _ drivers: [QueryDriver], upTo bound: Int, _ query: Query, _ budget: inout QueryBudget, in zone: ZoneRow,
        _ connection: any SQLConnection
    ) throws -> (index: Int, count: Int)? {
        var best: (index: Int, count: Int)?
        let cheapestFirst = drivers.enumerated().sorted { $0.element.lookUps < $1.element.lookUps }
        for (index, driver) in cheapestFirst where budget.counted > 0 {
            let count = try driver.count(upTo: best?.count ?? bound, type: query.recordType, in: zone, connection)
            budget.counted -= max(count, driver.lookUps)
            if count < best?.count ?? .max { best = (index, count) }
            if count == 0 { break }
        }
        return best
    }

    /// What going through a zone looks at where nothing is found.
    var lookUps: Int {
        switch self {
        case .nothing: 0
        case .walk(let driver), .gather(let driver, _), .groups(let driver): driver.lookUps
        case .nearest: 1
        }
    }
}

extension QueryDriver {
    /// Everything that a query's candidates can be found by, in an order that the query alone decides: conditions on
    /// one field narrow one range together.
    package static func all(_ query: Query, _ type: IndexedType) -> [QueryDriver] {
        var drivers: [QueryDriver] = []
        for condition in query.predicate.conditions {
            guard let driver = QueryDriver(condition, type) else { continue }
            if let index = drivers.firstIndex(where: { $0.narrows(with: driver) }) {
                drivers[index] = drivers[index].narrowed(by: driver)
            } else {
                drivers.append(driver)
            }
        }
        return drivers
    }

    /// The field whose values these are.
    package var key: String? {
        switch self {
        case .names: Query.SystemField.recordID.rawValue
        case .index(let key, _, _, _): key
        case .words: nil
        }
    }

    /// Places in an index that are looked at, however few entries are there.
    var lookUps: Int {
        switch self {
        case .names(let ranges), .index(_, _, _, let ranges): ranges.count
        case .words(let words, _): words.count
        }
    }

    package var isEmpty: Bool {
        switch self {
        case .names(let ranges), .index(_, _, _, let ranges): ranges.isEmpty
        case .words(let words, _): words.isEmpty
        }
    }

    /// Whether an entry says nothing of where its record was found before: by another element of the list, which is
    /// gone, or by the number that its words had.
    var tellsNothingOfBefore: Bool {
        switch self {
        case .names: false
        case .index(_, _, let isList, _): isList
        case .words: true
        }
    }

    /// A list can fulfil two conditions with two elements, so only what has one value narrows.
    private func narrows(with other: QueryDriver) -> Bool {
        switch (self, other) {
        case (.names, .names): true
        case (.index(_, let id, let isList, _), .index(_, let otherID, _, _)): id == otherID && !isList
        default: false
        }
    }

    private func narrowed(by other: QueryDriver) -> QueryDriver {
        switch (self, other) {
        case (.names(let ranges), .names(let others)): .names(KeyRange.common(ranges, others))
        case (.index(let key, let id, let isList, let ranges), .index(_, _, _, let others)):
            .index(key: key, id: id, isList: isList, KeyRange.common(ranges, others))
        default: self
        }
    }

    /// Whether the record still has what this entry says, and was not come upon by another entry before.
    func stands(_ candidate: Candidate, _ record: Query.Subject) -> Bool {
        guard case .index(let key, _, _, let ranges) = self else { return true }
        guard let value = record.value(key) else { return false }
        return IndexKey.entries(of: value).filter { KeyRange.hold($0, in: ranges) }.min() == candidate.key
    }
}

extension KeyRange {
    /// What is in both, each of them ascending and apart.
    fileprivate static func common(_ left: [KeyRange], _ right: [KeyRange]) -> [KeyRange] {
        var common: [KeyRange] = []
        var (first, second) = (0, 0)
        while first < left.count, second < right.count {
            let (one, other) = (left[first], right[second])
            let range = KeyRange(max(one.lower, other.lower), min(one.upper, other.upper))
            if range.lower < range.upper { common.append(range) }
            // The one that ends first has nothing in common with what comes after the other.
            if one.upper < other.upper { first += 1 } else { second += 1 }
        }
        return common
    }

    /// Whether one of these, which are ascending and apart, holds a key.
    fileprivate static func hold(_ key: IndexKey, in ranges: [KeyRange]) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upper > key { high = middle } else { low = middle + 1 }
        }
        return low < ranges.count && ranges[low].lower <= key
    }
}
