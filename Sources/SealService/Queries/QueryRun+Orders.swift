import SealQuery
import SealStatements
import SealStorage
import SealWire

/// Orders that no index has ready.
extension QueryRun {
    /// So many records at most are put in order in memory.
    package static let mostOrdered = 2_000

    static let tooManyNear = tooMany("are so near")

    private static func tooMany(_ what: String) -> ServerError {
        ServerError(
            .limitExceeded, "More than \(mostOrdered) records \(what): too many to put in order.",
            remedy: "Add a condition that leaves fewer, or sort by another key first.")
    }

    // MARK: Several keys

    package func groups(
        _ driver: QueryDriver, after start: QueryPlace?, limit: Int, budget: inout QueryBudget
    ) throws -> Page {
        var page = Page()
        // The group that the page before ended in is gone through again, unless it was at its end.
        var value = start?.keys[0]
        if value == nil || start == value.map(endOfGroup) { value = try next(driver, after: start) }
        while let current = value {
            let names = try all(driver.only(current), atMost: Self.mostOrdered)
            guard names.count <= Self.mostOrdered else { throw Self.tooMany("have the same value in the first key") }
            budget.entries -= names.count
            guard let group = try ordered(names, after: start, limit: limit - page.found.count, &budget) else {
                throw QueryBudget.tooMuchToOrder
            }
            page.found += group.found
            if let reached = group.reached {
                page.reached = reached
                return page
            }
            let end = endOfGroup(current)
            if page.found.count >= limit || budget.isSpent {
                page.reached = end
                return page
            }
            value = try next(driver, after: end)
        }
        return page
    }

    /// The place after everything that has this first key.
    func endOfGroup(_ value: IndexKey) -> QueryPlace {
        QueryPlace(
            keys: [value] + order.ascending.dropFirst().map { $0 ? .end : IndexKey(bytes: []) }, record: order.last)
    }

    private func next(_ driver: QueryDriver, after place: QueryPlace?) throws -> IndexKey? {
        try driver.next(
            after: place.map { QueryPlace(keys: [$0.keys[0]], record: order.last) }, ascending: order.isAscending,
            limit: 1,
            type: type.name, in: zone, connection
        ).first?.key
    }
}

extension QueryDriver {
    /// The entries with one value.
    fileprivate func only(_ key: IndexKey) -> QueryDriver {
        let range = [KeyRange(key, key.next)]
        return switch self {
        case .names: .names(range)
        case .index(let field, let id, let isList, _): .index(key: field, id: id, isList: isList, range)
        case .words: self
        }
    }
}
