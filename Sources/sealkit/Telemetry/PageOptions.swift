import ArgumentParser
import Foundation

/// How much of a list that the server gives page by page, and in which form.
struct PageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Show at most so many. Default: 100.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print a table of comma-separated values.")
    var csv = false

    /// In one answer.
    private static let page = 1_000
    private static let usualLimit = 100

    func validate() throws { try Self.check(limit) }

    /// - Throws: `ValidationError` for two forms at once.
    func check(_ options: OperatorOptions) throws { try Self.check(csv: csv, options) }

    static func check(_ limit: Int?) throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }

    static func check(csv: Bool, _ options: OperatorOptions) throws {
        if csv, options.json { throw ValidationError("Give --csv or --json, not both.") }
    }

    /// A list's entries in each of the forms that it can be asked for in.
    struct Form<Entry> {
        let csvHeader: String
        let csv: (Entry) -> String
        let line: (Entry) -> String
        let bare: (Entry) -> String
        let json: (Entry) -> [String: JSONValue]
    }

    /// Page by page, as far as was asked for, in the form that was asked for.
    /// - Parameter page: gets the page after a cursor, of so many at most; says where the next one begins.
    func list<Entry>(
        _ output: Output, in form: Form<Entry>,
        _ page: (_ cursor: Data?, _ limit: Int) async throws -> (entries: [Entry], cursor: Data?)
    ) async throws {
        if csv { try Output.standardOutput(form.csvHeader) }
        try await Self.pages(atMost: limit ?? Self.usualLimit, output) { cursor, limit in
            let (entries, next) = try await page(cursor, limit)
            for entry in entries {
                if csv {
                    try Output.standardOutput(form.csv(entry))
                } else {
                    try output.result(form.line(entry), bare: form.bare(entry), json: form.json(entry))
                }
            }
            return (entries.count, next)
        }
    }

    /// Page by page, as far as was asked for.
    /// - Parameters:
    ///   - limit: of all together.
    ///   - show: gets and shows the next page, of so many at most; says how many came, and where the next one begins.
    static func pages(
        atMost limit: Int, _ output: Output,
        _ show: (_ cursor: Data?, _ limit: Int) async throws -> (count: Int, cursor: Data?)
    ) async throws {
        var (left, cursor) = (limit, Data?.none)
        repeat {
            let (count, next) = try await show(cursor, min(left, page))
            left -= count
            cursor = next
        } while cursor != nil && left > 0
        if cursor != nil { output.note("there are more") }
    }
}
