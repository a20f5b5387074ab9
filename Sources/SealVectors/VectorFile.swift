import Foundation
import SealPrimitives

/// One file of vectors, in the shape of Project Wycheproof.
struct VectorFile: Codable {
    struct Group: Codable {
        let type: String
        /// What the group's tests share.
        let shared: [String: JSON]
        let tests: [Test]
    }

    struct Test: Codable {
        let tcId: Int
        let comment: String
        let flags: [String]
        let result: String
        /// Of an invalid test: the name of this implementation's error. Informative for others.
        let reason: String?
        /// Inputs and outputs.
        let fields: [String: JSON]
    }

    let algorithm: String
    let schema: String
    let generatorVersion: String
    let numberOfTests: Int
    let header: [String]
    let notes: [String: String]
    let testGroups: [Group]

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

/// A construction of the protocol whose bytes are pinned.
protocol Construction: SendableMetatype {
    /// The file's name without its ending.
    static var name: String { get }
    static var algorithm: String { get }
    static var header: [String] { get }
    static func generate(into builder: inout VectorBuilder) throws
    /// Does from the inputs what an implementation does, and holds every output against what comes out.
    /// - Throws: `SealError` for what the protocol refuses, which is what an invalid test expects; anything else is a
    ///   miss.
    static func check(_ test: Fields, shared: Fields, type: String) throws
}

enum Constructions {
    static let generatorVersion = "1"
    static let all: [any Construction.Type] = [
        PAEVectors.self, ValueVectors.self, PaddingVectors.self, FieldVectors.self, IdentityVectors.self,
        SafetyNumberVectors.self,
        RosterVectors.self,
        EpochVectors.self, GrantVectors.self, StatementVectors.self, TreeVectors.self, MoveVectors.self,
        PlacementVectors.self,
        DeletionVectors.self, RecordVectors.self, AssetVectors.self, PublicVectors.self,
        LinkVectors.self, AcceptanceVectors.self, RecoveryVectors.self, BoxVectors.self, LoginVectors.self,
        PasetoVectors.self, EnrolmentVectors.self,
    ]
    static let notes = [
        "Normal": "An ordinary case.",
        "Edge": "A case at a limit of the encoding.",
        "Altered": "One single thing is wrong: an altered, swapped, missing, added, replayed or foreign piece.",
        "Rule": "A rule of PROTOCOL.md, obeyed (valid) or broken (invalid).",
    ]

    static func file(of construction: any Construction.Type) throws -> VectorFile {
        var builder = VectorBuilder(construction)
        try construction.generate(into: &builder)
        return VectorFile(
            algorithm: construction.algorithm, schema: "schema/vectors.json", generatorVersion: generatorVersion,
            numberOfTests: builder.count, header: construction.header, notes: notes, testGroups: builder.groups)
    }

    /// The ids of tests that do not hold.
    static func misses(in file: VectorFile, of construction: any Construction.Type) -> [String] {
        var misses: [String] = []
        var count = 0
        for group in file.testGroups {
            for test in group.tests {
                count += 1
                if test.tcId != count { misses.append("tcId \(test.tcId) is out of order") }
                do {
                    let reason = try outcome(of: test.fields, shared: group.shared, type: group.type, construction)
                    let expected = test.result == "valid" ? nil : test.reason
                    guard test.result == "valid" || (test.result == "invalid" && test.reason != nil), reason == expected
                    else {
                        misses.append(
                            "\(test.tcId) “\(test.comment)”: \(reason ?? "accepted"), expected \(expected ?? "acceptance")"
                        )
                        continue
                    }
                } catch {
                    misses.append("\(test.tcId) “\(test.comment)”: \(error)")
                }
            }
        }
        if count != file.numberOfTests { misses.append("numberOfTests says \(file.numberOfTests), there are \(count)") }
        return misses
    }

    /// nil when the test's inputs are accepted, otherwise the name of the refusal.
    static func outcome(
        of fields: [String: JSON], shared: [String: JSON], type: String, _ construction: any Construction.Type
    ) throws -> String? {
        do {
            try construction.check(Fields(values: fields), shared: Fields(values: shared), type: type)
            return nil
        } catch let refusal as SealError {
            return "\(refusal)"
        }
    }
}

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
            let reason = try Constructions.outcome(of: test.fields, shared: shared, type: type, construction)
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
