/// Where a schema file is wrong, and what belongs there. Never repeats the file's text.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// From 1, in Unicode scalars; a tab is one.
    public let column: Int
    /// What was expected, or what is wrong: the end of a sentence that begins with the place.
    public let reason: String

    public init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    public var description: String { "line \(line), column \(column): \(reason)" }
}
