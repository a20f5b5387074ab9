import SealEnvelope
import SealPrimitives
import SealStatements

extension JSON {
    static func statement(_ statement: Statement) -> JSON {
        var fields: [String: JSON] = [
            "kind": .string("\(statement.kind)"), "container": .string(statement.container),
            "environment": .string(statement.environment.name),
            "owner": .string(statement.owner.recordName), "zoneName": .string(statement.zoneName),
            "zoneIncarnation": .number(statement.zoneIncarnation),
            "recordName": .string(statement.recordName), "recordType": .string(statement.recordType),
            "creator": .string(statement.creator.recordName),
            "author": .string(statement.author.recordName), "clientTime": .number(statement.clientTime),
            "revision": .number(statement.revision),
            "previous": .hex(statement.previous), "scopeID": .hex(statement.scopeID),
            "scopeIncarnation": .number(statement.scopeIncarnation),
            "epoch": .number(statement.epoch), "wrappedKey": .hex(statement.wrappedKey),
            "isKeyCarried": .bool(statement.isKeyCarried), "rosterSequence": .number(statement.rosterSequence),
            "rosterHead": .hex(statement.rosterHead), "checkpoint": .hex(statement.checkpoint),
            "salt": .hex(statement.salt), "fieldsDigest": .hex(statement.fieldsDigest),
        ]
        if let former = statement.formerScope {
            fields["formerScope"] = .object([
                "scopeID": .hex(former.scopeID), "incarnation": .number(former.incarnation),
            ])
        }
        if let parent = statement.parent { fields["parent"] = .string(parent) }
        if let share = statement.share { fields["share"] = .string(share) }
        return .object(fields)
    }
}

extension Fields {
    func statement(_ key: String) throws -> Statement {
        let fields = try object(key)
        guard let environment = Environment(name: try fields.string("environment")) else {
            throw VectorError.missing(key)
        }
        return Statement(
            kind: try fields.string("kind") == "delete" ? .delete : .save, container: try fields.string("container"),
            environment: environment,
            owner: try fields.user("owner"), zoneName: try fields.string("zoneName"),
            zoneIncarnation: try fields.number("zoneIncarnation"),
            recordName: try fields.string("recordName"), recordType: try fields.string("recordType"),
            creator: try fields.user("creator"),
            author: try fields.user("author"), clientTime: try fields.number("clientTime"),
            revision: try fields.number("revision"),
            previous: try fields.digest("previous"), scopeID: try fields.digest("scopeID"),
            scopeIncarnation: try fields.number("scopeIncarnation"),
            epoch: try fields.number("epoch"),
            formerScope: fields.has("formerScope")
                ? Statement.FormerScope(
                    scopeID: try fields.object("formerScope").digest("scopeID"),
                    incarnation: try fields.object("formerScope").number("incarnation")) : nil,
            wrappedKey: try fields.bytes("wrappedKey"), isKeyCarried: try fields.bool("isKeyCarried"),
            rosterSequence: try fields.number("rosterSequence"),
            rosterHead: try fields.digest("rosterHead"), checkpoint: try fields.digest("checkpoint"),
            parent: fields.has("parent") ? try fields.string("parent") : nil,
            share: fields.has("share") ? try fields.string("share") : nil, salt: try fields.id("salt"),
            fieldsDigest: try fields.digest("fieldsDigest"))
    }
}

enum RecordVectors: Construction {
    static let name = "records"
    static let algorithm = "Record sealing"
    static let header = [
        "Seal: one save. `drafts` under the epoch's `key`, signed by the account `seed`'s signing key, with `random` drawn in order, give `records` and `signature` exactly. Each draft's statement lacks wrapped key, salt and fields' digest (empty or zero).",
        "Open: the encrypted field `name` of type tag `type` with bytes `sealed`, of the record whose verified statement is `statement`, opens to `value`. The group's roster, `proof` and `key` verify and unwrap.",
        "Asset: as Open, for an asset's `commitment`; its descriptor opens to `fileKey` and `size`, and its field has `digest`.",
        "In a draft, `carried` stands for a field whose digest is taken over; `recordKey` is the predecessor's. `random` is what sealing draws, in the order that PROTOCOL.md gives.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        let key = zone.keys[0]
        var statement = zone.statement(by: zone.owner)
        statement.wrappedKey = []
        var other = zone.statement("Note-2", by: zone.owner)
        other.wrappedKey = []
        let values: [(name: String, value: Value)] = [
            ("body", .string("Dear diary")), ("count", .int64(7)), ("tags", .list([])), ("when", .date(721_692_800.1)),
        ]
        var random = RecordingRandom("records")
        let recordKey = SecretBytes(copying: [UInt8](repeating: 0x61, count: 32))
        let drafts = [
            RecordDraft(
                statement: statement, recordKey: nil,
                fields: values.map { ($0.name, .encrypted($0.value)) } + [("zip", .plain(.string("10115")))]),
            RecordDraft(
                statement: other, recordKey: recordKey,
                fields: [("body", .encrypted(.string("Other"))), ("count", .carried(GrantHash.of([1])))]),
        ]
        let (records, signature) = try RecordSealer.seal(
            drafts, epochKey: key, signingKey: zone.owner.keys.signingKey, random: &random)
        try builder.group("Seal") { group in
            group.valid(
                "two records",
                [
                    "context": .context(key.context), "key": .hex([UInt8](repeating: 0x50, count: 32)),
                    "container": .string(zone.scope.container),
                    "seed": .hex(zone.owner.seed.bytes), "random": .hex(random.drawn),
                    "drafts": .array([
                        .object([
                            "statement": .statement(statement),
                            "fields": .array(
                                values.map { draft($0.name, "encrypted", $0.value) } + [
                                    draft("zip", "plain", .string("10115"))
                                ]),
                        ]),
                        .object([
                            "statement": .statement(other), "recordKey": .hex(recordKey),
                            "fields": .array([
                                draft("body", "encrypted", .string("Other")),
                                .object([
                                    "name": .string("count"), "field": .string("carried"),
                                    "digest": .hex(GrantHash.of([1])),
                                ]),
                            ]),
                        ]),
                    ]),
                    "records": json(records), "signature": .hex(signature),
                ])
            var wrong = statement
            wrong.epoch = 1
            group.altered(
                "another epoch's statement",
                ["drafts": .array([.object(["statement": .statement(wrong), "fields": .array([])])])])
            var carried = other
            carried.revision = 2
            carried.previous = GrantHash.of([1])
            carried.isKeyCarried = true
            group.altered(
                "something new under a key that was carried over",
                [
                    "drafts": .array([
                        .object([
                            "statement": .statement(carried), "recordKey": .hex(recordKey),
                            "fields": .array([draft("body", "encrypted", .string("New"))]),
                        ])
                    ])
                ])
            group.altered("no record", ["drafts": .array([])])
            group.altered(
                "an encrypted reference",
                [
                    "drafts": .array([
                        .object([
                            "statement": .statement(statement),
                            "fields": .array([draft("a", "encrypted", .reference(ReferenceValue(recordName: "b")))]),
                        ])
                    ])
                ])
            group.altered(
                "fields out of order",
                [
                    "drafts": .array([
                        .object([
                            "statement": .statement(statement),
                            "fields": .array([draft("b", "plain", .int64(1)), draft("a", "plain", .int64(1))]),
                        ])
                    ])
                ])
        }
        let tree = try StatementTree(leaves: records.map { $0.hash })
        let shared: [String: JSON] = ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]
        try builder.group("Open", shared: shared) { group in
            for field in records[0].fields {
                guard case .stored(.encrypted(let tag, let sealed)) = field.content,
                    let value = values.first(where: { $0.name == field.name })?.value
                else { continue }
                group.valid(
                    "the encrypted field \(field.name)",
                    [
                        "statement": .hex(records[0].statementBytes),
                        "proof": .proof(
                            StatementProof(signature: signature, leafCount: 2, index: 0, path: tree.path(to: 0))),
                        "context": .context(key.context), "key": .hex([UInt8](repeating: 0x50, count: 32)),
                        "name": .string(field.name),
                        "type": .int(Int(tag.byte)), "sealed": .hex(sealed), "value": ValueVectors.json(value),
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
                    "proof": .proof(
                        StatementProof(signature: signature, leafCount: 2, index: 1, path: tree.path(to: 1))),
                ])
            group.altered(
                "another epoch's key",
                [
                    "context": .context(
                        EpochContext(scopeID: key.context.scopeID, incarnations: key.context.incarnations, epoch: 1))
                ])
            group.altered("another key", ["key": .hex([UInt8](repeating: 1, count: 32))])
        }
        try assets(zone, into: &builder)
    }

    private static func assets(_ zone: VectorZone, into builder: inout VectorBuilder) throws {
        var statement = zone.statement(by: zone.owner)
        statement.wrappedKey = []
        let asset = SealedAsset(
            fileKey: SecretBytes(copying: [UInt8](repeating: 0x70, count: 32)), size: 140_000, salt: GrantHash.of([3]),
            chunkCount: 3, root: GrantHash.of([4]))
        var random = RecordingRandom("descriptor")
        let (records, signature) = try RecordSealer.seal(
            [RecordDraft(statement: statement, recordKey: nil, fields: [("scan", .asset(asset))])],
            epochKey: zone.keys[0],
            signingKey: zone.owner.keys.signingKey, random: &random)
        guard case .stored(.asset(let commitment)) = records[0].fields[0].content else {
            throw VectorError.missing("asset")
        }
        try builder.group("Asset", shared: ["scope": .scope(zone.scope), "entries": .entries(zone.entries)]) { group in
            func json(_ descriptor: [UInt8], chunkCount: UInt64 = 3, salt: Digest? = nil) -> JSON {
                .object([
                    "salt": .hex(salt ?? commitment.salt), "chunkCount": .number(chunkCount),
                    "root": .hex(commitment.root), "descriptor": .hex(descriptor),
                ])
            }
            group.valid(
                "an asset's descriptor",
                [
                    "statement": .hex(records[0].statementBytes),
                    "proof": .proof(StatementProof(signature: signature, leafCount: 1, index: 0, path: [])),
                    "context": .context(zone.keys[0].context), "key": .hex([UInt8](repeating: 0x50, count: 32)),
                    "name": .string("scan"),
                    "digest": .hex(try StoredField.asset(commitment).digest(name: "scan")),
                    "commitment": json(commitment.descriptor), "fileKey": .hex(asset.fileKey),
                    "size": .number(asset.size),
                ])
            var altered = commitment.descriptor
            altered[30] ^= 1
            group.altered("under another name", ["name": .string("other")])
            group.altered("an altered byte", ["commitment": json(altered)])
            group.altered("with another salt", ["commitment": json(commitment.descriptor, salt: .zero)])
            group.altered(
                "with a chunk more than the size gives", ["commitment": json(commitment.descriptor, chunkCount: 4)])
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
                            if case .stored(.encrypted(let tag, let sealed)) = field.content {
                                fields["type"] = .int(Int(tag.byte))
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
                    statement: try draft.statement("statement"),
                    recordKey: draft.has("recordKey") ? try draft.secret("recordKey") : nil,
                    fields: try draft.objects("fields").map { field -> (name: String, field: FieldDraft) in
                        let name = try field.string("name")
                        switch try field.string("field") {
                        case "plain": return (name, .plain(try ValueVectors.value(field.object("value"))))
                        case "encrypted": return (name, .encrypted(try ValueVectors.value(field.object("value"))))
                        default: return (name, .carried(try field.digest("digest")))
                        }
                    })
            }
            let signer = try AccountSeed(test.secret("seed")).identityKeys(
                container: test.string("container"), using: NoGrants.self
            ).signingKey
            var random = ReplayedRandom(try test.bytes("random"))
            let (records, signature) = try RecordSealer.seal(drafts, epochKey: key, signingKey: signer, random: &random)
            try test.expect("records", json(records))
            return try test.expect("signature", .hex(signature))
        }
        var verifier = StatementVerifier(roster: try shared.roster())
        let verified = try verifier.verify(test.bytes("statement"), proof: test.proof(), recordName: nil)
        let opener = try RecordOpener(verified, epochKey: key)
        if type == "Asset" {
            let fields = try test.object("commitment")
            let commitment = AssetCommitment(
                salt: try fields.digest("salt"), chunkCount: try fields.number("chunkCount"),
                root: try fields.digest("root"),
                descriptor: try fields.bytes("descriptor"))
            guard case .asset(let asset) = try opener.open(.asset(commitment), name: test.string("name")) else {
                throw VectorError.differs("fileKey")
            }
            try test.expect("digest", .hex(StoredField.asset(commitment).digest(name: test.string("name"))))
            try test.expect("fileKey", .hex(asset.fileKey))
            return try test.expect("size", .number(asset.size))
        }
        let field = StoredField.encrypted(
            try ValueTag(byte: UInt8(try test.int("type"))), sealed: try test.bytes("sealed"))
        guard case .encrypted(let value) = try opener.open(field, name: test.string("name")) else {
            throw VectorError.differs("value")
        }
        try test.expect("value", ValueVectors.json(value))
    }
}
