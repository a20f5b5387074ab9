import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension MoveVectors: Construction {
    static let construction = VectorConstruction.moves
    static let algorithm = "Successors, and records carried over into another scope or epoch"
    static let header = [
        "Successor: the statement `encoded`, which has `hash`, follows `predecessor`.",
        "Later: the statement `encoded`, which has `hash`, may be what the record has become since `seen`, which has `seenHash` and lies further back than its predecessor.",
        "Rewrap: `record` (a signed statement with all its `fields`' digests, whose record key opens under `key` in `context`) is carried over by the account `seed` at `clientTime` into the roster that `into` has (its present head), under `newKey` in `newContext`. With `random` drawn in order this gives the statement `encoded` and `signature` exactly.",
        SharedWorld.header,
        "Verification: as in statements.json, in the roster of `scope` and `entries`; `migrating` says that an earlier life of a share is taken too.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        try successors(into: &builder)
        try later(into: &builder)
        try rewraps(into: &builder)
        try lives(into: &builder)
    }

    // MARK: Successors

    private static func successors(into builder: inout VectorBuilder) throws {
        let world = try SharedWorld()
        let first = world.zone.statement(by: world.alice)
        func following(_ statement: Statement, _ change: (inout Statement) -> Void = { _ in }) -> Statement {
            var next = statement
            next.kind = .save
            next.wrappedKey = [UInt8](repeating: 6, count: Statement.wrappedKeyBytes)
            next.revision += 1
            next.previous = Statement.hash(statement.canonicalBytes())
            change(&next)
            return next
        }
        func json(_ next: Statement, _ before: Statement) -> [String: JSON] {
            let bytes = next.canonicalBytes()
            return [
                "predecessor": .hex(before.canonicalBytes()), "encoded": .hex(bytes),
                "hash": .hex(Statement.hash(bytes)),
            ]
        }
        let deleted = following(first) {
            $0.kind = .delete
            $0.wrappedKey = []
        }
        let shareScope = world.share.scope.id
        let moved = following(first) {
            $0.author = world.owner.user
            $0.scopeID = shareScope
            $0.formerScope = first.place
        }
        try builder.group("Successor") { group in
            group.valid("a second save", json(following(first), first), flag: "Rule")
            group.valid(
                "by another author", json(following(first) { $0.author = world.carol.user }, first), flag: "Rule")
            group.valid("a deletion", json(deleted, first), flag: "Rule")
            group.valid(
                "made again after its deletion, as another type by somebody else",
                json(
                    following(deleted) {
                        $0.recordType = "Task"
                        $0.author = world.carol.user
                        $0.creator = world.carol.user
                    }, deleted), flag: "Rule")
            group.valid("moved into another scope", json(moved, first), flag: "Rule")
            group.valid(
                "moved into the next life of its scope",
                json(
                    following(first) {
                        $0.scopeIncarnation = 2
                        $0.formerScope = first.place
                    }, first), flag: "Rule")
            func refused(_ comment: String, of before: Statement? = nil, _ change: (inout Statement) -> Void) {
                group.invalid(comment, json(following(before ?? first, change), before ?? first), flag: "Rule")
            }
            refused("an older head than before") {
                $0.rosterSequence -= 1
                $0.rosterHead = .zero
            }
            refused("a revision left out") { $0.revision += 1 }
            refused("the same revision with a predecessor") {
                $0.revision = 2
                $0.previous = GrantHash.of([1])
            }
            refused("another record") { $0.recordName = "Note-2" }
            refused("another zone") { $0.zoneName = "Other" }
            refused("another owner") { $0.owner = world.alice.user }
            refused("another container") { $0.container = "com.example.other" }
            refused("another environment") { $0.environment = .development }
            refused("another life of the zone") { $0.zoneIncarnation = 2 }
            refused("another type") { $0.recordType = "Task" }
            refused("another creator") { $0.creator = world.carol.user }
            refused("made again, in the name of the creator before", of: deleted) { $0.author = world.carol.user }
            refused("deleted again, as another type", of: deleted) {
                $0.kind = .delete
                $0.wrappedKey = []
                $0.recordType = "Task"
            }
            refused("another scope without naming the one before") { $0.scopeID = shareScope }
            refused("another scope, naming a third one") {
                $0.scopeID = shareScope
                $0.formerScope = .init(scopeID: .zero, incarnation: 1)
            }
            refused("a former scope without having moved") {
                $0.formerScope = .init(scopeID: shareScope, incarnation: 1)
            }
        }
    }

    private static func later(into builder: inout VectorBuilder) throws {
        let world = try SharedWorld()
        let seen = world.zone.statement(by: world.alice)
        try builder.group("Later") { group in
            func fields(_ change: (inout Statement) -> Void) -> [String: JSON] {
                var next = seen
                next.revision = 5
                next.previous = GrantHash.of([5])
                next.author = world.carol.user
                change(&next)
                let bytes = next.canonicalBytes()
                let seenBytes = seen.canonicalBytes()
                return [
                    "seen": .hex(seenBytes), "seenHash": .hex(Statement.hash(seenBytes)), "encoded": .hex(bytes),
                    "hash": .hex(Statement.hash(bytes)),
                ]
            }
            let shareScope = world.share.scope.id
            group.valid("some revisions on, by another author", fields { _ in }, flag: "Rule")
            group.valid(
                "made again in between, as another type",
                fields {
                    $0.recordType = "Task"
                    $0.creator = world.carol.user
                }, flag: "Rule")
            group.valid(
                "in another scope, by the owner",
                fields {
                    $0.scopeID = shareScope
                    $0.author = world.owner.user
                }, flag: "Rule")
            group.invalid("in another scope, by somebody else", fields { $0.scopeID = shareScope }, flag: "Rule")
            group.invalid(
                "in another life of its scope, by somebody else", fields { $0.scopeIncarnation = 2 }, flag: "Rule")
            group.invalid("citing an older head", fields { $0.rosterSequence -= 1 }, flag: "Rule")
            group.invalid("of another record", fields { $0.recordName = "Note-2" }, flag: "Rule")
            group.invalid("of another life of the zone", fields { $0.zoneIncarnation = 2 }, flag: "Rule")
            group.invalid(
                "an older revision",
                fields {
                    $0.revision = 1
                    $0.previous = .zero
                }, flag: "Rule")
        }
    }

    // MARK: Rewrapping

    private static func rewraps(into builder: inout VectorBuilder) throws {
        let world = try SharedWorld()
        let (zone, share) = (world.zone, world.share)
        var statement = zone.statement(by: world.alice)
        statement.wrappedKey = []
        var random = RecordingRandom("before the move")
        let draft = RecordDraft(
            statement: statement, recordKey: nil,
            fields: [("body", .encrypted(.string("Dear diary"))), ("zip", .plain(.string("10115")))])
        let (records, signature) = try RecordSealer.seal(
            [draft], epochKey: zone.keys[0], signingKey: world.alice.keys.signingKey, random: &random)
        let record = records[0]
        let digests = record.fields.map { FieldDigest(name: $0.name, digest: $0.digest) }
        var verifier = StatementVerifier(roster: zone.roster)
        let proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
        let verified = try verifier.verify(record.statementBytes, proof: proof, recordName: nil)

        try builder.group("Rewrap", shared: world.shared) { group in
            func fields(_ into: VectorZone, named name: String) throws -> [String: JSON] {
                var random = RecordingRandom("the move")
                let draft = try RecordDraft(
                    rewrapping: verified, fields: digests, recordKey: record.recordKey, into: into.roster,
                    by: world.owner.user,
                    clientTime: VectorZone.time + 1)
                let (moved, signature) = try RecordSealer.seal(
                    [draft], epochKey: into.keys[0], signingKey: world.owner.keys.signingKey, random: &random)
                return [
                    "record": .object([
                        "statement": .hex(record.statementBytes), "proof": .proof(proof), "roster": .string("zone"),
                    ]),
                    "fields": .array(digests.map { .object(["name": .string($0.name), "digest": .hex($0.digest)]) }),
                    "context": .context(zone.keys[0].context), "key": .hex([UInt8](repeating: 0x50, count: 32)),
                    "seed": .hex(world.owner.seed.bytes),
                    "clientTime": .number(VectorZone.time + 1), "into": .string(name),
                    "newContext": .context(into.keys[0].context),
                    "newKey": .hex([UInt8](repeating: 0x50, count: 32)), "random": .hex(random.drawn),
                    "encoded": .hex(moved[0].statementBytes),
                    "signature": .hex(signature),
                ]
            }
            group.valid("into a share of the zone", try fields(share, named: "share"))
            group.altered(
                "a field left out",
                ["fields": .array([.object(["name": .string("body"), "digest": .hex(digests[0].digest)])])])
            group.altered("another record key's wrap", ["key": .hex([UInt8](repeating: 1, count: 32))])
            group.valid("in its own scope", try fields(zone, named: "zone"))
        }
    }

    // MARK: Lives

    private static func lives(into builder: inout VectorBuilder) throws {
        var share = try VectorZone(share: "Share-1")
        let owner = share.owner
        let alice = try VectorPerson(2)
        try share.join(alice, 1)
        func json(_ statement: Statement, by author: VectorPerson, migrating: Bool) -> [String: JSON] {
            let bytes = statement.canonicalBytes()
            let signature = author.keys.signingKey.sign(
                StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
            return [
                "encoded": .hex(bytes), "recordName": .string(statement.recordName), "migrating": .bool(migrating),
                "proof": .proof(StatementProof(signature: signature, leafCount: 1, index: 0, path: [])),
            ]
        }
        func shared(_ log: VectorZone, _ state: String) -> [String: JSON] {
            ["scope": .scope(log.scope), "entries": .entries(log.entries), "state": .string(state)]
        }
        let old = share.statement(by: alice)
        var moved = share.statement(by: owner)
        moved.revision = 2
        moved.previous = GrantHash.of([1])
        moved.formerScope = .init(scopeID: GrantHash.of([2]), incarnation: 1)
        var byAlice = moved
        (byAlice.author, byAlice.creator) = (alice.user, alice.user)
        var shareRecord = share.statement("Share-1", by: owner)
        shareRecord.recordType = Names.shareType
        var forged = share.statement("Share-1", by: alice)
        forged.recordType = Names.shareType
        try builder.group("Verification", shared: shared(share, "open, Alice may write")) { group in
            group.valid("a record moved by the owner", json(moved, by: owner, migrating: false), flag: "Rule")
            group.invalid("a record moved by somebody else", json(byAlice, by: alice, migrating: false), flag: "Rule")
            group.valid("the share's record by the owner", json(shareRecord, by: owner, migrating: false), flag: "Rule")
            group.invalid(
                "the share's record by somebody who may write", json(forged, by: alice, migrating: false), flag: "Rule")
        }
        var promoted = share
        try promoted.append(by: owner, [.setRole(alice.user, .administrator)])
        try builder.group("Verification", shared: shared(promoted, "Alice is an administrator")) { group in
            var byAdministrator = promoted.statement("Share-1", by: alice)
            byAdministrator.recordType = Names.shareType
            group.valid(
                "the share's record by an administrator", json(byAdministrator, by: alice, migrating: false),
                flag: "Rule")
            group.invalid(
                "the share's record from before it was one", json(forged, by: alice, migrating: false), flag: "Rule")
        }
        var zoneShare = share.statement(Names.zoneWideShare, by: alice)
        zoneShare.recordType = "Note"
        try builder.group("Verification", shared: shared(share, "open, Alice may write")) { group in
            var underItsName = share.statement("Share-1", by: alice)
            underItsName.recordType = "Note"
            group.invalid(
                "a record under the share record's name by somebody who may write",
                json(underItsName, by: alice, migrating: false), flag: "Rule")
            group.invalid(
                "a record of a share's reserved name by somebody who may write",
                json(zoneShare, by: alice, migrating: false), flag: "Rule")
        }
        let newAlice = try VectorPerson(6, after: alice)
        var renewed = share
        try renewed.append(by: alice, [newAlice.newGeneration], rotating: true)
        try builder.group("Verification", shared: shared(renewed, "Alice has new keys")) { group in
            group.valid(
                "what she signed with the old ones, citing the head of then", json(old, by: alice, migrating: false),
                flag: "Rule")
            group.invalid(
                "what she signed with the new ones, citing the head of then", json(old, by: newAlice, migrating: false),
                flag: "Rule")
            let new = renewed.statement(by: newAlice)
            group.valid("what she signed with the new ones", json(new, by: newAlice, migrating: false), flag: "Rule")
            group.invalid(
                "what she signed with the old ones, citing the head of now", json(new, by: alice, migrating: false),
                flag: "Rule")
        }
        var closed = share
        try closed.append(by: owner, [.close])
        try builder.group("Verification", shared: shared(closed, "closed")) { group in
            group.valid("what was written before the close", json(old, by: alice, migrating: false), flag: "Rule")
            group.invalid(
                "what cites the close", json(closed.statement(by: alice), by: alice, migrating: true), flag: "Rule")
        }
        var reopened = closed
        try reopened.append(
            VectorZone.opening(
                closed.scope, owner: owner, following: closed.roster, incarnations: Incarnations(zone: 1, scope: 2),
                root: "Root"
            ).entry, by: owner)
        try builder.group("Verification", shared: shared(reopened, "opened again in the same life of the zone")) {
            group in
            group.invalid("what an earlier life of the share has", json(old, by: alice, migrating: false), flag: "Rule")
            group.valid(
                "what an earlier life of the share has, for the owner to carry over",
                json(old, by: alice, migrating: true), flag: "Rule")
        }
        var later = closed
        try later.append(
            VectorZone.opening(
                closed.scope, owner: owner, following: closed.roster, incarnations: Incarnations(zone: 2, scope: 2),
                root: "Root"
            ).entry, by: owner)
        try builder.group("Verification", shared: shared(later, "opened again in another life of the zone")) { group in
            group.invalid("what another life of the zone has", json(old, by: alice, migrating: true), flag: "Rule")
        }
    }
}
