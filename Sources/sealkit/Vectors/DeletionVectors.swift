import SealPrimitives
import SealStatements

enum DeletionVectors: Construction {
    static let name = "deletions"
    static let algorithm = "Derived deletions"
    static let header = [
        SharedWorld.header,
        "Notice: `steps` lead from the record that is said to be gone, `recordName`, to the one that refers to the target; `tombstone` is the target's deletion. A step has the record's `record`, the `field` with its `reference`, and the `otherFields` with their digests.",
    ]

    private struct Step {
        var statement: Statement
        var author: VectorPerson
        var field = "list"
        var reference: Value
        var otherFields: [FieldDigest] = [FieldDigest(name: "body", digest: GrantHash.of([1])), FieldDigest(name: "title", digest: GrantHash.of([2]))]
    }

    static func generate(into builder: inout VectorBuilder) throws {
        let world = try SharedWorld()

        func step(_ record: String, to target: String, in log: VectorZone, action: ReferenceValue.Action = .deleteSelf) throws -> Step {
            let reference = Value.reference(ReferenceValue(recordName: target, action: action))
            var step = Step(statement: log.statement(record, by: world.owner), author: world.owner, reference: reference)
            step.statement.fieldsDigest = try digest(step)
            return step
        }
        func digest(_ step: Step) throws -> Digest {
            let own = FieldDigest(name: step.field, digest: try StoredField.plain(step.reference).digest(name: step.field))
            return try FieldSet.digest((step.otherFields + [own]).sorted { FieldSet.isOrdered($0.name, $1.name) })
        }
        func tombstone(_ record: String, in log: VectorZone, by author: VectorPerson) throws -> (Statement, VectorPerson) {
            var statement = log.statement(record, by: author)
            statement.kind = .delete
            statement.wrappedKey = []
            statement.fieldsDigest = try FieldSet.digest([])
            return (statement, author)
        }
        func fields(_ steps: [Step], _ end: (Statement, VectorPerson)) throws -> [String: JSON] {
            [
                "recordName": .string(steps.first?.statement.recordName ?? ""), "tombstone": world.signed(end.0, by: end.1),
                "steps": .array(
                    try steps.map { step in
                        .object([
                            "record": world.signed(step.statement, by: step.author), "field": .string(step.field),
                            "reference": .hex(try step.reference.canonicalBytes()),
                            "otherFields": .array(step.otherFields.map { .object(["name": .string($0.name), "digest": .hex($0.digest)]) }),
                        ])
                    }),
            ]
        }
        try builder.group("Notice", shared: world.shared) { group in
            let (zone, share) = (world.zone, world.share)
            let end = try tombstone("List", in: zone, by: world.alice)
            let good = try step("Item", to: "List", in: zone)
            group.valid("a record that went with its target", try fields([good], end), flag: "Rule")
            group.valid("a chain of two", try fields([step("Detail", to: "Item", in: zone), good], end), flag: "Rule")
            var many = good
            many.reference = .list(.reference, [.reference(ReferenceValue(recordName: "Other", action: .deleteSelf)), good.reference])
            many.statement.fieldsDigest = try digest(many)
            group.valid("a list of references", try fields([many], end), flag: "Rule")
            group.valid("in another scope, where the deleter may write", try fields([step("Item", to: "List", in: share)], end), flag: "Rule")

            func refused(_ comment: String, _ steps: [Step], _ end: (Statement, VectorPerson)) throws {
                group.invalid(comment, try fields(steps, end), flag: "Rule")
            }
            try refused("in another scope, where the deleter may not write", [step("Item", to: "List", in: share)], tombstone("List", in: zone, by: world.carol))
            try refused("a target of another zone", [good], tombstone("List", in: world.other, by: world.owner))
            var early = end
            early.0.rosterSequence -= 1
            early.0.rosterHead = zone.roster.hashes[Int(early.0.rosterSequence)]
            try refused("a deletion that cites an older head than the record", [good], early)
            try refused("no step", [], end)
            try refused("a reference without deleteSelf", [step("Item", to: "List", in: zone, action: .none)], end)
            try refused("a reference to another record", [step("Item", to: "Other", in: zone)], end)
            try refused("a chain with a gap", [step("Detail", to: "Other", in: zone), good], end)
            try refused("a chain that comes back", [step("Item", to: "Detail", in: zone), step("Detail", to: "Item", in: zone), good], end)
            try refused("the target itself", [step("List", to: "List", in: zone)], end)
            var altered = good
            altered.reference = .reference(ReferenceValue(recordName: "List", action: .deleteSelf))
            altered.otherFields.removeLast()
            try refused("a field left out", [altered], end)
            var other = try step("Item", to: "Other", in: zone)
            other.reference = good.reference
            try refused("a reference that the author did not sign", [other], end)
            var value = good
            value.reference = .string("List")
            value.statement.fieldsDigest = try digest(value)
            try refused("a field that is no reference", [value], end)
            var saved = end
            saved.0 = zone.statement("List", by: world.alice)
            try refused("a target that was saved", [good], saved)
            try refused("a target deleted by somebody without the right", [good], tombstone("List", in: zone, by: world.bob))
            var gone = good
            gone.statement.kind = .delete
            gone.statement.wrappedKey = []
            try refused("a record that was deleted itself", [gone], end)
            var forged = good
            forged.author = world.carol
            try refused("a record whose statement is not its author's", [forged], end)
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let rosters = try shared.rosters()
        let steps = try test.objects("steps").map { step in
            let (record, roster) = try step.signed("record", in: rosters)
            return DerivedDeletion.Step(
                record: record, roster: roster, field: try step.string("field"), reference: try Value(canonicalBytes: step.bytes("reference")),
                otherFields: try step.objects("otherFields").map { FieldDigest(name: try $0.string("name"), digest: try $0.digest("digest")) })
        }
        let gone = try DerivedDeletion(steps: steps, tombstone: test.signed("tombstone", in: rosters).statement).verify()
        try test.expect("recordName", .string(gone.statement.recordName))
    }
}
