import SealClient
import SealPrimitives
import SealStatements

/// Holds the records that a server finds against what it was asked, page after page.
struct QueryCheck {
    /// The pages before.
    private var reading: FeedReading
    private var last: [IndexKey]?
    /// Of this page.
    private var seen: Set<String> = []

    init(random: inout SystemRandom) { reading = FeedReading(isWhole: false, random: &random) }

    /// Begins a page.
    /// - Throws: `circle` for one that leads nowhere, or has what came in one before it.
    mutating func page(
        _ records: [Wire.Record], from start: [UInt8], to end: [UInt8]
    ) throws(Refusal) -> FeedReading.Part {
        let part = FeedReading.Part(
            records.map { reading.item($0) }, from: start, to: end, isMoreComing: !end.isEmpty, .results)
        try client { [reading] () throws(ClientError) in try reading.check(part) }
        seen = []
        return part
    }

    mutating func take(_ page: FeedReading.Part) { reading.take(page) }

    /// - Returns: whether the record is one that was asked for, there, once, and in its place.
    mutating func takes(_ shown: PublicZone.Shown?, of query: Query) -> Bool {
        guard let shown, !shown.isGone, seen.insert(shown.statement.recordName).inserted else { return false }
        let subject = shown.subject
        guard query.matches(subject), let keys = query.sortKeys(of: subject) else { return false }
        if let last, !query.isOrdered(last, keys) { return false }
        last = keys
        return true
    }

    /// Of a record that is known newer than it was found: its place says nothing of what comes before and after it.
    /// - Returns: why it is not shown, or nothing; nil where it is a result no more.
    mutating func refusalOfNewer(_ shown: PublicZone.Shown?, of query: Query) -> String? {
        guard let shown, !shown.isGone else { return nil }
        guard seen.insert(shown.statement.recordName).inserted else { return Refusal("unexpected").name }
        guard shown.content != nil else { return Refusal("keepsChanging").name }
        return query.matches(shown.subject) ? "" : nil
    }
}
