import SealPrimitives
import SealStatements
import SealVectorChecks

extension DeletionVectors: Construction {
    static let construction = VectorConstruction.deletions
    static let algorithm = "Derived deletions"
    static let header = [
        SharedWorld.header,
        "Taken: `records`, in any order, each with the `hash` of its newest statement, give the `digest` that is the `fields` of a deletion which takes them along; `path` leads to the leaf at `index`, that of `recordName`. In place of `records`, `many`: so many records `Item-0`, `Item-1`, …, the hash of each its number, u32, and 28 zero bytes.",
        "Along: `records` are said to go along with `target`, nearest to it first; each has its `record`, the `field` with its `reference`, and the `otherFields` with their digests. `digest` is what the target's deletion then covers. `roster` is that of the target.",
        "Notice: `record` is said to be gone with the target of `tombstone`; `path` leads from its statement to what that covers, from the leaf at `index` of `count`.",
    ]

    /// A record on its way along with a target.
    private struct Step {
        var statement: Statement
        var author: VectorPerson
        var field = "list"
        var reference: Value
        var otherFields: [FieldDigest] = [
            FieldDigest(name: "body", digest: GrantHash.of([1])), FieldDigest(name: "title", digest: GrantHash.of([2])),
        ]

        /// What its author signs of it.
        mutating func sign() throws {
            let own = FieldDigest(name: field, digest: try StoredField.plain(reference).digest(name: field))
            statement.fieldsDigest = try FieldSet.digest(
                (otherFields + [own]).sorted { FieldSet.isOrdered($0.name, $1.name) })
        }
    }

    static func generate(into builder: inout VectorBuilder) throws {
        try generateTaken(&builder)
        let world = try SharedWorld()
        try builder.group("Along", shared: world.shared) { try generateAlong(world, &$0) }
        try builder.group("Notice", shared: world.shared) { try generateNotices(world, &$0) }
    }

    // MARK: Taken

    private static func generateTaken(_ builder: inout VectorBuilder) throws {
        try builder.group("Taken") { group in
            func fields(
                _ records: [(recordName: String, hash: Digest)], _ input: [String: JSON]? = nil,
                pathTo name: String? = nil
            ) throws -> [String: JSON] {
                let taken = try TakenRecords(records)
                var fields = input ?? ["records": list(records)]
                fields["digest"] = .hex(taken.digest)
                if let name, let index = taken.names.firstIndex(of: name) {
                    fields["recordName"] = .string(name)
                    fields["index"] = .int(index)
                    fields["path"] = .array(taken.path(to: index).map { .hex($0) })
                }
                return fields
            }
            func list(_ records: [(recordName: String, hash: Digest)]) -> JSON {
                .array(records.map { .object(["name": .string($0.recordName), "hash": .hex($0.hash)]) })
            }
            group.valid("nothing", try fields([]), flag: "Edge")
            group.valid("one record", try fields(many(1), pathTo: "Item-0"), flag: "Edge")
            group.valid("two records", try fields(many(2), pathTo: "Item-1"), flag: "Rule")
            group.valid("three records: the last rises", try fields(many(3), pathTo: "Item-2"), flag: "Rule")
            group.valid(
                "three records in another order", try fields(many(3).reversed(), pathTo: "Item-1"), flag: "Rule")
            let names = ["b", "B", "a-", "a", "_x", "aa"]
            let bytewise = zip(names, try many(6)).map { ($0, $1.hash) }
            group.valid("names in the order of their bytes", try fields(bytewise, pathTo: "a-"), flag: "Rule")
            let eleven = try many(11)
            group.valid("eleven records: numbers are no order", try fields(eleven, pathTo: "Item-10"), flag: "Rule")
            group.valid(
                "as many as may be", try fields(many(750), ["many": .int(750)], pathTo: "Item-749"), flag: "Edge")
            group.invalid("one more", ["many": .int(751), "digest": .hex(Digest.zero)], flag: "Edge")
            group.invalid(
                "a record twice", ["records": list(try many(2) + many(1)), "digest": .hex(Digest.zero)], flag: "Rule")
        }
    }

    // MARK: Along

    private static func step(
        _ record: String, to target: String, in log: VectorZone, _ world: SharedWorld,
        action: ReferenceValue.Action = .deleteSelf
    ) throws -> Step {
        var step = Step(
            statement: log.statement(record, by: world.owner), author: world.owner,
            reference: .reference(ReferenceValue(recordName: target, action: action)))
        try step.sign()
        return step
    }

    private static func generateAlong(_ world: SharedWorld, _ group: inout VectorBuilder.GroupBuilder) throws {
        let (zone, share) = (world.zone, world.share)
        func fields(_ steps: [Step], with target: Statement) throws -> [String: JSON] {
            [
                "target": world.signed(target, by: world.owner),
                "records": .array(
                    try steps.map { step in
                        .object([
                            "record": world.signed(step.statement, by: step.author), "field": .string(step.field),
                            "reference": .hex(try step.reference.canonicalBytes()),
                            "otherFields": .array(
                                step.otherFields.map { .object(["name": .string($0.name), "digest": .hex($0.digest)]) }),
                        ])
                    }),
            ]
        }
        let list = zone.statement("List", by: world.owner)
        func going(_ comment: String, _ steps: [Step], with target: Statement? = nil, flag: String = "Rule") throws {
            let taken = try TakenRecords(
                steps.map { ($0.statement.recordName, Statement.hash($0.statement.canonicalBytes())) })
            var all = try fields(steps, with: target ?? list)
            all["digest"] = .hex(taken.digest)
            group.valid(comment, all, flag: flag)
        }
        func refused(_ comment: String, _ steps: [Step], with target: Statement? = nil) throws {
            var all = try fields(steps, with: target ?? list)
            all["digest"] = .hex(Digest.zero)
            group.invalid(comment, all, flag: "Rule")
        }
        let good = try step("Item", to: "List", in: zone, world)
        let detail = try step("Detail", to: "Item", in: zone, world)
        try going("nothing", [], flag: "Edge")
        try going("a record that refers to the target", [good])
        try going("one that refers to that", [good, detail])
        try going("two that refer to the target", [good, step("Other", to: "List", in: zone, world)])
        var many = good
        many.reference = .list([.reference(ReferenceValue(recordName: "Other", action: .deleteSelf)), good.reference])
        try many.sign()
        try going("a list of references", [many])
        try going(
            "in a share", [step("Item", to: "Page", in: share, world)], with: share.statement("Page", by: world.owner))

        try refused("a reference without deleteSelf", [step("Item", to: "List", in: zone, world, action: .none)])
        try refused("a reference to another record", [step("Item", to: "Other", in: zone, world)])
        try refused("one before the record that it refers to", [detail, good])
        try refused("two that refer to each other alone", [step("Item", to: "Detail", in: zone, world), detail])
        try refused("the target itself", [step("List", to: "List", in: zone, world)])
        try refused("a record twice", [good, good])
        try refused("a record of another scope", [step("Item", to: "List", in: share, world)])
        try refused("a record of another zone", [step("Item", to: "List", in: world.other, world)])
        let page = share.statement("Page", by: world.owner)
        try refused("the share's root", [step("Root", to: "Page", in: share, world)], with: page)
        try refused("a record under the share's name", [step("Share-1", to: "Page", in: share, world)], with: page)
        var record = try step("Zone-share", to: "List", in: zone, world)
        record.statement.recordType = "cloudkit.share"
        try refused("a record of the shares' type", [record])
        var gone = good
        gone.statement.kind = .delete
        gone.statement.wrappedKey = []
        try refused("a record that was deleted itself", [gone])
        var altered = good
        altered.otherFields.removeLast()
        try refused("a field left out", [altered])
        var other = try step("Item", to: "Other", in: zone, world)
        other.reference = good.reference
        try refused("a reference that the author did not sign", [other])
        var value = good
        value.reference = .string("List")
        try value.sign()
        try refused("a field that is no reference", [value])
        var forged = good
        forged.author = world.carol
        try refused("a record whose statement is not its author's", [forged])
    }

    // MARK: Notices

    private static func generateNotices(_ world: SharedWorld, _ group: inout VectorBuilder.GroupBuilder) throws {
        let (zone, share) = (world.zone, world.share)
        func hash(_ statement: Statement) -> Digest { Statement.hash(statement.canonicalBytes()) }
        /// A deletion that covers records.
        func deletion(
            of target: String, in log: VectorZone, by author: VectorPerson, covering records: [Statement]
        ) throws -> (Statement, VectorPerson, TakenRecords) {
            var statement = log.statement(target, by: author)
            statement.kind = .delete
            statement.wrappedKey = []
            let taken = try TakenRecords(records.map { ($0.recordName, hash($0)) })
            statement.fieldsDigest = taken.digest
            return (statement, author, taken)
        }
        func fields(
            _ record: Statement, by author: VectorPerson? = nil,
            _ end: (statement: Statement, author: VectorPerson, taken: TakenRecords),
            as name: String? = nil, count: Int? = nil, index: Int? = nil, path: [Digest]? = nil
        ) -> [String: JSON] {
            let leaf = end.taken.names.firstIndex(of: name ?? record.recordName) ?? 0
            return [
                "record": world.signed(record, by: author ?? world.owner),
                "tombstone": world.signed(end.statement, by: end.author),
                "count": .int(count ?? end.taken.count), "index": .int(index ?? leaf),
                "path": .array((path ?? end.taken.path(to: leaf)).map { .hex($0) }),
                "recordName": .string(record.recordName),
            ]
        }
        let item = zone.statement("Item", by: world.owner)
        let others = ["A", "B", "Z", "Zz"].map { zone.statement($0, by: world.owner) }
        let alone = try deletion(of: "List", in: zone, by: world.alice, covering: [item])
        let five = try deletion(of: "List", in: zone, by: world.alice, covering: others + [item])
        group.valid("a record that went alone", fields(item, alone), flag: "Rule")
        group.valid("one of five", fields(item, five), flag: "Rule")
        group.valid("the last of five, which rises", fields(others[3], five), flag: "Rule")
        let page = share.statement("Item", by: world.bob)
        group.valid(
            "in a share, deleted by a participant",
            fields(page, by: world.bob, try deletion(of: "Page", in: share, by: world.bob, covering: [page])),
            flag: "Rule")

        func refused(_ comment: String, _ fields: [String: JSON]) { group.invalid(comment, fields, flag: "Rule") }
        refused(
            "a deletion that covers nothing",
            fields(item, try deletion(of: "List", in: zone, by: world.alice, covering: []), count: 1))
        refused(
            "a deletion that covers another record",
            fields(item, try deletion(of: "List", in: zone, by: world.alice, covering: [others[0]])))
        refused("another record's path", fields(others[0], five, as: "Item"))
        refused("another place of the same path", fields(item, five, index: five.2.names.firstIndex(of: "A")))
        refused("a path cut short", fields(item, five, path: Array(five.2.path(to: 2).dropLast())))
        refused("a path too long", fields(item, alone, path: [hash(item)]))
        refused("another count than was signed", fields(item, alone, count: 2, path: [hash(item)]))
        refused("an index past the end", fields(item, alone, index: 1))
        refused("no record that goes", fields(item, alone, count: 0))
        var again = item
        again.revision = 2
        again.previous = hash(item)
        refused("a record that was saved since", fields(again, alone))
        var first = item
        (first.rosterSequence, first.rosterHead) = (0, zone.roster.hashes[0])
        refused(
            "a target of another zone",
            fields(first, try deletion(of: "List", in: world.other, by: world.owner, covering: [first])))
        refused(
            "a target of another scope",
            fields(item, try deletion(of: "Page", in: share, by: world.alice, covering: [item])))
        var early = try deletion(of: "List", in: zone, by: world.alice, covering: [item])
        early.0.rosterSequence -= 1
        early.0.rosterHead = zone.roster.hashes[Int(early.0.rosterSequence)]
        refused("a deletion that cites an older head than the record", fields(item, early))
        var saved = try deletion(of: "List", in: zone, by: world.alice, covering: [item])
        saved.0.kind = .save
        saved.0.wrappedKey = [UInt8](repeating: 6, count: Statement.wrappedKeyBytes)
        refused("a target that was saved", fields(item, saved))
        refused(
            "a target deleted by somebody without the right",
            fields(item, try deletion(of: "List", in: zone, by: world.bob, covering: [item])))
        var gone = item
        gone.kind = .delete
        gone.wrappedKey = []
        refused(
            "a record that was deleted itself",
            fields(gone, try deletion(of: "List", in: zone, by: world.alice, covering: [gone])))
        refused(
            "the target itself", fields(item, try deletion(of: "Item", in: zone, by: world.alice, covering: [item])))
        var record = zone.statement("Zone-share", by: world.owner)
        record.recordType = "cloudkit.share"
        refused(
            "the record of a share",
            fields(record, try deletion(of: "List", in: zone, by: world.alice, covering: [record])))
        let named = share.statement("Share-1", by: world.owner)
        refused(
            "a record under the share's name",
            fields(named, try deletion(of: "Page", in: share, by: world.alice, covering: [named])))
        refused("a record whose statement is not its author's", fields(item, by: world.carol, alone))
    }
}
