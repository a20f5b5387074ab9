import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension StatementVectors: Construction {
    static let construction = VectorConstruction.statements
    static let algorithm = "Record statements"
    static let header = [
        "In a statement, `formerScope` has `scopeID` and `incarnation`.",
        "Coding: `statement` encodes to `encoded`, whose hash is `hash`; of an invalid test, `encoded` is refused.",
        "Verification: `encoded` with `proof`, asked for as `recordName`, against the roster of the group's `scope` and `entries`. Epoch 1 opens at entry 6, where Alice (author of the valid tests) still may write; at entry 7 she may only read.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        var zone = try VectorZone()
        let alice = try VectorPerson(2)
        let bob = try VectorPerson(3)
        try zone.join(alice, 1)
        try zone.join(bob, 2, .readOnly)
        let early = zone.statement(by: alice)
        try zone.append(by: zone.owner, [], rotating: true)
        let good = zone.statement(by: alice)
        let byBob = zone.statement(by: bob)
        try zone.append(by: zone.owner, [.setPermission(alice.user, .readOnly)], rotating: true)

        try builder.group("Coding") { group in
            var deletion = good
            deletion.kind = .delete
            deletion.wrappedKey = []
            var later = good
            later.revision = 2
            later.previous = GrantHash.of([1])
            later.parent = "Folder-1"
            later.share = "Share-1"
            var moved = later
            moved.formerScope = .init(scopeID: GrantHash.of([7]), incarnation: 3)
            moved.isKeyCarried = true
            var open = good
            (open.scopeID, open.scopeIncarnation, open.epoch, open.wrappedKey) = (.zero, 0, 0, [])
            (open.rosterSequence, open.rosterHead) = (0, .zero)
            var pointed = good
            pointed.checkpoint = GrantHash.of([9])
            var openDeletion = open
            openDeletion.kind = .delete
            for (comment, statement) in [
                ("a first save", good), ("a later save with parent and share", later), ("a deletion", deletion),
                ("a move", moved),
                ("with a checkpoint", pointed), ("of the public database", open),
                ("a deletion in the public database", openDeletion),
            ] {
                let bytes = statement.canonicalBytes()
                group.valid(
                    comment,
                    ["statement": .statement(statement), "encoded": .hex(bytes), "hash": .hex(Statement.hash(bytes))])
            }
            func refused(_ comment: String, _ change: (inout Statement) -> Void) {
                var statement = good
                change(&statement)
                group.invalid(comment, ["encoded": .hex(statement.canonicalBytes())])
            }
            refused("revision 0") {
                $0.revision = 0
                $0.previous = GrantHash.of([1])
            }
            refused("a revision above the limit") {
                $0.revision = 1 << 62
                $0.previous = GrantHash.of([1])
            }
            refused("its own parent") { $0.parent = $0.recordName }
            refused("a first save with a key from before") { $0.isKeyCarried = true }
            refused("a deletion with a key from before") {
                $0 = deletion
                $0.revision = 2
                $0.previous = GrantHash.of([1])
                $0.isKeyCarried = true
            }
            refused("a first save that has moved") { $0.formerScope = moved.formerScope }
            refused("a deletion that has moved") {
                $0 = moved
                $0.kind = .delete
                $0.wrappedKey = []
            }
            refused("moved to where it was") {
                $0 = moved
                $0.formerScope = $0.place
            }
            refused("moved within the public database") {
                $0 = open
                $0.revision = 2
                $0.previous = GrantHash.of([1])
                $0.formerScope = moved.formerScope
            }
            refused("a wrapped key in the public database") {
                $0 = open
                $0.wrappedKey = good.wrappedKey
            }
            refused("an epoch in the public database") {
                $0 = open
                $0.epoch = 1
            }
            refused("a roster's head in the public database") {
                $0 = open
                $0.rosterHead = good.rosterHead
            }
            refused("another life of the public database") {
                $0 = open
                $0.zoneIncarnation = 2
            }
            refused("a first revision with a predecessor") { $0.previous = GrantHash.of([1]) }
            refused("a later revision without one") { $0.revision = 2 }
            refused("a save without a key") { $0.wrappedKey = [] }
            refused("a deletion with a key") { $0.kind = .delete }
            refused("a key of another length") { $0.wrappedKey.append(0) }
            refused("an empty zone name") { $0.zoneName = "" }
            refused("a record name that is not ASCII") { $0.recordName = "é" }
            refused("a record name of 256 bytes") { $0.recordName = String(repeating: "a", count: 256) }
            refused("a type that is no identifier") { $0.recordType = "1" }
            group.invalid("a trailing byte", ["encoded": .hex(good.canonicalBytes() + [0])])
            group.invalid("cut short", ["encoded": .hex([UInt8](good.canonicalBytes().dropLast()))])
            group.invalid("an unknown kind", ["encoded": .hex([3] + good.canonicalBytes().dropFirst())])
        }
        func fields(_ statement: Statement, by signer: VectorPerson) throws -> [String: JSON] {
            let bytes = statement.canonicalBytes()
            let others = [GrantHash.of([1]), GrantHash.of([2])]
            let tree = try StatementTree(leaves: [others[0], Statement.hash(bytes), others[1]])
            let signature = signer.keys.signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: 3))
            return [
                "encoded": .hex(bytes), "recordName": .string("Note-1"),
                "proof": .proof(StatementProof(signature: signature, leafCount: 3, index: 1, path: tree.path(to: 1))),
            ]
        }
        try builder.group("Verification", shared: ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]) {
            group in
            group.valid("under the epoch in force at its head", try fields(good, by: alice))
            group.valid("under an earlier epoch, at an earlier head", try fields(early, by: alice))
            var pointed = good
            pointed.checkpoint = GrantHash.of([9])
            group.valid("with a checkpoint", try fields(pointed, by: alice))
            group.altered("another checkpoint than the signed one", ["encoded": .hex(good.canonicalBytes())])
            func refused(_ comment: String, by signer: VectorPerson? = nil, _ change: (inout Statement) -> Void) throws
            {
                var statement = good
                change(&statement)
                group.invalid(comment, try fields(statement, by: signer ?? alice))
            }
            try refused("another scope") { $0.scopeID = GrantHash.of([8]) }
            try refused("another container") { $0.container = "com.example.other" }
            try refused("another environment") { $0.environment = .development }
            try refused("another owner") { $0.owner = alice.user }
            try refused("another zone") { $0.zoneName = "Other" }
            try refused("another record") { $0.recordName = "Note-2" }
            try refused("another's creation") { $0.creator = zone.owner.user }
            try refused("a head that is not there") { $0.rosterSequence = 99 }
            try refused("a forked head") { $0.rosterHead = .zero }
            try refused("an epoch that is over") { $0.epoch = 0 }
            try refused("an epoch that is yet to come") { $0.epoch = 2 }
            try refused("another life of the zone") { $0.zoneIncarnation = 2 }
            try refused("another life of the scope") { $0.scopeIncarnation = 2 }
            try refused("signed by somebody else", by: bob) { _ in }
            try refused("after the author's demotion") {
                $0.rosterSequence = zone.roster.sequence
                $0.rosterHead = zone.roster.head
                $0.epoch = 2
            }
            group.invalid("a read-only author", try fields(byBob, by: bob))
            let stranger = try VectorPerson(9)
            try refused("a stranger", by: stranger) {
                $0.author = stranger.user
                $0.creator = stranger.user
            }
            try refused("a stranger in the owner's name", by: stranger) {
                $0.author = zone.scope.owner
                $0.creator = zone.scope.owner
            }
            let good = try fields(good, by: alice)
            let proof = try Fields(values: good).proof()
            func altered(
                _ comment: String, signature: [UInt8]? = nil, leafCount: Int = 3, index: Int = 1, path: [Digest]? = nil
            ) {
                let altered = StatementProof(
                    signature: signature ?? proof.signature, leafCount: leafCount, index: index,
                    path: path ?? proof.path)
                group.invalid(comment, good.merging(["proof": .proof(altered)]) { $1 })
            }
            altered("another leaf count of the same shape", leafCount: 4)
            altered("another leaf count", leafCount: 2)
            altered("another index", index: 0)
            altered("an index past the end", index: 3)
            altered("no leaf", leafCount: 0, index: 0)
            altered("401 leaves", leafCount: 401)
            altered("a path cut short", path: [Digest](proof.path.dropLast()))
            altered("a longer path", path: proof.path + [.zero])
            altered("siblings swapped", path: proof.path.reversed())
            altered("another sibling", path: [.zero, proof.path[1]])
            altered("another signature", signature: alice.keys.signingKey.sign(message: [1]))
        }
    }
}

extension TreeVectors: Construction {
    static let construction = VectorConstruction.statementTree
    static let algorithm = "Merkle tree over a save's statements"
    static let header = [
        "The leaves are statement hashes. `path` leads from leaf `index` to `root`; the author `publicKey` has signed root and leaf count."
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let key = try VectorPerson(1).keys.signingKey
        for count in [1, 2, 3, 5, 8] {
            let leaves = (0..<count).map { GrantHash.of([UInt8($0)]) }
            let tree = try StatementTree(leaves: leaves)
            let signature = key.sign(StatementTree.signedBytes(root: tree.root, leafCount: count))
            let shared: [String: JSON] = [
                "leaves": .array(leaves.map { .hex($0) }), "root": .hex(tree.root),
                "publicKey": .hex(key.verificationKey.bytes), "signature": .hex(signature),
            ]
            try builder.group("Path", shared: shared) { group in
                for index in 0..<count {
                    group.valid(
                        "leaf \(index) of \(count)",
                        [
                            "leafCount": .int(count), "index": .int(index),
                            "path": .array(tree.path(to: index).map { .hex($0) }),
                        ])
                }
                group.altered("a longer path", ["path": .array((tree.path(to: count - 1) + [.zero]).map { .hex($0) })])
                group.altered("an index past the end", ["index": .int(count)])
                group.altered("no leaf", ["leafCount": .int(0)])
                if count > 1 {
                    group.altered(
                        "another first sibling",
                        ["path": .array(([.zero] + tree.path(to: count - 1).dropFirst()).map { .hex($0) })])
                }
            }
        }
    }
}
