import CErrorTable
import Foundation

/// What the codes of errors mean, and what an app should do about each: the table of the SDK's page on errors, which is
/// built into this program.
struct ErrorGuide: Sendable {
    struct Entry: Sendable, Equatable {
        let meaning: String
        let remedy: String
    }

    /// As this program has it.
    static let built: ErrorGuide = {
        var count = 0
        guard let bytes = sealkit_error_page(&count) else { return ErrorGuide(page: "") }
        return ErrorGuide(page: String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
    }()

    private let entries: [String: Entry]

    /// - Parameter page: Markdown, with a row for each code: its name, when it is raised, what to do, and what else.
    init(page: String) {
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { Self.plain(String($0)) }
        }
        entries = Dictionary(
            rows.filter { $0.count >= 3 }.map { ($0[0], Entry(meaning: $0[1], remedy: $0[2])) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Nil of what is no code of the protocol's, as `http-502` of a proxy.
    subscript(_ code: String) -> Entry? { entries[code] }

    /// Without what is Markdown's, and without links to other pages of the documentation.
    private static func plain(_ cell: String) -> String {
        cell.replacing(#/ \(<doc:\w+>\)/#, with: "").replacing("`", with: "").trimmingCharacters(in: .whitespaces)
    }
}
