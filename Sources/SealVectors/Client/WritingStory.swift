import SealPrimitives
import SealStatements
import SealVectorChecks

/// The steps of one test of a writer, as they are told.
struct WritingStory {
    private(set) var steps: [JSON] = []

    typealias Item = RecordStory.Item

    mutating func knows(_ rosters: [(name: String, entries: Int)]) {
        steps.append(
            .object([
                "knows": .array(
                    rosters.map { .object(["roster": .string($0.name), "entries": .int($0.entries)]) })
            ]))
    }

    mutating func readies(_ roster: String, _ verdict: String) {
        steps.append(.object(["readies": .string(roster), "verdict": .string(verdict)]))
    }

    mutating func whole(_ code: String, _ verdict: String) {
        steps.append(.object(["whole": .string(code), "verdict": .string(verdict)]))
    }

    mutating func nothing(_ name: String, _ verdict: String) {
        steps.append(.object(["nothing": .string(name), "verdict": .string(verdict)]))
    }

    mutating func shown(_ item: Item, _ verdict: String) {
        steps.append(.object(item.merging(["verdict": .string(verdict)]) { $1 }))
    }

    /// What is sent of an item.
    struct Sent {
        let statement: Statement
        let keepsKey: Bool?

        /// A save.
        init(_ statement: Statement, keepsKey: Bool = false) { (self.statement, self.keepsKey) = (statement, keepsKey) }

        static func deletion(_ statement: Statement) -> Sent { Sent(deleting: statement) }
        private init(deleting statement: Statement) { (self.statement, keepsKey) = (statement, nil) }

        fileprivate var json: JSON {
            var values: Item = ["statement": .hex(statement.canonicalBytes())]
            if let keepsKey { values["keepsKey"] = .bool(keepsKey) }
            return .object(values)
        }
    }

    mutating func round(
        _ sends: [Sent], _ answers: [Item], _ verdicts: [String], again: [String] = [], asksFor: [String] = [],
        parents: [Statement] = [], unplaced: [String: String] = [:], looksUp: [String] = [], found: [Item] = [],
        dependents: [Item] = []
    ) {
        var step: Item = [
            "asksFor": WritingStory.list(asksFor), "unplaced": .object(unplaced.mapValues { .string($0) }),
            "sends": .array(sends.map { $0.json }),
        ]
        if !parents.isEmpty {
            step["parents"] = .array(parents.map { .object(["statement": .hex($0.canonicalBytes())]) })
        }
        if !sends.isEmpty {
            step["answers"] = .array(answers.map { .object($0) })
            step["looksUp"] = WritingStory.list(looksUp)
            step["verdicts"] = WritingStory.list(verdicts)
            step["again"] = WritingStory.list(again)
        }
        if !found.isEmpty { step["found"] = .array(found.map { .object($0) }) }
        if !dependents.isEmpty { step["dependents"] = .array(dependents.map { .object($0) }) }
        steps.append(.object(step))
    }

    // MARK: Answers

    static func stored(_ name: String) -> Item { ["stored": .string(name)] }

    static func refused(_ code: String, shows: Item? = nil, dependents: [String] = [], taken: [Item]? = nil) -> Item {
        var answer: Item = ["code": .string(code)]
        if let shows { answer["shows"] = .object(shows) }
        if !dependents.isEmpty { answer["dependents"] = list(dependents) }
        if let taken { answer["taken"] = .array(taken.map { .object($0) }) }
        return answer
    }

    static var unsaid: Item { [:] }

    private static func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
