import SealQuery
import SealStatements
import SealStorage

/// A page in the order of distance: from circles that grow around a place. An index entry says to a few centimetres
/// where its record is, so that records are read one by one, the nearest first, and no more than the page needs.
struct NearestSearch {
    private let run: QueryRun
    private let key: String
    private let field: IndexedType.Field
    private let centre: Location
    private let start: QueryPlace?
    private let limit: Int
    private var found: [QueryPlace] = []
    private var read: Set<String> = []
    /// The distance of the last that has room, once there are so many: what is farther is not on the page.
    private var last: IndexKey?
    /// Metres: everything that is so near was found, or comes before the start.
    private var done = 0.0
    /// Metres: a circle so large has too many places in it, of which these are some.
    private var tooLarge: (radius: Double, metres: [Double])?

    private struct Place {
        let record: String
        let metres: Double
    }

    /// Metres that an entry's distance may be off: near the other end of the earth rounding takes most of them.
    private static let slack = 1.0
    private static let firstRadius = 1_000.0
    /// Circles with too many places in them that one page tries.
    private static let mostTries = 4

    init(
        _ run: QueryRun, _ key: String, _ field: IndexedType.Field, from centre: Location, after start: QueryPlace?,
        limit: Int
    ) {
        (self.run, self.key, self.field, self.centre) = (run, key, field, centre)
        (self.start, self.limit) = (start, limit)
    }

    /// - Throws: `limitExceeded` where too many are as near as the next one.
    mutating func page(_ budget: inout QueryBudget) throws -> QueryRun.Page {
        let mostEntries = max(QueryRun.mostOrdered, budget.entries)
        var radius = Self.firstRadius
        while let start, Self.key(radius) < start.keys[0], radius < Distance.farthest {
            (done, radius) = (radius, radius * 4)
        }
        var tries = 0
        while true {
            let isEverything = radius >= Distance.farthest
            let near = try places(within: isEverything ? nil : radius, atMost: mostEntries, &budget)
            if near.isAll {
                if let page = try readAll(near.places, &budget) { return page }
                guard !isEverything else { return known(upTo: nil) }
                done = radius
            } else {
                tries += 1
                tooLarge = (radius, near.places.map(\.metres))
            }
            let page = known(upTo: done)
            if page.found.count >= limit || tooLarge != nil && !page.found.isEmpty { return page }
            if budget.isSpent, isProgress(done) { return page }
            guard let tooLarge else {
                radius *= 4
                continue
            }
            guard tries < Self.mostTries, tooLarge.radius - done > Self.slack else { throw QueryRun.tooManyNear }
            radius = between(done, tooLarge.radius, tooLarge.metres)
        }
    }

    /// Where half of the places are that are known to be there, or half of the way.
    private func between(_ inner: Double, _ outer: Double, _ metres: [Double]) -> Double {
        let known = metres.filter { $0 > inner && $0 < outer }.sorted()
        let half = (inner + outer) / 2
        return known.isEmpty ? half : min(half, known[known.count / 2])
    }

    /// - Parameter radius: nil for all there are.
    /// - Returns: the nearest first; or some, and false, where there are too many.
    private func places(
        within radius: Double?, atMost mostEntries: Int, _ budget: inout QueryBudget
    ) throws -> (places: [Place], isAll: Bool) {
        let circle = Query.Condition(
            .near(key, latitude: centre.latitude, longitude: centre.longitude, metres: radius ?? Distance.farthest))
        let ranges = radius == nil ? nil : circle.ranges(in: .location)
        let driver = QueryDriver(key, field, ranges ?? [.all])
        var places: [Place] = []
        var entries = 0
        var next: QueryPlace?
        while true {
            let candidates = try driver.next(
                after: next, ascending: true, limit: .max, type: run.type.name, in: run.zone, run.connection)
            budget.entries -= candidates.count
            entries += candidates.count
            guard let last = candidates.last else { break }
            next = QueryPlace(keys: [last.key], record: last.record)
            for candidate in candidates {
                guard let metres = candidate.key.metres(from: centre) else { continue }
                // What is in the ranges is not all in the circle.
                if let radius, metres > radius + Self.slack { continue }
                places.append(Place(record: candidate.record, metres: metres))
            }
            guard places.count <= QueryRun.mostOrdered, entries <= mostEntries else { return (places, false) }
        }
        return (places.sorted { $0.metres < $1.metres }, true)
    }

    /// - Returns: the page, where it is full, or has cost enough.
    private mutating func readAll(_ places: [Place], _ budget: inout QueryBudget) throws -> QueryRun.Page? {
        for place in places where !read.contains(place.record) {
            let nearest = place.metres - Self.slack
            if let last, nearest > 0, Self.key(nearest) > last { return known(upTo: nearest) }
            let edge = max(done, nearest)
            if budget.isSpent, isProgress(edge) { return known(upTo: edge) }
            // What comes before the start was given out.
            if let start, Self.key(place.metres + Self.slack) < start.keys[0] { continue }
            read.insert(place.record)
            guard let result = try run.place(of: place.record, after: start, &budget) else { continue }
            found.append(result)
            if found.count == limit { last = found.map { $0.keys[0] }.max() }
        }
        return nil
    }

    /// What was found so near, and where to go on.
    /// - Parameter metres: nil where nothing is left.
    private func known(upTo metres: Double?) -> QueryRun.Page {
        var places = found
        if let metres { places.removeAll { $0.keys[0] > Self.key(metres) } }
        places.sort { run.order.precedes($0, $1) }
        guard places.count < limit else {
            return QueryRun.Page(found: Array(places.prefix(limit)), reached: places[limit - 1])
        }
        return QueryRun.Page(found: places, reached: metres.map { run.endOfGroup(Self.key($0)) })
    }

    /// Whether a page that ends there gets on.
    private func isProgress(_ metres: Double) -> Bool {
        metres > 0 && start.map { Self.key(metres) > $0.keys[0] } ?? true
    }

    /// Every number has one.
    private static func key(_ metres: Double) -> IndexKey { IndexKey(.double(metres)) ?? .end }
}
