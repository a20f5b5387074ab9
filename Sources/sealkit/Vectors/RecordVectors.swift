import SealEnvelope
import SealPrimitives
import SealStatements

extension JSON {
    static func statement(_ statement: Statement) -> JSON {
        var fields: [String: JSON] = [
            "kind": .string("\(statement.kind)"), "container": .string(statement.container), "environment": .string(statement.environment.name),
            "owner": .string(statement.owner.recordName), "zoneName": .string(statement.zoneName), "zoneIncarnation": .number(statement.zoneIncarnation),
            "recordName": .string(statement.recordName), "recordType": .string(statement.recordType), "creator": .string(statement.creator.recordName),
            "author": .string(statement.author.recordName), "clientTime": .number(statement.clientTime), "revision": .number(statement.revision),
            "previous": .hex(statement.previous), "scopeID": .hex(statement.scopeID), "scopeIncarnation": .number(statement.scopeIncarnation),
            "epoch": .number(statement.epoch), "wrappedKey": .hex(statement.wrappedKey), "rosterSequence": .number(statement.rosterSequence),
            "rosterHead": .hex(statement.rosterHead), "salt": .hex(statement.salt), "fieldsDigest": .hex(statement.fieldsDigest),
        ]
        if let parent = statement.parent { fields["parent"] = .string(parent) }
        if let share = statement.share { fields["share"] = .string(share) }
        return .object(fields)
    }
}

extension Fields {
    func statement(_ key: String) throws -> Statement {
        let fields = try object(key)
        guard let environment = Environment(name: try fields.string("environment")) else { throw VectorError.missing(key) }
        return Statement(
            kind: try fields.string("kind") == "delete" ? .delete : .save, container: try fields.string("container"), environment: environment,
            owner: try fields.user("owner"), zoneName: try fields.string("zoneName"), zoneIncarnation: try fields.number("zoneIncarnation"),
            recordName: try fields.string("recordName"), recordType: try fields.string("recordType"), creator: try fields.user("creator"),
            author: try fields.user("author"), clientTime: try fields.number("clientTime"), revision: try fields.number("revision"),
            previous: try fields.digest("previous"), scopeID: try fields.digest("scopeID"), scopeIncarnation: try fields.number("scopeIncarnation"),
            epoch: try fields.number("epoch"), wrappedKey: try fields.bytes("wrappedKey"), rosterSequence: try fields.number("rosterSequence"),
            rosterHead: try fields.digest("rosterHead"), parent: fields.has("parent") ? try fields.string("parent") : nil,
            share: fields.has("share") ? try fields.string("share") : nil, salt: try fields.id("salt"), fieldsDigest: try fields.digest("fieldsDigest"))
    }
}

enum StatementVectors: Construction {
    static let name = "statements"
    static let algorithm = "Record statements"
    static let header = [
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
        try zone.append(by: zone.owner, [], epoch: zone.epoch())
        let good = zone.statement(by: alice)
        let byBob = zone.statement(by: bob)
        try zone.append(by: zone.owner, [.setPermission(alice.user, .readOnly)], epoch: zone.epoch())

        try builder.group("Coding") { group in
            var deletion = good
            deletion.kind = .delete
            deletion.wrappedKey = []
            var later = good
            later.revision = 2
            later.previous = GrantHash.of([1])
            later.parent = "Folder-1"
            later.share = "Share-1"
            for (comment, statement) in [("a first save", good), ("a later save with parent and share", later), ("a deletion", deletion)] {
                let bytes = statement.canonicalBytes()
                group.valid(comment, ["statement": .statement(statement), "encoded": .hex(bytes), "hash": .hex(Statement.hash(bytes))])
            }
            func refused(_ comment: String, _ change: (inout Statement) -> Void) {
                var statement = good
                change(&statement)
                group.invalid(comment, ["encoded": .hex(statement.canonicalBytes())])
            }
            refused("revision 0") { $0.revision = 0 }
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
        try builder.group("Verification", shared: ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]) { group in
            group.valid("under the epoch in force at its head", try fields(good, by: alice))
            group.valid("under an earlier epoch, at an earlier head", try fields(early, by: alice))
            func refused(_ comment: String, by signer: VectorPerson? = nil, _ change: (inout Statement) -> Void) throws {
                var statement = good
                change(&statement)
                group.invalid(comment, try fields(statement, by: signer ?? alice))
            }
            try refused("another scope") { $0.scopeID = .zero }
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
            func altered(_ comment: String, signature: [UInt8]? = nil, leafCount: Int = 3, index: Int = 1, path: [Digest]? = nil) {
                let altered = StatementProof(signature: signature ?? proof.signature, leafCount: leafCount, index: index, path: path ?? proof.path)
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

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let bytes = try test.bytes("encoded")
        if type == "Coding" {
            let statement = try Statement(canonicalBytes: bytes)
            try test.expect("statement", .statement(statement))
            try test.expect("encoded", .hex(try test.statement("statement").canonicalBytes()))
            return try test.expect("hash", .hex(Statement.hash(bytes)))
        }
        var verifier = StatementVerifier(roster: try shared.roster())
        _ = try verifier.verify(bytes, proof: test.proof(), recordName: test.string("recordName"))
    }
}

enum TreeVectors: Construction {
    static let name = "statement-tree"
    static let algorithm = "Merkle tree over a save's statements"
    static let header = [
        "The leaves are statement hashes. `path` leads from leaf `index` to `root`; the author `publicKey` has signed root and leaf count.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let key = try VectorPerson(1).keys.signingKey
        for count in [1, 2, 3, 5, 8] {
            let leaves = (0..<count).map { GrantHash.of([UInt8($0)]) }
            let tree = try StatementTree(leaves: leaves)
            let signature = key.sign(StatementTree.signedBytes(root: tree.root, leafCount: count))
            let shared: [String: JSON] = [
                "leaves": .array(leaves.map { .hex($0) }), "root": .hex(tree.root), "publicKey": .hex(key.verificationKey.bytes), "signature": .hex(signature),
            ]
            try builder.group("Path", shared: shared) { group in
                for index in 0..<count {
                    group.valid("leaf \(index) of \(count)", ["leafCount": .int(count), "index": .int(index), "path": .array(tree.path(to: index).map { .hex($0) })])
                }
                group.altered("a longer path", ["path": .array((tree.path(to: count - 1) + [.zero]).map { .hex($0) })])
                group.altered("an index past the end", ["index": .int(count)])
                group.altered("no leaf", ["leafCount": .int(0)])
                if count > 1 { group.altered("another first sibling", ["path": .array(([.zero] + tree.path(to: count - 1).dropFirst()).map { .hex($0) })]) }
            }
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let leaves = try shared.array("leaves").map { json in
            guard case .string(let text) = json else { throw VectorError.missing("leaves") }
            return try Digest(Hex.decode(text))
        }
        let index = try test.int("index")
        let path = try test.array("path").map { json in
            guard case .string(let text) = json else { throw VectorError.missing("path") }
            return try Digest(Hex.decode(text))
        }
        let proof = StatementProof(signature: try shared.bytes("signature"), leafCount: try test.int("leafCount"), index: index, path: path)
        let root = try proof.root(from: leaves.indices.contains(index) ? leaves[index] : .zero)
        try VerificationKey(shared.bytes("publicKey")).verify(proof.signature, over: StatementTree.signedBytes(root: root, leafCount: proof.leafCount))
        let tree = try StatementTree(leaves: leaves)
        try shared.expect("root", .hex(tree.root))
        guard root == tree.root, tree.path(to: index) == path else { throw VectorError.differs("path") }
    }
}

enum RecordVectors: Construction {
    static let name = "records"
    static let algorithm = "Record sealing"
    static let header = [
        "Seal: one save. `drafts` under the epoch's `key`, signed by the account `seed`'s signing key, with `random` drawn in order, give `records` and `signature` exactly. Each draft's statement lacks wrapped key, salt and fields' digest (empty or zero).",
        "Open: field `name` of `class` and `type` with bytes `sealed`, of the record whose verified statement is `statement`, opens to `value`. The group's roster, `proof` and `key` verify and unwrap.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        let key = zone.keys[0]
        var statement = zone.statement(by: zone.owner)
        statement.wrappedKey = []
        var other = zone.statement("Note-2", by: zone.owner)
        other.wrappedKey = []
        let values: [(name: String, value: Value)] = [
            ("body", .string("Dear diary")), ("count", .int64(7)), ("tags", .list(.string, [])), ("when", .date(VectorZone.time)),
        ]
        var random = RecordingRandom("records")
        let recordKey = SecretBytes(copying: [UInt8](repeating: 0x61, count: 32))
        let drafts = [
            RecordDraft(statement: statement, recordKey: nil, fields: values.map { ($0.name, .encrypted($0.value)) } + [("zip", .plain(.string("10115")))]),
            RecordDraft(statement: other, recordKey: recordKey, fields: [("body", .encrypted(.string("Other"))), ("count", .carried(GrantHash.of([1])))]),
        ]
        let (records, signature) = try RecordSealer.seal(drafts, epochKey: key, signingKey: zone.owner.keys.signingKey, random: &random)
        try builder.group("Seal") { group in
            group.valid(
                "two records",
                [
                    "context": .context(key.context), "key": .hex([UInt8](repeating: 0x50, count: 32)), "container": .string(zone.scope.container),
                    "seed": .hex(zone.owner.seed.bytes), "random": .hex(random.drawn),
                    "drafts": .array([
                        .object(["statement": .statement(statement), "fields": .array(values.map { draft($0.name, "encrypted", $0.value) } + [draft("zip", "plain", .string("10115"))])]),
                        .object([
                            "statement": .statement(other), "recordKey": .hex(recordKey),
                            "fields": .array([
                                draft("body", "encrypted", .string("Other")),
                                .object(["name": .string("count"), "field": .string("carried"), "digest": .hex(GrantHash.of([1]))]),
                            ]),
                        ]),
                    ]),
                    "records": json(records), "signature": .hex(signature),
                ])
            var wrong = statement
            wrong.epoch = 1
            group.altered("another epoch's statement", ["drafts": .array([.object(["statement": .statement(wrong), "fields": .array([])])])])
            group.altered("no record", ["drafts": .array([])])
            group.altered(
                "an encrypted reference",
                ["drafts": .array([.object(["statement": .statement(statement), "fields": .array([draft("a", "encrypted", .reference(ReferenceValue(recordName: "b")))])])])])
            group.altered(
                "fields out of order",
                ["drafts": .array([.object(["statement": .statement(statement), "fields": .array([draft("b", "plain", .int64(1)), draft("a", "plain", .int64(1))])])])])
        }
        let tree = try StatementTree(leaves: records.map { $0.hash })
        let shared: [String: JSON] = ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]
        try builder.group("Open", shared: shared) { group in
            for field in records[0].fields {
                guard case .stored(.encrypted(let type, let sealed)) = field.content, let value = values.first(where: { $0.name == field.name })?.value else { continue }
                group.valid(
                    "an encrypted \(type.isList ? "list" : "\(type.kind)")",
                    [
                        "statement": .hex(records[0].statementBytes),
                        "proof": .proof(StatementProof(signature: signature, leafCount: 2, index: 0, path: tree.path(to: 0))),
                        "context": .context(key.context), "key": .hex([UInt8](repeating: 0x50, count: 32)), "name": .string(field.name),
                        "type": .int(Int(type.tag)), "sealed": .hex(sealed), "value": ValueVectors.json(value),
                    ])
                group.altered("under another name", ["name": .string("other")])
                group.altered("as another type", ["type": .int(2)])
                var altered = sealed
                altered[30] ^= 1
                group.altered("an altered byte", ["sealed": .hex(altered)])
                group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            }
            group.altered(
                "in another record",
                [
                    "statement": .hex(records[1].statementBytes),
                    "proof": .proof(StatementProof(signature: signature, leafCount: 2, index: 1, path: tree.path(to: 1))),
                ])
            group.altered("another epoch's key", ["context": .context(EpochContext(scopeID: key.context.scopeID, incarnations: key.context.incarnations, epoch: 1))])
            group.altered("another key", ["key": .hex([UInt8](repeating: 1, count: 32))])
        }
    }

    private static func draft(_ name: String, _ field: String, _ value: Value) -> JSON {
        .object(["name": .string(name), "field": .string(field), "value": ValueVectors.json(value)])
    }

    private static func json(_ records: [SealedRecord]) -> JSON {
        .array(
            records.map { record in
                .object([
                    "statement": .hex(record.statementBytes), "hash": .hex(record.hash),
                    "fields": .array(
                        record.fields.map { field in
                            var fields: [String: JSON] = ["name": .string(field.name), "digest": .hex(field.digest)]
                            if case .stored(.encrypted(let type, let sealed)) = field.content {
                                fields["type"] = .int(Int(type.tag))
                                fields["sealed"] = .hex(sealed)
                            }
                            return .object(fields)
                        }),
                ])
            })
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let key = try test.epochKey()
        if type == "Seal" {
            let drafts = try test.objects("drafts").map { draft in
                RecordDraft(
                    statement: try draft.statement("statement"), recordKey: draft.has("recordKey") ? try draft.secret("recordKey") : nil,
                    fields: try draft.objects("fields").map { field -> (name: String, field: FieldDraft) in
                        let name = try field.string("name")
                        switch try field.string("field") {
                        case "plain": return (name, .plain(try ValueVectors.value(field.object("value"))))
                        case "encrypted": return (name, .encrypted(try ValueVectors.value(field.object("value"))))
                        default: return (name, .carried(try field.digest("digest")))
                        }
                    })
            }
            let signer = try AccountSeed(test.secret("seed")).identityKeys(container: test.string("container"), using: NoGrants.self).signingKey
            var random = ReplayedRandom(try test.bytes("random"))
            let (records, signature) = try RecordSealer.seal(drafts, epochKey: key, signingKey: signer, random: &random)
            try test.expect("records", json(records))
            return try test.expect("signature", .hex(signature))
        }
        var verifier = StatementVerifier(roster: try shared.roster())
        let verified = try verifier.verify(test.bytes("statement"), proof: test.proof(), recordName: nil)
        let opener = try RecordOpener(verified, epochKey: key)
        let field = StoredField.encrypted(try ValueType(tag: UInt8(try test.int("type"))), sealed: try test.bytes("sealed"))
        guard case .encrypted(let value) = try opener.open(field, name: test.string("name")) else { throw VectorError.differs("value") }
        try test.expect("value", ValueVectors.json(value))
    }
}

enum AssetVectors: Construction {
    static let name = "assets"
    static let algorithm = "Asset chunks and hash tree"
    static let header = [
        "Layout: where the bytes of an asset of `size` lie.",
        "Chunk: chunk `chunk` of an asset of `size` under `fileKey` and `salt`. Its padded plaintext is `plaintext`, or `count` bytes `byte`; sealed it is `sealed`, or its leaf is `leaf`.",
        "Open: `sealed` as chunk `chunk`.",
        "Tree: `leaves` have `root`.",
    ]
    private static let fileKey = [UInt8](repeating: 0x70, count: 32)
    private static let salt = GrantHash.of([3])

    static func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Layout") { group in
            for size in [0, 1, 100, 65_535, 65_536, 65_537, 140_000, 10_000_000] as [UInt64] {
                let layout = AssetLayout(size: size)
                group.valid("\(size) bytes", ["size": .number(size), "paddedSize": .number(layout.paddedSize), "chunkCount": .number(layout.chunkCount), "sealedBytes": .number(layout.sealedBytes), "blobBytes": .number(layout.blobBytes)])
            }
        }
        let base: [String: JSON] = ["fileKey": .hex(fileKey), "salt": .hex(salt)]
        let short = [UInt8]("An asset.".utf8) + [UInt8](repeating: 0, count: 23)
        let sealed = try seal(short, chunk: 0, size: 9, fileKey: SecretBytes(copying: fileKey), salt: salt)
        try builder.group("Chunk") { group in
            group.valid("a single chunk", base.merging(["size": .number(9), "chunk": .int(0), "plaintext": .hex(short), "sealed": .hex(sealed)]) { $1 })
            let layout = AssetLayout(size: 140_000)
            for chunk in 0..<Int(layout.chunkCount) {
                let count = layout.plaintextBytes(ofChunk: UInt64(chunk))
                let sealed = try seal([UInt8](repeating: UInt8(chunk), count: count), chunk: UInt64(chunk), size: 140_000, fileKey: SecretBytes(copying: fileKey), salt: salt)
                group.valid(
                    "chunk \(chunk) of \(layout.chunkCount)",
                    base.merging(["size": .number(140_000), "chunk": .int(chunk), "byte": .int(chunk), "count": .int(count), "leaf": .hex(AssetTree.leaf(sealed))]) { $1 })
            }
            group.altered("a chunk of another length", ["count": .int(1)])
            group.altered("a chunk past the end", ["chunk": .int(3)])
        }
        try builder.group("Open") { group in
            group.valid("a single chunk", base.merging(["size": .number(9), "chunk": .int(0), "sealed": .hex(sealed), "plaintext": .hex(short)]) { $1 })
            var altered = sealed
            altered[3] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            group.altered("another file key", ["fileKey": .hex(Digest.zero)])
            group.altered("another salt", ["salt": .hex(Digest.zero)])
            group.altered("another chunk", ["chunk": .int(1)])
            for (comment, nonce) in [("without the last chunk's mark", [UInt8](repeating: 0, count: 12)), ("with another chunk's number", [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])] {
                var output = [UInt8](repeating: 0, count: short.count + 16)
                try short.withUnsafeBytes { plaintext in
                    try output.withUnsafeMutableBytes { output in
                        try ChunkAEAD.seal(plaintext, into: output, nonce: nonce, under: Hash.derive(SecretBytes(copying: fileKey), .assetChunks, salt.bytes))
                    }
                }
                group.altered("sealed \(comment)", ["sealed": .hex(output)])
            }
        }
        try builder.group("Tree") { group in
            for count in [1, 2, 3, 5, 8] {
                let leaves = (0..<count).map { AssetTree.leaf([UInt8($0)]) }
                group.valid("\(count) leaves", ["leaves": .array(leaves.map { .hex($0) }), "root": .hex(try AssetTree.root(leaves))])
            }
            group.altered("no leaf", ["leaves": .array([])])
        }
    }

    private static func seal(_ plaintext: [UInt8], chunk: UInt64, size: UInt64, fileKey: SecretBytes, salt: Digest) throws -> [UInt8] {
        let cipher = AssetCipher(fileKey: fileKey, salt: salt, layout: AssetLayout(size: size))
        var output = [UInt8](repeating: 0, count: plaintext.count + ChunkAEAD.tagBytes)
        try plaintext.withUnsafeBytes { plaintext in
            try output.withUnsafeMutableBytes { try cipher.seal(chunk: chunk, plaintext, into: $0) }
        }
        return output
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "Tree" {
            let leaves = try test.array("leaves").map { json in
                guard case .string(let text) = json else { throw VectorError.missing("leaves") }
                return try Digest(Hex.decode(text))
            }
            return try test.expect("root", .hex(try AssetTree.root(leaves)))
        }
        let size: UInt64 = try test.number("size")
        if type == "Layout" {
            let layout = AssetLayout(size: size)
            try test.expect("paddedSize", .number(layout.paddedSize))
            try test.expect("chunkCount", .number(layout.chunkCount))
            try test.expect("sealedBytes", .number(layout.sealedBytes))
            return try test.expect("blobBytes", .number(layout.blobBytes))
        }
        let chunk = UInt64(try test.int("chunk"))
        if type == "Chunk" {
            let plaintext = test.has("plaintext") ? try test.bytes("plaintext") : [UInt8](repeating: UInt8(try test.int("byte")), count: try test.int("count"))
            let sealed = try seal(plaintext, chunk: chunk, size: size, fileKey: test.secret("fileKey"), salt: test.digest("salt"))
            if test.has("sealed") { try test.expect("sealed", .hex(sealed)) } else { try test.expect("leaf", .hex(AssetTree.leaf(sealed))) }
            return
        }
        let cipher = AssetCipher(fileKey: try test.secret("fileKey"), salt: try test.digest("salt"), layout: AssetLayout(size: size))
        let sealed = try test.bytes("sealed")
        var output = [UInt8](repeating: 0, count: max(sealed.count - ChunkAEAD.tagBytes, 0))
        try sealed.withUnsafeBytes { sealed in
            try output.withUnsafeMutableBytes { try cipher.open(chunk: chunk, sealed, into: $0) }
        }
        try test.expect("plaintext", .hex(output))
    }
}
