import SealCoding
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire

/// The fields of one record that is to be saved: checked, completed with what it carries over from its predecessor, and
/// encoded as they are stored.
struct RecordFields: Sendable {
    let bytes: [UInt8]
    let digest: Digest
    let assets: [AssetClaim]
    let isEmpty: Bool
    let lacksPredecessor: Bool
    /// What the schema has to know.
    let shape: RecordShape
    /// References with `deleteSelf`, in fields' order.
    let deleteReferences: [DeleteReference]
    /// The words of long texts, by field: read here, since reading them in the writer keeps everybody waiting.
    let words: [String: Set<String>]

    /// - Parameters:
    ///   - predecessor: the record that the statement names as the one before, where the server has it.
    ///   - judge: says which forms of fields belong here.
    init(_ record: SentRecord, predecessor: StoredRecord?, judge: SaveJudge) throws {
        var reading = Reading(record, predecessor, judge)
        for field in record.fields { try reading.read(field) }
        try self.init(reading)
    }

    private init(_ reading: Reading) throws {
        let digests = reading.digests
        guard digests.count <= Limits.fieldsPerRecord else {
            throw ServerError(
                .limitExceeded, "A record has at most \(Limits.fieldsPerRecord) fields.",
                remedy: "Spread them over several records.")
        }
        bytes = reading.encoder.bytes
        guard bytes.count <= Limits.recordBytes else {
            throw ServerError(
                .limitExceeded, "The record's fields take more than \(Limits.recordBytes) bytes.",
                remedy: "Put large values into assets.")
        }
        digest = try ServerError.checking("The fields' order or names") { () throws(SealError) in
            try FieldSet.digest(digests)
        }
        assets = reading.assets
        lacksPredecessor = reading.lacksPredecessor
        shape = reading.shape
        guard reading.deleteReferences.count <= DeleteReference.limit else { throw DeleteReference.tooMany }
        deleteReferences = reading.deleteReferences
        words = reading.words
        isEmpty = digests.isEmpty
    }
}

extension RecordFields {
    /// One record's fields, one after the other.
    private struct Reading {
        let record: SentRecord
        let predecessor: StoredRecord?
        let judge: SaveJudge
        /// Why encrypted values do not belong here; nil where they do.
        let refusal: ServerError?
        var encoder: FieldEncoder
        var digests: [FieldDigest] = []
        var assets: [AssetClaim] = []
        var lacksPredecessor = false
        var shape: RecordShape
        var deleteReferences: [DeleteReference] = []
        var words: [String: Set<String>] = [:]
        /// Parsed when the first field is carried over.
        private var stored: [String: WireField]?

        init(_ record: SentRecord, _ predecessor: StoredRecord?, _ judge: SaveJudge) {
            (self.record, self.predecessor, self.judge) = (record, predecessor, judge)
            refusal = judge.refusalOfEncrypted
            encoder = FieldEncoder(capacity: record.fieldBytes)
            shape = RecordShape(type: record.recordType)
            shape.fields.reserveCapacity(record.fields.count)
            digests.reserveCapacity(record.fields.count)
        }

        mutating func read(_ field: SentField) throws {
            guard !Names.isReservedField(field.name) else {
                throw ServerError(
                    .invalidArguments, "A field has the name of a system field.", remedy: "Choose another name.")
            }
            switch field.content {
            case .encrypted(let byte, let sealed, let element):
                try encrypted(field.name, byte, sealed: sealed, element: element)
            case .message(let message): try any(message)
            }
        }

        /// What it is stored as is what it came as.
        private mutating func encrypted(
            _ name: String, _ byte: UInt8, sealed: Range<Int>, element: Range<Int>
        ) throws {
            let tag = try ServerError.checking("A field") { () throws(SealError) in
                let tag = try ValueTag(byte: byte)
                guard tag.mayBeEncrypted else { throw .unsupported }
                return tag
            }
            if let refusal { throw refusal }
            digests.append(
                FieldDigest(
                    name: name, digest: StoredField.digest(ofEncrypted: record.bytes[sealed], tag, name: name)))
            shape.fields.append(RecordShape.Field(name, tag, isEncrypted: true))
            encoder.append(element: record.bytes[element])
        }

        private mutating func any(_ field: Sealkit_V1_Field) throws {
            var content = try ServerError.checking("A field") { () throws(SealError) in try WireField(field) }
            try judge.check(content)
            let digest = try ServerError.checking("A field") { () throws(SealError) in
                try content.digest(name: field.name)
            }
            if case .digest = content {
                if let predecessor {
                    if stored == nil { stored = try RecordFields.parse(predecessor) }
                    guard let kept = stored?[field.name], try kept.digest(name: field.name) == digest else {
                        throw ServerError(
                            .integrityFailure, "A field that came as a digest is not stored with that digest.",
                            remedy: "Send the field's bytes.")
                    }
                    content = kept
                } else {
                    lacksPredecessor = true
                }
            }
            if let described = content.shape(name: field.name) { shape.fields.append(described) }
            switch content {
            case .stored(.asset(let asset), let blob):
                let sealed = AssetClaim.Content.sealed(chunkCount: asset.chunkCount, root: asset.root)
                assets.append(AssetClaim(field: field.name, blob: blob ?? "", content: sealed))
            case .publicAsset(let asset, let blob):
                assets.append(AssetClaim(field: field.name, blob: blob, content: .plain(asset)))
            case .stored, .digest: break
            }
            if case .stored(.plain(let value), _) = content {
                deleteReferences += DeleteReference.all(in: value, field: field.name)
                if let long = value.wordsOfLongTexts { words[field.name] = long }
            }
            digests.append(FieldDigest(name: field.name, digest: digest))
            try encoder.append(field.name, content)
        }
    }

    private static func parse(_ record: StoredRecord) throws -> [String: WireField] {
        var fields: [String: WireField] = [:]
        for field in try record.fieldMessages { fields[field.name] = try WireField(field) }
        return fields
    }
}

extension WireField {
    /// Nil for a field whose content is not known.
    fileprivate func shape(name: String) -> RecordShape.Field? {
        switch self {
        case .stored(.plain(let value), _): RecordShape.Field(name, value.tag, isEncrypted: false)
        case .stored(.encrypted(let tag, _), _): RecordShape.Field(name, tag, isEncrypted: true)
        case .stored(.asset, _), .publicAsset: RecordShape.Field(name, .type(ValueType(.asset)), isEncrypted: false)
        case .digest: nil
        }
    }
}
