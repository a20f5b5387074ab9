import SealPrimitives
import SealStatements
import SealVectorChecks

/// Rules of writing that are tables: each line of them by itself.
struct WritingRules {
    let records: RecordStories

    func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Conflict") { conflicts(&$0) }
        try builder.group("Objection") { objections(&$0) }
        try builder.group("Public") { try publicStatements(&$0) }
    }

    private static let policies = ["ifUnchanged", "changedKeys", "allKeys", "restoring"]

    private func conflicts(_ group: inout VectorBuilder.GroupBuilder) {
        /// - Parameters:
        ///   - verdicts: by policy, in the order of `policies`; one for all.
        ///   - last: likewise, in the last round.
        func line(_ item: String, over there: String, _ verdicts: [String], last: [String]) {
            for (isLast, verdicts) in [(false, verdicts), (true, last)] {
                for (index, policy) in Self.policies.enumerated() {
                    group.valid(
                        "\(item), over \(there), \(policy)" + (isLast ? ", in the last round" : ""),
                        [
                            "item": .string(item), "there": .string(there), "policy": .string(policy),
                            "isLast": .bool(isLast),
                            "verdict": .string(verdicts.count == 1 ? verdicts[0] : verdicts[index]),
                        ], flag: "Rule")
                }
            }
        }
        for item in ["new", "fetched"] {
            line(item, over: "same", ["merges"], last: ["changed"])
            line(item, over: "other", ["changed", "merges", "merges", "changed"], last: ["changed"])
            line(item, over: "unopened", ["unopened", "unopened", "replaces", "unopened"], last: ["unopened"])
            line(
                item, over: "unopenedOfOtherType", ["unopened", "unopened", "otherType", "unopened"],
                last: ["unopened"])
        }
        line("new", over: "gone", ["makesAgain"], last: ["keepsChanging"])
        line("fetched", over: "gone", ["deleted"], last: ["deleted"])
        for there in ["same", "other", "unopened", "unopenedOfOtherType"] {
            line("deletion", over: there, ["deletesNewest"], last: ["keepsChanging"])
        }
        line("deletion", over: "gone", ["isGone"], last: ["isGone"])
    }

    private func objections(_ group: inout VectorBuilder.GroupBuilder) {
        let first = records.zone.statement(by: records.alice)
        let second = records.after(first)
        func test(
            _ comment: String, there: Statement?, isGone: Bool = false, last: Statement?, isDenied: Bool = false,
            isRekeying: Bool = false, _ verdict: String
        ) {
            var fields: [String: JSON] = [
                "isDenied": .bool(isDenied), "isRekeying": .bool(isRekeying), "verdict": .string(verdict),
            ]
            if let there {
                fields["there"] = .hex(records.hash(there))
                fields["isGone"] = .bool(isGone)
            }
            fields["last"] = last.map { .hex(records.hash($0)) }
            group.valid(comment, fields, flag: "Rule")
        }
        test("said not to be there, and shown as it was", there: first, last: first, isDenied: true, "hidden")
        test("another version", there: second, last: first, "none")
        test("the version that it follows", there: first, last: first, "none")
        test("nothing verified", there: nil, last: first, "none")
        test("said not to be there, and shown as another", there: second, last: first, isDenied: true, "none")
        test("said not to be there, and it is not", there: nil, last: first, isDenied: true, "none")
        test("said not to be there, and gone", there: first, isGone: true, last: first, isDenied: true, "none")
        test("a new record, said not to be there", there: nil, last: nil, isDenied: true, "none")
        test("rekeyed, as it was", there: first, last: first, isRekeying: true, "none")
        test("rekeyed, and written since", there: second, last: first, isRekeying: true, "written")
        test("rekeyed, and gone", there: first, isGone: true, last: first, isRekeying: true, "written")
        test("rekeyed, and nothing verified", there: nil, last: first, isRekeying: true, "written")
        test(
            "rekeyed, said not to be there, and shown as it was", there: first, last: first, isDenied: true,
            isRekeying: true, "hidden")
    }

    private func publicStatements(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (alice, bob) = (records.alice, records.bob)
        let scope = Scope(
            container: VectorZone.container, environment: .production, owner: UserID(.zero),
            zoneName: Names.defaultZone, shareRecordName: "")
        func statement(
            _ kind: Statement.Kind, by author: VectorPerson, creator: VectorPerson? = nil, after last: Statement? = nil
        ) -> Statement {
            Statement(
                kind: kind, container: scope.container, environment: scope.environment, owner: scope.owner,
                zoneName: scope.zoneName, zoneIncarnation: 1, recordName: "Place-1", recordType: "Place",
                creator: (creator ?? author).user, author: author.user, clientTime: VectorZone.time,
                revision: (last?.revision ?? 0) + 1, previous: last.map { records.hash($0) } ?? .zero,
                scopeID: .zero, scopeIncarnation: 0, epoch: 0, wrappedKey: [], rosterSequence: 0, rosterHead: .zero,
                checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
        }
        func test(_ comment: String, _ statement: Statement, after last: Statement? = nil) {
            var fields: [String: JSON] = [
                "scope": .scope(scope), "author": .string(statement.author.recordName),
                "clientTime": .number(statement.clientTime),
                (statement.kind == .save ? "save" : "delete"): .string(statement.recordName),
                "type": .string(statement.recordType), "statement": .hex(statement.canonicalBytes()),
            ]
            fields["last"] = last.map { .hex($0.canonicalBytes()) }
            group.valid(comment, fields, flag: "Rule")
        }
        let first = statement(.save, by: alice)
        let second = statement(.save, by: bob, creator: alice, after: first)
        let deletion = statement(.delete, by: bob, creator: alice, after: second)
        test("a new record", first)
        test("another's record is changed", second, after: first)
        test("a record is deleted", deletion, after: second)
        test(
            "made again after its deletion, by somebody else", statement(.save, by: bob, after: deletion),
            after: deletion)
    }
}
