import SealPrimitives
import Testing

@testable import SealStatements

/// What a reader checks of a record before it believes a byte of it.
@Suite(.timeLimit(.minutes(60))) struct StatementTests {
    let alice: Person
    var world: World

    init() throws {
        alice = try Person(2)
        world = try World()
        try world.join(alice, seat: Seat(11))
    }

    func statement(_ record: String = "Note-1", by author: Person? = nil) throws -> Statement {
        let author = author ?? alice
        return Statement(
            kind: .save, container: World.container, environment: .production, owner: world.owner.userID,
            zoneName: "Notes",
            zoneIncarnation: 1, recordName: record, recordType: "Note", creator: author.userID, author: author.userID,
            clientTime: 1, revision: 1, previous: .zero, scopeID: world.scope.id, scopeIncarnation: 1,
            epoch: world.roster.currentEpoch.number,
            wrappedKey: [UInt8](repeating: 1, count: Statement.wrappedKeyBytes),
            rosterSequence: world.roster.sequence, rosterHead: world.roster.head, checkpoint: Checkpoint.none,
            parent: nil, share: nil,
            salt: try ID16([UInt8](repeating: 2, count: 16)), fieldsDigest: try FieldSet.digest([]))
    }

    func proof(_ statement: Statement, by key: SigningKey? = nil) throws -> StatementProof {
        let tree = try StatementTree(leaves: [Statement.hash(statement.canonicalBytes())])
        let signature = (key ?? alice.signingKey).sign(StatementTree.signedBytes(root: tree.root, leafCount: 1))
        return StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
    }

    func verify(_ statement: Statement, by key: SigningKey? = nil, asked: String? = "Note-1") throws
        -> VerifiedStatement
    {
        var verifier = StatementVerifier(roster: world.roster)
        return try verifier.verify(statement.canonicalBytes(), proof: proof(statement, by: key), recordName: asked)
    }

    @Test func `A statement of a member who may write verifies`() throws {
        let verified = try verify(statement())
        #expect(verified.statement == (try statement()))
        _ = try verify(statement(by: world.owner), by: world.owner.signingKey)
        _ = try verify(statement(), asked: nil)
    }

    @Test func `A statement about another place is refused, whoever signed it`() throws {
        let wrong: [(Comment, (inout Statement) throws -> Void)] = [
            ("another scope", { $0.scopeID = digest(1) }),
            ("another container", { $0.container = "com.example.other" }),
            ("another environment", { $0.environment = .development }),
            ("another owner", { $0.owner = alice.userID }),
            ("another zone", { $0.zoneName = "Other" }),
            ("another record", { $0.recordName = "Note-2" }),
            ("another's creation", { $0.creator = world.owner.userID }),
        ]
        for (comment, change) in wrong {
            var altered = try statement()
            try change(&altered)
            #expect(throws: SealError.wrongContext, comment) { try verify(altered) }
        }
    }

    @Test mutating func `A statement is judged at the roster head that it cites`() throws {
        var wrong = try statement()
        wrong.rosterSequence += 1
        #expect(throws: SealError.unknownRosterHead, "one that is yet to come") { try verify(wrong) }
        wrong.rosterSequence = .max
        #expect(throws: SealError.unknownRosterHead, "one that never comes") { try verify(wrong) }
        wrong = try statement()
        wrong.rosterHead = digest(1)
        #expect(throws: SealError.unknownRosterHead, "of a fork") { try verify(wrong) }
        wrong.rosterHead = world.roster.hashes[1]
        #expect(throws: SealError.unknownRosterHead, "another entry's hash") { try verify(wrong) }
        wrong = try statement()
        wrong.rosterSequence = 1
        wrong.rosterHead = world.roster.hashes[1]
        #expect(throws: SealError.authorNotPermitted, "from before it was a member") { try verify(wrong) }
    }

    @Test mutating func `The epoch is the one in force at that head`() throws {
        let early = try statement()
        try world.rotate(by: world.owner)
        _ = try verify(early)
        var wrong = try statement()
        wrong.epoch = 0
        #expect(throws: SealError.staleEpoch, "an older one") { try verify(wrong) }
        wrong.epoch = 2
        #expect(throws: SealError.staleEpoch, "one that is yet to come") { try verify(wrong) }
        wrong = early
        wrong.epoch = 1
        #expect(throws: SealError.staleEpoch, "one that opened later") { try verify(wrong) }
        for (zone, scope) in [(2, 1), (1, 2), (0, 0)] as [(UInt32, UInt32)] {
            wrong = try statement()
            wrong.zoneIncarnation = zone
            wrong.scopeIncarnation = scope
            #expect(throws: SealError.staleEpoch, "another life") { try verify(wrong) }
        }
    }

    @Test mutating func `A read-only, removed or closed-out author writes nothing from then on`() throws {
        let early = try statement()
        try world.append(by: world.owner, [.setPermission(alice.userID, .readOnly)], epoch: world.epoch())
        #expect(throws: SealError.authorNotPermitted) { try verify(statement()) }
        try world.append(by: world.owner, [.setPermission(alice.userID, .readWrite)])
        let again = try statement()
        _ = try verify(again)
        try world.append(by: world.owner, [.remove(alice.userID)], epoch: world.epoch(without: [.member(alice.userID)]))
        #expect(throws: SealError.authorNotPermitted) { try verify(statement()) }
        try world.append(by: world.owner, [.close])
        #expect(throws: SealError.authorNotPermitted) {
            try verify(statement(by: world.owner), by: world.owner.signingKey)
        }
        _ = try verify(early)
        _ = try verify(again)
    }

    @Test func `A stranger's statement, or one in another's name, is refused`() throws {
        let stranger = try Person(9)
        #expect(throws: SealError.authorNotPermitted) { try verify(statement(by: stranger), by: stranger.signingKey) }
        #expect(throws: SealError.invalidSignature) { try verify(statement(), by: stranger.signingKey) }
        #expect(throws: SealError.invalidSignature) { try verify(statement(by: world.owner)) }
    }

    @Test func `No altered byte of a statement passes`() throws {
        let good = try statement()
        let bytes = good.canonicalBytes()
        let proof = try proof(good)
        for index in bytes.indices {
            var altered = bytes
            altered[index] ^= 1
            var verifier = StatementVerifier(roster: world.roster)
            #expect(throws: SealError.self) { try verifier.verify(altered, proof: proof, recordName: nil) }
        }
    }

    // MARK: Departures

    /// The owner's, which took a record of this scope elsewhere.
    func departure() throws -> Statement {
        var moved = try statement(by: world.owner)
        moved.scopeID = digest(5)
        moved.scopeIncarnation = 3
        moved.revision = 2
        moved.previous = digest(6)
        moved.formerScope = .init(scopeID: world.scope.id, incarnation: world.roster.incarnations.scope)
        return moved
    }

    func verifyDeparture(
        _ statement: Statement, by key: SigningKey? = nil, asked: String? = "Note-1"
    ) throws -> VerifiedDeparture {
        try StatementVerifier(roster: world.roster).verifyDeparture(
            statement.canonicalBytes(), proof: proof(statement, by: key ?? world.owner.signingKey), recordName: asked)
    }

    @Test mutating func `A departure stands by each key that the owner has had in this life`() throws {
        let good = try departure()
        #expect(try verifyDeparture(good).replacedIn == nil)
        let (first, second) = (world.owner, try Person(world.owner, next: 22))
        let epoch = world.roster.currentEpoch.number
        try world.append(by: first, [.identity([second.chain.signed[1]])], epoch: world.epoch())
        #expect(try verifyDeparture(good, by: first.signingKey).replacedIn == epoch)
        #expect(try verifyDeparture(good, by: second.signingKey).replacedIn == nil)
        #expect(throws: SealError.invalidSignature) { try verifyDeparture(good, by: alice.signingKey) }
        // In a life that began with the newer keys the former ones have taken nothing out.
        try world.append(by: second, [.close])
        try world.append(World.opening(of: world.scope, by: second, following: world.roster), by: second)
        var now = good
        now.zoneIncarnation = world.roster.incarnations.zone
        now.formerScope = .init(scopeID: world.scope.id, incarnation: world.roster.incarnations.scope)
        #expect(throws: SealError.invalidSignature) { try verifyDeparture(now, by: first.signingKey) }
        #expect(try verifyDeparture(now, by: second.signingKey).replacedIn == nil)
    }

    @Test func `A departure is the owner's word on a record of this scope in its present life`() throws {
        let good = try departure()
        #expect(try verifyDeparture(good).statement.statement == good)
        _ = try verifyDeparture(good, asked: nil)
        let wrong: [(Comment, SealError, (inout Statement) throws -> Void)] = [
            (
                "an earlier life of the scope", .staleEpoch,
                { $0.formerScope = .init(scopeID: world.scope.id, incarnation: 0) }
            ),
            (
                "a life that is yet to come", .staleEpoch,
                { $0.formerScope = .init(scopeID: world.scope.id, incarnation: 2) }
            ),
            ("another life of the zone", .staleEpoch, { $0.zoneIncarnation += 1 }),
            ("out of another scope", .wrongContext, { $0.formerScope = .init(scopeID: digest(7), incarnation: 1) }),
            ("out of none", .wrongContext, { $0.formerScope = nil }),
            ("into this very scope", .wrongContext, { $0.scopeID = world.scope.id }),
            ("a member's", .wrongContext, { $0.author = alice.userID }),
            ("another zone's", .wrongContext, { $0.zoneName = "Other" }),
            ("another owner's", .wrongContext, { $0.owner = alice.userID }),
            ("another container's", .wrongContext, { $0.container = "com.example.other" }),
            ("another environment's", .wrongContext, { $0.environment = .development }),
            ("another record's", .wrongContext, { $0.recordName = "Note-2" }),
        ]
        for (comment, error, change) in wrong {
            var altered = try departure()
            try change(&altered)
            #expect(throws: error, comment) { try verifyDeparture(altered) }
        }
        #expect(throws: SealError.invalidSignature, "a member's signature") {
            try verifyDeparture(good, by: alice.signingKey)
        }
    }

    @Test mutating func `What departed from an earlier life of a scope is there again`() throws {
        let before = try departure()
        _ = try verifyDeparture(before)
        try world.append(by: world.owner, [.close])
        try world.append(World.opening(of: world.scope, by: world.owner, following: world.roster), by: world.owner)
        #expect(world.roster.incarnations.scope == 2)
        #expect(throws: SealError.staleEpoch) { try verifyDeparture(before) }
        // The zone's incarnation is the scope's here: of the two each counts.
        var mixed = before
        mixed.zoneIncarnation = 2
        #expect(throws: SealError.staleEpoch) { try verifyDeparture(mixed) }
        var now = try departure()
        now.zoneIncarnation = 2
        _ = try verifyDeparture(now)
    }

    // MARK: The tree

    /// A save of `count` records by Alice.
    func batch(_ count: Int) throws -> (statements: [[UInt8]], tree: StatementTree, signature: [UInt8]) {
        let statements = try (0..<count).map { try statement("Note-\($0)").canonicalBytes() }
        let tree = try StatementTree(leaves: statements.map(Statement.hash))
        let signature = alice.signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: count))
        return (statements, tree, signature)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 33, 400]) func `Each record of a save verifies with its own path`(count: Int)
        throws
    {
        let (statements, tree, signature) = try batch(count)
        var verifier = StatementVerifier(roster: world.roster)
        for (index, bytes) in statements.enumerated() {
            let proof = StatementProof(signature: signature, leafCount: count, index: index, path: tree.path(to: index))
            _ = try verifier.verify(bytes, proof: proof, recordName: "Note-\(index)")
        }
    }

    @Test func `A path, leaf count or index that was altered is refused`() throws {
        let (statements, tree, signature) = try batch(5)
        let path = tree.path(to: 2)
        func refuses(
            _ error: SealError, _ comment: Comment, signature altered: [UInt8]? = nil, leafCount: Int = 5,
            index: Int = 2,
            path alteredPath: [Digest]? = nil, statement: Int = 2
        ) {
            var verifier = StatementVerifier(roster: world.roster)
            let proof = StatementProof(
                signature: altered ?? signature, leafCount: leafCount, index: index, path: alteredPath ?? path)
            #expect(throws: error, comment) {
                try verifier.verify(statements[statement], proof: proof, recordName: nil)
            }
        }
        refuses(.invalidSignature, "another record's path", statement: 3)
        refuses(.invalidSignature, "another index", index: 3)
        refuses(.invalidSignature, "another leaf count of the same shape", leafCount: 6)
        refuses(.invalidProof, "a smaller tree", leafCount: 2, index: 1)
        refuses(.invalidProof, "no leaf", leafCount: 0, index: 0)
        refuses(.invalidProof, "a negative index", index: -1)
        refuses(.invalidProof, "an index past the end", index: 5)
        refuses(.invalidProof, "more leaves than a request carries", leafCount: 401)
        refuses(.invalidProof, "a path cut short", path: [Digest](path.dropLast()))
        refuses(.invalidProof, "a longer path", path: path + [digest(1)])
        refuses(.invalidSignature, "siblings swapped", path: [Digest](path.reversed()))
        for index in path.indices {
            var altered = path
            altered[index] = digest(1)
            refuses(.invalidSignature, "another sibling", path: altered)
        }
        refuses(.invalidSignature, "no signature", signature: [])
        refuses(.invalidSignature, "another signature", signature: alice.signingKey.sign(message: [1]))
    }

    @Test func `A tree has one to four hundred leaves`() {
        #expect(throws: SealError.invalidLength) { try StatementTree(leaves: []) }
        #expect(throws: SealError.invalidLength) { try StatementTree(leaves: [Digest](repeating: .zero, count: 401)) }
    }

    // MARK: Fields

    @Test func `The fields that come are the fields that were signed`() throws {
        let fields = try [("a", Value.int64(1)), ("b", .int64(2)), ("c", .int64(3))].map {
            FieldDigest(name: $0.0, digest: try StoredField.plain($0.1).digest(name: $0.0))
        }
        var signed = try statement()
        signed.fieldsDigest = try FieldSet.digest(fields)
        let verified = try verify(signed)
        try verified.check(fields)
        let wrong: [(Comment, [FieldDigest])] = [
            ("one left out", [fields[0], fields[2]]),
            ("one added", fields + [FieldDigest(name: "d", digest: digest(1))]),
            ("one altered", [fields[0], FieldDigest(name: "b", digest: digest(1)), fields[2]]),
            (
                "two swapped",
                [
                    fields[0], FieldDigest(name: "b", digest: fields[2].digest),
                    FieldDigest(name: "c", digest: fields[1].digest),
                ]
            ),
            ("out of order", [fields[1], fields[0], fields[2]]),
            ("one twice", [fields[0], fields[1], fields[1], fields[2]]),
            ("none", []),
            ("no identifier", [FieldDigest(name: "a b", digest: fields[0].digest)]),
        ]
        for (comment, fields) in wrong {
            #expect(throws: SealError.fieldMismatch, comment) { try verified.check(fields) }
        }
    }

    @Test func `A field's digest binds its name, class, type and bytes`() throws {
        let sealed: [UInt8] = [3, 1, 0, 0, 0, 0, 0, 0, 0]
        let commitment = AssetCommitment(salt: digest(1), chunkCount: 1, root: digest(2), descriptor: [1])
        let digests = try [
            StoredField.plain(.int64(1)).digest(name: "a"),
            StoredField.plain(.int64(1)).digest(name: "b"),
            StoredField.plain(.int64(2)).digest(name: "a"),
            StoredField.encrypted(.type(ValueType(.int64)), sealed: sealed).digest(name: "a"),
            StoredField.encrypted(.type(ValueType(.date)), sealed: sealed).digest(name: "a"),
            StoredField.encrypted(.type(ValueType(.int64, isList: true)), sealed: sealed).digest(name: "a"),
            StoredField.asset(commitment).digest(name: "a"),
            StoredField.asset(AssetCommitment(salt: digest(2), chunkCount: 1, root: digest(2), descriptor: [1])).digest(
                name: "a"),
            StoredField.asset(AssetCommitment(salt: digest(1), chunkCount: 2, root: digest(2), descriptor: [1])).digest(
                name: "a"),
            StoredField.asset(AssetCommitment(salt: digest(1), chunkCount: 1, root: digest(1), descriptor: [1])).digest(
                name: "a"),
            StoredField.asset(AssetCommitment(salt: digest(1), chunkCount: 1, root: digest(2), descriptor: [2])).digest(
                name: "a"),
        ]
        #expect(Set(digests).count == digests.count)
    }

    // MARK: Encoding

    @Test func `A statement has one encoding`() throws {
        let good = try statement()
        let bytes = good.canonicalBytes()
        #expect(try Statement(canonicalBytes: bytes) == good)
        #expect(throws: SealError.malformed, "trailing bytes") { try Statement(canonicalBytes: bytes + [0]) }
        for count in bytes.indices {
            #expect(throws: SealError.self, "cut short") { try Statement(canonicalBytes: [UInt8](bytes.prefix(count))) }
        }
    }

    @Test func `What a statement may not say does not decode`() throws {
        let wrong: [(Comment, SealError, (inout Statement) -> Void)] = [
            ("revision 0", .malformed, { $0.revision = 0 }),
            ("a first revision with a predecessor", .malformed, { $0.previous = digest(1) }),
            ("a later revision without one", .malformed, { $0.revision = 2 }),
            ("a save without a key", .invalidLength, { $0.wrappedKey = [] }),
            ("a deletion with a key", .invalidLength, { $0.kind = .delete }),
            ("a longer key", .invalidLength, { $0.wrappedKey.append(0) }),
            ("no zone", .invalidName, { $0.zoneName = "" }),
            ("no record", .invalidName, { $0.recordName = "" }),
            ("a name that is not ASCII", .invalidName, { $0.recordName = "é" }),
            ("a name too long", .invalidLength, { $0.recordName = String(repeating: "a", count: 256) }),
            ("a type that is no identifier", .invalidName, { $0.recordType = "1" }),
            ("an empty parent", .invalidName, { $0.parent = "" }),
        ]
        for (comment, error, change) in wrong {
            var altered = try statement()
            change(&altered)
            #expect(throws: error, comment) { try Statement(canonicalBytes: altered.canonicalBytes()) }
        }
        var deletion = try statement()
        deletion.kind = .delete
        deletion.wrappedKey = []
        #expect(try Statement(canonicalBytes: deletion.canonicalBytes()) == deletion)
    }
}
