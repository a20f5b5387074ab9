package import SealEnvelope
import SealPrimitives
import SealStatements

package enum RecordVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        let key = try test.epochKey()
        if type == "Seal" { return try checkSealing(test, under: key) }
        let verified = try test.verifiedStatement("statement", in: try shared.roster())
        let opener = try core(RecordOpener(verified, epochKey: key))
        let name = try test.string("name")
        if type == "Asset" {
            let fields = try test.object("commitment")
            let commitment = AssetCommitment(
                salt: try fields.digest("salt"), chunkCount: try fields.number("chunkCount"),
                root: try fields.digest("root"), descriptor: try fields.bytes("descriptor"))
            guard case .asset(let asset) = try core(opener.open(.asset(commitment), name: name)) else {
                throw .differs("fileKey")
            }
            try test.expect("digest", .hex(try core(StoredField.asset(commitment).digest(name: name))))
            try test.expect("fileKey", .hex(asset.fileKey))
            return try test.expect("size", .number(asset.size))
        }
        let (type, sealed) = (try test.small("type", as: UInt8.self), try test.bytes("sealed"))
        let field = StoredField.encrypted(try core(ValueTag(byte: type)), sealed: sealed)
        guard case .encrypted(let value) = try core(opener.open(field, name: name)) else { throw .differs("value") }
        try test.expect("value", ValueVectors.json(value))
    }

    private static func checkSealing(_ test: Fields, under key: EpochKey) throws(VectorError) {
        let drafts = try test.objects("drafts").map { draft throws(VectorError) in
            RecordDraft(
                statement: try draft.statement("statement"),
                recordKey: draft.has("recordKey") ? try draft.secret("recordKey") : nil,
                fields: try draft.objects("fields").map { field throws(VectorError) in try Self.field(field) })
        }
        let signer = try test.signingKey(container: try test.string("container"))
        var random = ReplayedRandom(try test.bytes("random"))
        let (records, signature) = try core(
            RecordSealer.seal(drafts, epochKey: key, signingKey: signer, random: &random))
        try test.expect("records", json(records))
        try test.expect("signature", .hex(signature))
    }

    private static func field(_ field: Fields) throws(VectorError) -> (name: String, field: FieldDraft) {
        let name = try field.string("name")
        switch try field.string("field") {
        case "plain": return (name, .plain(try ValueVectors.value(field.object("value"))))
        case "encrypted": return (name, .encrypted(try ValueVectors.value(field.object("value"))))
        default: return (name, .carried(try field.digest("digest")))
        }
    }

    package static func json(_ records: [SealedRecord]) -> JSON {
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
}
