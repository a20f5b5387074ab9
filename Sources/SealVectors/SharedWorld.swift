import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// A zone and a hierarchical share in it, for what concerns both: Alice may write in the zone and in the share, Bob in
/// the share alone, Carol in the zone alone.
struct SharedWorld {
    let zone: VectorZone
    let share: VectorZone
    /// Another zone of the same owner, or another share.
    let other: VectorZone
    let alice, bob, carol: VectorPerson
    var owner: VectorPerson { zone.owner }

    static let header =
        "The group's `rosters` are those of a `zone`, of a hierarchical `share` in it (root record `Root`, share record `Share-1`), and of an `other` zone. A signed statement is given as `statement`, `proof` and the `roster` that it verifies in."

    init() throws {
        (alice, bob, carol) = (try VectorPerson(2), try VectorPerson(3), try VectorPerson(4))
        var zone = try VectorZone()
        try zone.join(alice, 1)
        try zone.join(carol, 2)
        var share = try VectorZone(share: "Share-1")
        try share.join(alice, 1)
        try share.join(bob, 2)
        (self.zone, self.share) = (zone, share)
        other = try VectorZone(zoneName: "Other")
    }

    init(
        zone: VectorZone, share: VectorZone, other: VectorZone, alice: VectorPerson, bob: VectorPerson,
        carol: VectorPerson
    ) {
        (self.zone, self.share, self.other) = (zone, share, other)
        (self.alice, self.bob, self.carol) = (alice, bob, carol)
    }

    var shared: [String: JSON] {
        func json(_ log: VectorZone) -> JSON {
            .object(["scope": .scope(log.scope), "entries": .entries(log.entries)])
        }
        return ["rosters": .object(["zone": json(zone), "share": json(share), "other": json(other)])]
    }

    /// A statement of the roster that its scope names, alone in its save.
    func signed(_ statement: Statement, by author: VectorPerson) -> JSON {
        let bytes = statement.canonicalBytes()
        let signature = author.keys.signingKey.sign(
            StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
        return .object([
            "statement": .hex(bytes),
            "proof": .proof(StatementProof(signature: signature, leafCount: 1, index: 0, path: [])),
            "roster": .string(
                statement.scopeID == share.scope.id ? "share" : statement.scopeID == other.scope.id ? "other" : "zone"),
        ])
    }
}

extension PlacementVectors: Construction {
    static let construction = VectorConstruction.placement
    static let algorithm = "Whether a record is where its parent says"
    static let header = [
        SharedWorld.header,
        "Placement: `record` with its `parent` (absent where it is not at hand) is in place, or held back: `inPlace`.",
        "Cycles: the `records` of one answer that are their own ancestors, each circle from the name that is first by its bytes on to its parent: `cycles`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let world = try SharedWorld()
        try builder.group("Placement", shared: world.shared) { group in
            func statement(
                _ name: String, in log: VectorZone, parent: String? = nil, share: String? = nil, type: String = "Note"
            ) -> Statement {
                var statement = log.statement(name, by: world.owner)
                statement.parent = parent
                statement.share = share
                statement.recordType = type
                return statement
            }
            func placed(_ comment: String, _ inPlace: Bool, _ record: Statement, parent: Statement? = nil) {
                var fields: [String: JSON] = [
                    "record": world.signed(record, by: world.owner), "inPlace": .bool(inPlace),
                ]
                if let parent { fields["parent"] = world.signed(parent, by: world.owner) }
                group.valid(comment, fields, flag: "Rule")
            }
            let (zone, share) = (world.zone, world.share)
            let root = statement("Root", in: share, share: "Share-1")
            placed("no parent, in the zone", true, statement("Note-1", in: zone))
            placed(
                "a parent in the zone", true, statement("Note-1", in: zone, parent: "Folder"),
                parent: statement("Folder", in: zone))
            placed("a parent that is not at hand", false, statement("Note-1", in: zone, parent: "Folder"))
            placed(
                "another parent than it names", false, statement("Note-1", in: zone, parent: "Folder"),
                parent: statement("Other", in: zone))
            placed(
                "in the zone, with a parent in the share", false, statement("Note-1", in: zone, parent: "Root"),
                parent: root)
            placed("the root", true, root)
            placed("a root that does not name its share", false, statement("Root", in: share))
            placed(
                "the root below a record of the zone", true,
                statement("Root", in: share, parent: "Folder", share: "Share-1"), parent: statement("Folder", in: zone))
            placed("a root that names another share", false, statement("Root", in: share, share: "Share-2"))
            placed(
                "another record that names the share as its own", false,
                statement("Note-1", in: share, share: "Share-1"))
            placed("another record of the share's type", false, statement("Share-2", in: share, type: "cloudkit.share"))
            placed("the share's record", true, statement("Share-1", in: share, type: "cloudkit.share"))
            placed("a record of another type under the share's name", false, statement("Share-1", in: share))
            placed("a child of the root", true, statement("Note-1", in: share, parent: "Root"), parent: root)
            placed("in the share, without a parent", false, statement("Note-1", in: share))
            placed(
                "in the share, with a parent in the zone", false, statement("Note-1", in: share, parent: "Folder"),
                parent: statement("Folder", in: zone))
            var deleted = statement("Folder", in: zone)
            deleted.kind = .delete
            deleted.wrappedKey = []
            placed("a parent that is deleted", false, statement("Note-1", in: zone, parent: "Folder"), parent: deleted)
        }
        try cycles(into: &builder, world)
    }

    private static func cycles(into builder: inout VectorBuilder, _ world: SharedWorld) throws {
        try builder.group("Cycles", shared: world.shared) { group in
            let (zone, share) = (world.zone, world.share)
            func record(_ name: String, _ parent: String?, in log: VectorZone, share: String? = nil) -> JSON {
                var statement = log.statement(name, by: world.owner)
                statement.parent = parent
                statement.share = share
                return world.signed(statement, by: world.owner)
            }
            func answer(_ comment: String, _ records: [JSON], _ cycles: [[String]]) {
                group.valid(
                    comment,
                    ["records": .array(records), "cycles": .array(cycles.map { .array($0.map { .string($0) }) })],
                    flag: "Rule")
            }
            answer("a chain", [record("C", "B", in: zone), record("B", "A", in: zone), record("A", nil, in: zone)], [])
            answer(
                "two children of one parent that is not in the answer",
                [record("B", "A", in: zone), record("C", "A", in: zone)], [])
            answer(
                "two records, each the other's parent", [record("B", "A", in: zone), record("A", "B", in: zone)],
                [["A", "B"]])
            answer(
                "three, in the share",
                [record("A", "C", in: share), record("B", "A", in: share), record("C", "B", in: share)],
                [["A", "C", "B"]])
            answer(
                "one below a circle is not in it",
                [record("D", "A", in: zone), record("B", "A", in: zone), record("A", "B", in: zone)], [["A", "B"]])
            answer(
                "two circles",
                [
                    record("D", "C", in: zone), record("C", "D", in: zone), record("B", "A", in: zone),
                    record("A", "B", in: zone),
                ],
                [["A", "B"], ["C", "D"]])
            answer(
                "a root below its own child",
                [record("Root", "Note-1", in: share, share: "Share-1"), record("Note-1", "Root", in: share)],
                [["Note-1", "Root"]])
            answer(
                "a root below a record of the zone",
                [record("Root", "A", in: share, share: "Share-1"), record("A", nil, in: zone)], [])
            answer(
                "through two scopes",
                [
                    record("Root", "A", in: share, share: "Share-1"), record("Note-1", "Root", in: share),
                    record("A", "Note-1", in: zone),
                ],
                [["A", "Note-1", "Root"]])
        }
    }
}
