import SealPrimitives
import SealStatements
import SealVectorChecks

/// The zone and shares of `RecordStories`, and batches that are written there, mostly by Alice.
struct WritingStories {
    let reading: ReadingStories
    var records: RecordStories { reading.records }
    var zone: VectorZone { records.zone }
    var share: VectorZone { records.share }
    var owner: VectorPerson { records.owner }
    var alice: VectorPerson { records.alice }
    var bob: VectorPerson { records.bob }

    typealias Item = RecordStory.Item
    typealias Written = [(String, Value)]

    func generate(into builder: inout VectorBuilder) throws {
        // Carol has left the zone, and the first share has ended.
        var left = zone
        try left.append(by: records.carol, [.leave])
        var ended = share
        try ended.append(by: owner, [.close])
        var shared = records.world.shared
        if case .object(var rosters)? = shared["rosters"] {
            for (name, log) in [("left", left), ("ended", ended)] {
                rosters[name] = .object(["scope": .scope(log.scope), "entries": .entries(log.entries)])
            }
            shared["rosters"] = .object(rosters)
        }
        try builder.group("Batch", shared: shared) { group in
            try statements(&group)
            try places(&group)
            try conflicts(&group)
            try gone(&group)
            try lies(&group)
            try deletions(&group)
            try along(&group)
            try together(&group)
            try rosters(&group)
        }
    }

    // MARK: Items

    func save(
        _ name: String, _ fields: Written, changed: [String]? = nil, parent: String? = nil,
        last: (Statement, Written)? = nil
    ) throws -> JSON {
        var item: Item = [
            "save": .string(name), "type": .string("Note"), "fields": try values(fields),
            "changed": .array((changed ?? fields.map(\.0)).map { .string($0) }),
        ]
        if let parent { item["parent"] = .string(parent) }
        if let last { item["last"] = try version(last.0, last.1) }
        return .object(item)
    }

    func delete(_ last: Statement) throws -> JSON {
        .object(["delete": .string(last.recordName), "last": try version(last, [])])
    }

    private func version(_ statement: Statement, _ fields: Written) throws -> JSON {
        .object(["statement": .hex(statement.canonicalBytes()), "fields": try values(fields)])
    }

    private func values(_ fields: Written) throws -> JSON {
        .array(try fields.map { try reading.plain($0.0, $0.1) })
    }

    /// As a server shows it.
    func shown(_ statement: Statement, _ fields: Written, by signer: VectorPerson? = nil) throws -> Item {
        var item = reading.item(statement, try fields.map { try reading.plain($0.0, $0.1) })
        item["record"] = records.signed(statement, by: signer)
        return item
    }

    func gone(_ deletion: Statement) -> Item { reading.item(deletion) }

    // MARK: Statements

    func first(_ name: String, _ fields: Written, by author: VectorPerson? = nil, in log: VectorZone? = nil) throws
        -> Statement
    {
        try reading.written((log ?? zone).statement(name, by: author ?? alice), fields)
    }

    func next(
        _ last: Statement, _ fields: Written, by author: VectorPerson? = nil,
        _ change: (inout Statement) -> Void = { _ in }
    ) throws -> Statement {
        try reading.written(records.after(last, by: author ?? alice, change), fields)
    }

    func deletion(_ last: Statement, by author: VectorPerson? = nil, _ digest: Digest? = nil) -> Statement {
        var statement = records.deletion(last, by: author ?? alice)
        if let digest { statement.fieldsDigest = digest }
        return statement
    }

    // MARK: Tests

    /// All of these rosters.
    var whole: [(String, Int)] {
        [("zone", zone), ("share", share), ("other", records.other)].map { ($0.0, $0.1.entries.count) }
    }

    func story(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, isValid: Bool = true,
        by writer: VectorPerson? = nil, policy: String = "ifUnchanged", atomic: Bool = false,
        knows: [(String, Int)]? = nil, _ items: [JSON], _ tell: (inout WritingStory) throws -> Void
    ) throws {
        var story = WritingStory()
        story.knows((knows ?? whole).map { ($0.0, $0.1) })
        try tell(&story)
        let fields: [String: JSON] = [
            "writer": .string((writer ?? alice).user.recordName), "policy": .string(policy), "atomic": .bool(atomic),
            "items": .array(items), "steps": .array(story.steps),
        ]
        if isValid {
            group.valid(comment, fields, flag: "Rule")
        } else {
            group.invalid(comment, fields, flag: "Rule")
        }
    }
}
