import SealPrimitives
import SealStatements
import SealVectorChecks

/// The zone and shares of `RecordStories`, and whole answers in them.
struct ReadingStories {
    let records: RecordStories
    var zone: VectorZone { records.zone }
    var share: VectorZone { records.share }
    var owner: VectorPerson { records.owner }
    var alice: VectorPerson { records.alice }
    var bob: VectorPerson { records.bob }

    func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Reading", shared: records.world.shared) { group in
            try fields(&group)
            try beside(&group)
            try places(&group)
            try cycles(&group)
            try along(&group)
            try nothing(&group)
        }
        try builder.group("Feed") { feed(&$0) }
    }

    // MARK: Records

    typealias Item = RecordStory.Item

    /// With these plain fields, in their order.
    func written(_ statement: Statement, _ fields: [(String, Value)]) throws -> Statement {
        var statement = statement
        statement.fieldsDigest = try FieldSet.digest(
            fields.map { FieldDigest(name: $0.0, digest: try StoredField.plain($0.1).digest(name: $0.0)) })
        return statement
    }

    func plain(_ name: String, _ value: Value) throws -> JSON {
        .object(["name": .string(name), "value": .hex(try value.canonicalBytes())])
    }

    func digest(_ name: String, of value: Value) throws -> JSON {
        .object(["name": .string(name), "digest": .hex(try StoredField.plain(value).digest(name: name))])
    }

    /// As its statement says, but for what is named otherwise.
    func item(
        _ statement: Statement, _ fields: [JSON]? = nil, name: String? = nil, type: String? = nil,
        deleted: Bool? = nil, departed: Bool = false, beside more: Item = [:]
    ) -> Item {
        var shown: Item = [
            "recordName": .string(name ?? statement.recordName), "recordType": .string(type ?? statement.recordType),
        ]
        if deleted ?? (statement.kind == .delete) { shown["deleted"] = .bool(true) }
        if departed { shown["departed"] = .bool(true) }
        var item: Item = ["record": records.signed(statement), "shown": .object(shown)]
        if let fields { item["fields"] = .array(fields) }
        return item.merging(more) { $1 }
    }

    // MARK: Tests

    func story(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, _ isValid: Bool, to reader: VectorPerson? = nil,
        reads: [String] = RecordStories.everything, _ tell: (inout ReadingStory) throws -> Void
    ) throws {
        var story = ReadingStory(isOfWholeZone: reads.contains("zone"))
        try tell(&story)
        let fields: [String: JSON] = [
            "reader": .string((reader ?? alice).user.recordName), "reads": .array(reads.map { .string($0) }),
            "steps": .array(story.steps),
        ]
        if isValid {
            group.valid(comment, fields, flag: "Rule")
        } else {
            group.invalid(comment, fields, flag: "Rule")
        }
    }
}

/// The steps of one test of a reader of answers, as they are told.
struct ReadingStory {
    /// To whom nothing is held back.
    let isOfWholeZone: Bool
    private(set) var steps: [JSON] = []

    init(isOfWholeZone: Bool) { self.isOfWholeZone = isOfWholeZone }

    typealias Item = RecordStory.Item

    mutating func answer(
        _ items: [Item], _ verdicts: [String], desiredKeys: [String]? = nil, asksFor: [String] = [],
        found: [Item]? = nil, heldBack: [String] = [], cycles: [[String]] = []
    ) {
        var step: Item = [
            "answer": .array(items.map { .object($0) }), "verdicts": ReadingStory.list(verdicts),
            "cycles": .array(cycles.map { ReadingStory.list($0) }),
        ]
        if let desiredKeys { step["desiredKeys"] = ReadingStory.list(desiredKeys) }
        if !isOfWholeZone {
            step["asksFor"] = ReadingStory.list(asksFor)
            step["heldBack"] = ReadingStory.list(heldBack)
        }
        if let found { step["found"] = .array(found.map { .object($0) }) }
        steps.append(.object(step))
    }

    mutating func answer(_ item: Item, _ verdict: String, desiredKeys: [String]? = nil) {
        answer([item], [verdict], desiredKeys: desiredKeys)
    }

    mutating func nothing(_ name: String, says: String, _ verdict: String) {
        steps.append(.object(["nothing": .string(name), "says": .string(says), "verdict": .string(verdict)]))
    }

    /// - Parameter digest: what the deletion then covers; nil where it is not signed.
    mutating func taken(_ target: Statement, _ items: [Item], _ verdict: String, digest: Digest? = nil) {
        var step: Item = [
            "target": .hex(target.canonicalBytes()), "taken": .array(items.map { .object($0) }),
            "verdict": .string(verdict),
        ]
        if let digest { step["digest"] = .hex(digest) }
        steps.append(.object(step))
    }

    private static func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
