import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension RecordVectors: Construction {
    static let construction = VectorConstruction.records
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
}
