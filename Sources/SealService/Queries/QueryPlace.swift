package import SealQuery
import SealWire

/// A place in a zone's results: after everything with lesser keys, and with these keys up to this record.
package struct QueryPlace: Sendable, Equatable {
    /// What the order goes by: a key for each sort descriptor; without any, what the candidates come by.
    package var keys: [IndexKey]
    /// A record's name, or one of the ends.
    package var record: String

    /// Below and above every record's name, which are printable ASCII.
    static let lowest = ""
    static let highest = "\u{7F}"
}

/// In which direction each key counts. Equal keys are ordered by the record's name, in the first key's direction.
struct QueryOrder: Sendable {
    let ascending: [Bool]

    var isAscending: Bool { ascending.first ?? true }
    var first: String { isAscending ? QueryPlace.lowest : QueryPlace.highest }
    var last: String { isAscending ? QueryPlace.highest : QueryPlace.lowest }

    /// Nil for equal keys.
    func precedes(_ left: [IndexKey], _ right: [IndexKey]) -> Bool? {
        for (index, ascends) in ascending.enumerated() where left[index] != right[index] {
            return (left[index] < right[index]) == ascends
        }
        return nil
    }

    func precedes(_ left: QueryPlace, _ right: QueryPlace) -> Bool {
        if let known = precedes(left.keys, right.keys) { return known }
        return left.record == right.record ? false : (left.record < right.record) == isAscending
    }
}

/// How much one page may cost.
package struct QueryBudget {
    /// Index entries and records' heads that are looked at.
    package var entries = 10_000
    /// Records that are read and evaluated; a long one counts as several, and one that is compared with much.
    package var records = 2_000
    /// Index entries that are counted to find out by which condition there are the fewest candidates.
    package var counted = 10_000
    /// Of these, those that have to be read before they can be put in order: a page that is ended in the middle of that
    /// has no result. Over all of a page's zones, 256 MiB.
    package var ordered = 32_768

    private static let bytesPerRecord = 8_192
    /// `ComparisonWork` that counts as a record.
    private static let workPerRecord = 256
    /// What comparing one record may cost: as much as all that are put in order for a page.
    private static let mostWork = 32_768 * workPerRecord

    var isSpent: Bool { entries <= 0 || records <= 0 }

    /// For a record that was read.
    mutating func charge(bytes: Int) {
        records -= Self.count(of: bytes)
    }

    /// For comparing it, before that is done.
    /// - Throws: `limitExceeded` where that alone is too much for a page.
    mutating func charge(work: Int) throws(ServerError) {
        guard work <= Self.mostWork else { throw Self.tooMuchToCompare }
        records -= Self.count(ofWork: work)
    }

    /// As how many a record counts.
    static func count(of bytes: Int) -> Int { 1 + bytes / bytesPerRecord }

    /// As how many more.
    static func count(ofWork work: Int) -> Int { work / workPerRecord }

    static let tooMuchToOrder = ServerError(
        .limitExceeded,
        "More than 256 MiB of records would have to be read, or as much compared, to put some of them in order.",
        remedy:
            "Name a zone, add a condition that leaves fewer, ask for fewer values, or put large values into assets.")

    private static let tooMuchToCompare = ServerError(
        .limitExceeded, "A record has too many values to be compared with as many as the query has.",
        remedy: "Ask for fewer values in a query.")
}
