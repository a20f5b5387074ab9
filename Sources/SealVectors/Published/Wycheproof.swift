import SealVectorChecks

/// What Project Wycheproof's files have in common: an algorithm, a schema, and groups of tests with a verdict each.
protocol WycheproofFamily: PublishedFamily {
    static var algorithm: String { get }
    static var schema: String { get }
    static var groupType: String { get }
    /// The curve, where several share algorithm and schema.
    static func curve(of group: Fields) throws -> String
    static var curve: String { get }
    /// Our verdict on a test that Wycheproof leaves to the implementation, pinned by its flags. nil where there is
    /// none.
    static func accepts(acceptable flags: Set<String>) -> Bool?
    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome
}

enum WycheproofOutcome {
    case verdicts([PublishedVerdict])
    case inexpressible(String)
}

extension WycheproofFamily {
    static var curve: String { "" }
    static func curve(of group: Fields) throws -> String { "" }
    static func accepts(acceptable flags: Set<String>) -> Bool? { nil }

    static func recognises(_ file: JSON) -> Bool {
        guard let file = file.fields, let group = try? file.objects("testGroups").first else { return false }
        return (try? file.string("algorithm")) == algorithm && (try? file.string("schema")) == schema
            && (try? curve(of: group)) == curve
    }

    static func run(_ file: JSON, into report: inout PublishedReport) throws {
        guard let file = file.fields else { throw VectorError.missing("testGroups") }
        for group in try file.objects("testGroups") {
            let type = try group.string("type")
            guard type == groupType else { throw PublishedError.unknown("group type", type) }
            guard try curve(of: group) == curve else { throw PublishedError.unknown("curve", try curve(of: group)) }
            for test in try group.objects("tests") {
                let expected = try expectation(test)
                switch try outcome(of: test, in: group) {
                case .verdicts(let verdicts):
                    report.test("tcId \(try test.int("tcId"))", accepted: expected, by: verdicts)
                case .inexpressible(let reason): report.leaveOut(reason)
                }
            }
        }
        let announced = try file.int("numberOfTests")
        if announced != report.tests + report.left { report.miss("numberOfTests says \(announced)") }
    }

    private static func expectation(_ test: Fields) throws -> Bool {
        switch try test.string("result") {
        case "valid": return true
        case "invalid": return false
        case let result:
            let flags = try test.array("flags").compactMap { flag in
                if case .string(let flag) = flag { flag } else { nil }
            }
            guard result == "acceptable", let accepts = accepts(acceptable: Set(flags)) else {
                throw PublishedError.unknown("result", result)
            }
            return accepts
        }
    }
}
