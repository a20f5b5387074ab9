import SealService

/// HTML that is being put together. What is interpolated as text is escaped, and nothing else is possible by mistake:
///
/// ```swift
/// let row: Markup = "<td>\(name)</td>"              // name's angle brackets show as such
/// let table: Markup = "<table>\(Markup(rows))</table>"
/// ```
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var html: String

    init(stringLiteral literal: String) { html = literal }

    init(stringInterpolation: Interpolation) { html = stringInterpolation.html }

    /// One after the other.
    init(_ parts: some Sequence<Markup>) { html = parts.reduce(into: "") { $0 += $1.html } }

    static let none: Markup = ""

    static func + (first: Markup, second: Markup) -> Markup { Markup([first, second]) }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { html += literal }

        mutating func appendInterpolation(_ text: String) { html += HTML.escape(text) }
        mutating func appendInterpolation(_ number: some BinaryInteger) { html += number.description }
        mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
        mutating func appendInterpolation(_ markup: Markup?) { html += markup?.html ?? "" }
    }
}
