import Foundation
import SealKitTesting
import Testing

/// The catalogue's page has every fault, and every line of the table of attacks: as a fault, or with the reason why
/// not.
@Suite(.timeLimit(.minutes(60))) struct CatalogueTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The numbers of the table of attacks.
    private func attacks() throws -> [Int] {
        try text("Tests/Support/attacks.txt").split(separator: "\n").compactMap { line in
            line.prefixMatch(of: /(\d{2,3})\s/).flatMap { Int($0.1) }
        }
    }

    /// Rows of a table of the page: each by its cells.
    private func rows(below heading: String) throws -> [[String]] {
        let page = try text("Sources/SealKitTesting/Documentation.docc/Faults.md")
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) })
        return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }

    /// `1, 3 to 5`: 1, 3, 4, 5.
    private func numbers(_ cell: String) -> [Int] {
        cell.components(separatedBy: ", ").flatMap { part -> [Int] in
            let ends = part.components(separatedBy: " to ").compactMap(Int.init)
            guard let first = ends.first, let last = ends.last else { return [] }
            return Array(first...last)
        }
    }

    @Test func everyFaultHasItsRow() throws {
        let listed = try rows(below: "What there is")
        for kind in ServerFault.Kind.allCases {
            let row = listed.filter { $0[0].contains("ServerFault/\(kind.rawValue)") }
            #expect(row.count == 1, "\(kind)")
            #expect(row.first.map { numbers($0[1]) } == kind.attacks, "\(kind)")
        }
        #expect(listed.count == ServerFault.Kind.allCases.count)
    }

    @Test func everyAttackIsAFaultOrHasAReason() throws {
        let faults = Set(ServerFault.Kind.allCases.flatMap(\.attacks))
        let reasons = try rows(below: "What is no fault").flatMap { numbers($0[0]) }
        let all = try attacks()
        #expect(all.count > 90)
        #expect(faults.isSubset(of: all))
        #expect(Set(reasons).count == reasons.count)
        #expect(faults.isDisjoint(with: reasons))
        #expect(faults.union(reasons).sorted() == all)
    }
}
