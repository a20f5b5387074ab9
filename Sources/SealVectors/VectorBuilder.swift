import SealKit
import SealVectorChecks

/// Collects tests, and tries each one as it comes: what it records holds.
struct VectorBuilder {
    private let construction: any Construction.Type
    private(set) var groups: [VectorFile.Group] = []
    private(set) var count = 0

    init(_ construction: any Construction.Type) { self.construction = construction }

    struct Case {
        let comment: String
        let flag: String
        let isValid: Bool
        let fields: [String: JSON]
    }

    struct GroupBuilder {
        var cases: [Case] = []

        mutating func valid(_ comment: String, _ fields: [String: JSON], flag: String = "Normal") {
            cases.append(Case(comment: comment, flag: flag, isValid: true, fields: fields))
        }

        mutating func invalid(_ comment: String, _ fields: [String: JSON], flag: String = "Altered") {
            cases.append(Case(comment: comment, flag: flag, isValid: false, fields: fields))
        }

        /// The last valid case with some fields replaced.
        mutating func altered(_ comment: String, _ changes: [String: JSON]) {
            let good = cases.last { $0.isValid }?.fields ?? [:]
            invalid(comment, good.merging(changes) { $1 })
        }
    }

    mutating func group(_ type: String, shared: [String: JSON] = [:], _ body: (inout GroupBuilder) throws -> Void)
        throws
    {
        var group = GroupBuilder()
        try body(&group)
        var tests: [VectorFile.Test] = []
        for test in group.cases {
            count += 1
            let reason: String?
            do throws(VectorError) {
                reason = try construction.construction.outcome(
                    of: test.fields, shared: shared, type: type, using: XWingHPKE.self)
            } catch {
                throw VectorError.differs("\(construction.name) \(type) “\(test.comment)”: \(error)")
            }
            guard (reason == nil) == test.isValid else {
                throw VectorError.differs("\(construction.name) \(type) “\(test.comment)”: \(reason ?? "accepted")")
            }
            tests.append(
                VectorFile.Test(
                    tcId: count, comment: test.comment, flags: [test.flag], result: test.isValid ? "valid" : "invalid",
                    reason: reason, fields: test.fields))
        }
        groups.append(VectorFile.Group(type: type, shared: shared, tests: tests))
    }
}
