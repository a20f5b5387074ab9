import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension PublicVectors: Construction {
    static let construction = VectorConstruction.publicDatabase
    static let algorithm = "The public database: statements and assets"
    static let header = [
        "Sign: `drafts` (statements without salt and fields' digest, and their fields' digests), signed by the account `seed`'s key in `container` with `random` drawn in order, give `statements` and `signature` exactly.",
        "Verification: `encoded` with `proof`, asked for as `recordName` in `container` and `environment`, by the person of `chain`.",
        "Asset: the bytes (`count` bytes `byte`) have `root`; as the field `name` they have `digest`.",
    ]

    private static func statement(_ record: String, by author: VectorPerson) -> Statement {
        Statement(
            kind: .save, container: VectorZone.container, environment: .production, owner: UserID(.zero),
            zoneName: Names.defaultZone,
            zoneIncarnation: 1, recordName: record, recordType: "Place", creator: author.user, author: author.user,
            clientTime: VectorZone.time, revision: 1, previous: .zero, scopeID: .zero, scopeIncarnation: 0, epoch: 0,
            wrappedKey: [],
            rosterSequence: 0, rosterHead: .zero, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    static func generate(into builder: inout VectorBuilder) throws {
        let alice = try VectorPerson(2)
        let newer = try VectorPerson(6, after: alice)
        let bob = try VectorPerson(3)
        let fields = [FieldDigest(name: "city", digest: try StoredField.plain(.string("Berlin")).digest(name: "city"))]
        let drafts = [statement("Place-1", by: alice), statement("Place-2", by: alice)].map {
            PublicRecords.Draft(statement: $0, fields: fields)
        }
        var random = RecordingRandom("public")
        let (statements, signature) = try PublicRecords.sign(drafts, signingKey: alice.keys.signingKey, random: &random)
        try builder.group("Sign") { group in
            func json(_ statement: Statement) -> JSON {
                .object([
                    "statement": .statement(statement),
                    "fields": .array(fields.map { .object(["name": .string($0.name), "digest": .hex($0.digest)]) }),
                ])
            }
            group.valid(
                "two records",
                [
                    "seed": .hex(alice.seed.bytes), "container": .string(VectorZone.container),
                    "random": .hex(random.drawn),
                    "drafts": .array(drafts.map { json($0.statement) }),
                    "statements": .array(statements.map { .hex($0) }), "signature": .hex(signature),
                ])
            let sealed = try VectorZone(isShared: false).statement(by: alice)
            group.altered("a record of a scope", ["drafts": .array([json(sealed)])])
            group.altered("no record", ["drafts": .array([])])
        }
        try builder.group("Verification") { group in
            func fields(_ statement: Statement, by signer: VectorPerson, chain: VectorPerson? = nil) -> [String: JSON] {
                let bytes = statement.canonicalBytes()
                let message = StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1)
                return [
                    "encoded": .hex(bytes),
                    "proof": .proof(
                        StatementProof(
                            signature: signer.keys.signingKey.sign(message), leafCount: 1, index: 0, path: [])),
                    "recordName": .string("Place-1"), "chain": .chain((chain ?? signer).identity.signed),
                    "container": .string(VectorZone.container),
                    "environment": .string("production"),
                ]
            }
            let good = statement("Place-1", by: alice)
            group.valid("by its author", fields(good, by: alice))
            group.valid("by an earlier generation of its author", fields(good, by: alice, chain: newer))
            group.valid("by a later generation of its author", fields(good, by: newer))
            var deletion = good
            (deletion.kind, deletion.fieldsDigest) = (.delete, TakenRecords.none.digest)
            group.valid("a deletion", fields(deletion, by: alice))
            deletion.fieldsDigest = try TakenRecords([(recordName: "Place-2", hash: deletion.previous)]).digest
            group.invalid("a deletion that takes a record along", fields(deletion, by: alice))
            group.invalid("by somebody else", fields(good, by: bob, chain: alice))
            group.invalid("by somebody else, with that one's identity", fields(good, by: bob))
            group.invalid("by a generation that the chain does not have", fields(good, by: newer, chain: alice))
            func refused(_ comment: String, _ change: (inout Statement) -> Void) {
                var statement = good
                change(&statement)
                group.invalid(comment, fields(statement, by: alice))
            }
            refused("another record") { $0.recordName = "Place-2" }
            refused("another container") { $0.container = "com.example.other" }
            refused("another environment") { $0.environment = .development }
            refused("an owner") { $0.owner = alice.user }
            refused("another zone") { $0.zoneName = "Notes" }
            var own = good
            (own.recordType, own.recordName) = (Names.usersType, alice.user.recordName)
            group.valid(
                "somebody's own record", fields(own, by: alice).merging(["recordName": .string(own.recordName)]) { $1 })
            refused("the record of somebody else's person") { $0.recordType = Names.usersType }
            refused("a share's record") { $0.recordType = Names.shareType }
            refused("in a share") { $0.share = "Share-1" }
            refused("another's creation") { $0.creator = bob.user }
            group.invalid(
                "a record of a scope",
                fields(try VectorZone(isShared: false).statement("Place-1", by: alice), by: alice))
        }
        try builder.group("Asset") { group in
            for count in [0, 1, 65_536, 65_537, 200_000] {
                let leaves = leaves(count: count, byte: 7)
                let asset = PublicAsset(size: UInt64(count), root: try AssetTree.root(leaves))
                group.valid(
                    "\(count) bytes",
                    [
                        "count": .int(count), "byte": .int(7), "root": .hex(asset.root), "name": .string("photo"),
                        "digest": .hex(asset.digest(name: "photo")),
                    ])
            }
        }
    }
}
