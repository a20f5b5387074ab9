/// What is wrong with a query: always `invalidArguments` in CloudKit's words. It repeats no value of the query.
public struct QueryError: Error, Sendable, Hashable {
    /// What was wrong.
    public let reason: String
    /// What to do about it.
    public let remedy: String
    /// Where in the predicate's text, in characters from 0; nil when it is not a matter of one place.
    public let offset: Int?

    public init(_ reason: String, remedy: String, offset: Int? = nil) {
        self.reason = reason
        self.remedy = remedy
        self.offset = offset
    }
}

extension QueryError: CustomStringConvertible {
    public var description: String {
        "invalidArguments: \(reason)\(offset.map { " at character \($0)" } ?? "") (\(remedy))"
    }
}
