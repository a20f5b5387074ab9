import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// A zone whose owner is Ann, with two shares in it. In the zone Alice writes, Carol reads, and Dora wrote until she
/// was removed, with which the second epoch began; in the first share Alice and Bob write, in the other one Alice.
struct RecordStories {
    let world: SharedWorld
    let dora: VectorPerson
    /// The zone's entry before Dora was removed.
    let before: UInt64
    /// What a deletion covers that takes nothing along.
    private let nothing: Digest
    var zone: VectorZone { world.zone }
    var share: VectorZone { world.share }
    var other: VectorZone { world.other }
    var owner: VectorPerson { world.owner }
    var alice: VectorPerson { world.alice }
    var bob: VectorPerson { world.bob }
    var carol: VectorPerson { world.carol }

    static let everything = ["zone", "share", "other"]

    init() throws {
        let (alice, bob, carol) = (try VectorPerson(2), try VectorPerson(3), try VectorPerson(4))
        dora = try VectorPerson(5)
        nothing = try TakenRecords([]).digest
        var zone = try VectorZone()
        try zone.join(alice, 1)
        try zone.join(carol, 2, .readOnly)
        try zone.join(dora, 3)
        before = zone.roster.sequence
        try zone.append(by: zone.owner, [.remove(dora.user)], rotating: true)
        var share = try VectorZone(share: "Share-1")
        try share.join(alice, 1)
        try share.join(bob, 2)
        var other = try VectorZone(share: "Share-2")
        try other.join(alice, 1)
        world = SharedWorld(zone: zone, share: share, other: other, alice: alice, bob: bob, carol: carol)
    }

    func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Records", shared: world.shared) { group in
            revisions(&group)
            kinds(&group)
            moves(&group)
            rights(&group)
            epochs(&group)
            absences(&group)
            try goneAlong(&group)
        }
    }

    // MARK: Statements

    func hash(_ statement: Statement) -> Digest { Statement.hash(statement.canonicalBytes()) }

    /// What follows a statement, by its author where nobody else is named.
    func after(_ last: Statement, by author: VectorPerson? = nil, _ change: (inout Statement) -> Void = { _ in })
        -> Statement
    {
        var next = last
        next.kind = .save
        next.wrappedKey = [UInt8](repeating: 6, count: Statement.wrappedKeyBytes)
        next.formerScope = nil
        next.revision += 1
        next.previous = hash(last)
        if let author { next.author = author.user }
        change(&next)
        return next
    }

    func deletion(_ last: Statement, by author: VectorPerson) -> Statement {
        after(last, by: author) {
            $0.kind = .delete
            $0.wrappedKey = []
            $0.fieldsDigest = nothing
        }
    }

    /// Signed under an older head of its scope's roster.
    func at(_ sequence: UInt64, _ statement: Statement) -> Statement {
        let log = [share, other].first { $0.scope.id == statement.scopeID } ?? zone
        var statement = statement
        statement.rosterSequence = sequence
        statement.rosterHead = log.roster.hashes[Int(sequence)]
        statement.epoch = log.roster.epochInForce(at: sequence)?.number ?? 0
        return statement
    }

    /// In the place of another log's record, as its owner moves it.
    func moved(_ last: Statement, into log: VectorZone, by author: VectorPerson? = nil) -> Statement {
        after(last, by: author ?? owner) {
            let place = log.statement(by: owner)
            ($0.scopeID, $0.scopeIncarnation, $0.epoch) = (place.scopeID, place.scopeIncarnation, place.epoch)
            ($0.rosterSequence, $0.rosterHead) = (place.rosterSequence, place.rosterHead)
            $0.formerScope = last.place
        }
    }

    func signed(_ statement: Statement, by signer: VectorPerson? = nil) -> JSON {
        let people = [owner, alice, bob, carol, dora]
        let author = signer ?? people.first { $0.user == statement.author } ?? owner
        let bytes = statement.canonicalBytes()
        let signature = author.keys.signingKey.sign(
            StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
        return .object([
            "statement": .hex(bytes),
            "proof": .proof(StatementProof(signature: signature, leafCount: 1, index: 0, path: [])),
        ])
    }

    func item(_ statement: Statement, _ more: RecordStory.Item = [:], by signer: VectorPerson? = nil)
        -> RecordStory.Item
    {
        more.merging(["record": signed(statement, by: signer)]) { $1 }
    }

    // MARK: Tests

    func story(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, _ isValid: Bool, to reader: VectorPerson? = nil,
        reads: [String] = RecordStories.everything, _ tell: (inout RecordStory) -> Void
    ) {
        var story = RecordStory()
        story.reads(reads)
        tell(&story)
        let fields: [String: JSON] = [
            "reader": .string((reader ?? alice).user.recordName), "steps": .array(story.steps),
        ]
        if isValid {
            group.valid(comment, fields, flag: "Rule")
        } else {
            group.invalid(comment, fields, flag: "Rule")
        }
    }
}
