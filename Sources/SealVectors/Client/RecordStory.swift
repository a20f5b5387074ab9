import SealPrimitives
import SealStatements
import SealVectorChecks

/// The steps of one test of a reader, as they are told.
struct RecordStory {
    private(set) var steps: [JSON] = []

    /// A record of an answer.
    typealias Item = [String: JSON]

    mutating func reads(_ rosters: [String]) { steps.append(.object(["reads": .array(rosters.map { .string($0) })])) }

    mutating func answer(
        _ items: [Item], _ verdicts: [String], asked: Int? = nil, accepting late: [Digest] = []
    ) {
        var step: [String: JSON] = [
            "answer": .array(items.map { .object($0) }), "verdicts": .array(verdicts.map { .string($0) }),
        ]
        if let asked { step["asked"] = .int(asked) }
        if !late.isEmpty { step["accepting"] = .array(late.map { .hex($0) }) }
        steps.append(.object(step))
    }

    mutating func answer(_ item: Item, _ verdict: String, asked: Int? = nil, accepting late: [Digest] = []) {
        answer([item], [verdict], asked: asked, accepting: late)
    }

    /// The feed's end, by the heads of the zone's own roster and of shares'.
    mutating func readTo(_ heads: [(shareRecordName: String, sequence: UInt64)]) {
        steps.append(
            .object([
                "readTo": .array(
                    heads.map {
                        .object([
                            "shareRecordName": .string($0.shareRecordName), "sequence": .number($0.sequence),
                        ])
                    })
            ]))
    }

    mutating func absent(from roster: String) { steps.append(.object(["absentFrom": .string(roster)])) }

    mutating func nothing(_ name: String, _ verdict: String, asked: Int? = nil) {
        var step: [String: JSON] = ["nothing": .string(name), "verdict": .string(verdict)]
        if let asked { step["asked"] = .int(asked) }
        steps.append(.object(step))
    }

    mutating func brought(_ names: [String], missing: [String]) {
        steps.append(
            .object([
                "brought": .array(names.map { .string($0) }), "missing": .array(missing.map { .string($0) }),
            ]))
    }
}
