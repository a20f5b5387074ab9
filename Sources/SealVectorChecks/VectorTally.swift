/// The account of many files, in the words that every runner says it in.
package struct VectorTally {
    private var files = 0
    private var tests = 0
    package private(set) var missed = 0

    package init() {}

    /// - Returns: the lines of the account.
    package mutating func add(_ construction: VectorConstruction, _ file: VectorFile, misses: [String]) -> [String] {
        files += 1
        tests += file.numberOfTests
        missed += misses.count
        let outcome = misses.isEmpty ? "all hold" : "\(misses.count) missed"
        return ["\(construction.rawValue): \(file.numberOfTests) tests, \(outcome)"] + misses.map { "  \($0)" }
    }

    /// A file that is not one counts as a miss.
    package mutating func add(unreadable construction: VectorConstruction, _ reason: String) -> String {
        files += 1
        missed += 1
        return "\(construction.rawValue): unreadable, \(reason)"
    }

    package var summary: String { "\(files) files, \(tests) tests, \(missed) missed" }
}
