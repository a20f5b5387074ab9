import SealClient
import SealStatements

/// Holds the records that a server finds against what it was asked.
struct QueryCheck {
    private let query: Query
    private var last: [IndexKey]?
    private var seen: Set<String> = []

    init(_ query: Query) { self.query = query }

    /// - Returns: whether the record is one that was asked for, there, once, and in its place.
    mutating func takes(_ shown: PublicZone.Shown?) -> Bool {
        guard let shown, !shown.isGone, seen.insert(shown.statement.recordName).inserted else { return false }
        let subject = shown.subject
        guard query.matches(subject), let keys = query.sortKeys(of: subject) else { return false }
        if let last, !query.isOrdered(last, keys) { return false }
        last = keys
        return true
    }
}
