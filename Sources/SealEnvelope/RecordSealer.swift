public import SealPrimitives
public import SealStatements

/// A field as its author has it, before sealing.
public enum FieldDraft: Sendable {
    case plain(Value)
    case encrypted(Value)
    /// An asset whose bytes are sealed and uploaded already.
    indirect case asset(SealedAsset)
    /// Unchanged since the predecessor, whose verified statement covers this digest: the stored bytes stay.
    case carried(Digest)

    /// Whether sealing it uses the record key.
    var isSealed: Bool {
        switch self {
        case .encrypted, .asset: true
        case .plain, .carried: false
        }
    }
}

/// A record as its author wants it stored.
public struct RecordDraft: Sendable {
    /// Everything of the statement but wrapped key, salt and fields' digest, which sealing fills in.
    public var statement: Statement
    /// The predecessor's key, to seal changed fields next to carried ones; nil makes a fresh key, and then no encrypted
    /// field or asset may be carried.
    public var recordKey: SecretBytes?
    public var fields: [(name: String, field: FieldDraft)]
    /// What a deletion takes along, each record verified by whoever signs it.
    public var taken: TakenRecords

    public init(
        statement: Statement, recordKey: SecretBytes?, fields: [(name: String, field: FieldDraft)],
        taking taken: TakenRecords = .none
    ) {
        self.statement = statement
        self.recordKey = recordKey
        self.fields = fields
        self.taken = taken
    }
}

/// A record as it is sent and stored.
public struct SealedRecord: Sendable {
    public let statement: Statement
    public let statementBytes: [UInt8]
    /// The statement's hash: the leaf of the signed tree.
    public let hash: Digest
    public let fields: [(name: String, content: SealedContent, digest: Digest)]
    /// The key that its fields are sealed under, for the next save in this epoch.
    public let recordKey: SecretBytes

    public enum SealedContent: Sendable {
        case stored(StoredField)
        case carried(Digest)
    }
}

/// What sealing and opening bind every byte of a record to.
struct RecordBinding {
    let context: Digest

    /// `H("record-context", container, environment, owner, zone, incarnation, record name, record type)`.
    init(_ statement: Statement) {
        var pae = PAE(.recordContext, pieces: 7)
        pae.add(statement.container)
        pae.add(statement.environment.rawValue)
        pae.add(statement.owner.id)
        pae.add(statement.zoneName)
        pae.add(statement.zoneIncarnation)
        pae.add(statement.recordName)
        pae.add(statement.recordType)
        context = Hash.digest(pae)
    }

    /// The associated data of one field: context, field name and value tag.
    func fieldData(_ name: String, tag: ValueTag) -> [UInt8] {
        var pae = PAE(.sealedField, pieces: 3, capacity: 128)
        pae.add(context)
        pae.add(name)
        pae.add(tag.byte)
        return pae.finish()
    }

    /// The associated data of an asset's descriptor.
    func descriptorData(_ name: String, salt: Digest) -> [UInt8] {
        var pae = PAE(.fileKey, pieces: 3, capacity: 160)
        pae.add(context)
        pae.add(name)
        pae.add(salt)
        return pae.finish()
    }
}

/// Seals records for one save: one draw of nonces, one signature.
public enum RecordSealer {
    /// - Parameters:
    ///   - drafts: 1 to 400, of one author.
    ///   - epochKey: of the epoch that every draft's statement names.
    /// - Returns: the sealed records, and the author's signature over the tree of their statements, in this order.
    /// - Throws: `malformed` for mixed lists, fields out of order, or a deletion with fields; `unsupported` for a
    ///   reference or an asset among encrypted values; `wrongContext` when a draft names another epoch; `missingKey`
    ///   when a field is carried without the key it was sealed under, or something is sealed under a key that was
    ///   carried over; `invalidLength` and others for what no statement can say.
    public static func seal(
        _ drafts: [RecordDraft], epochKey: EpochKey, signingKey: SigningKey, random: inout some RandomSource
    ) throws(SealError) -> (records: [SealedRecord], signature: [UInt8]) {
        try seal(drafts, epochKey: epochKey, others: [], signingKey: signingKey, random: &random)
    }

    /// The same for records of several scopes of one zone, in one signed batch.
    /// - Parameters:
    ///   - epochKey: of the epoch that most drafts name.
    ///   - others: the keys of the other epochs that drafts name.
    public static func seal(
        _ drafts: [RecordDraft], epochKey: EpochKey, others: [EpochKey], signingKey: SigningKey,
        random: inout some RandomSource
    ) throws(SealError) -> (records: [SealedRecord], signature: [UInt8]) {
        var draw = NonceDraw(random: &random)
        let wrapper = SealingKey(epochKey.wrappingKey, draw: draw)
        // One draw of randomness for all keys and salts: a system call a record would cost as much as sealing a field.
        let pool = SecretBytes(random: &random, count: drafts.count * 48)
        var records: [SealedRecord] = []
        records.reserveCapacity(drafts.count)
        for (index, draft) in drafts.enumerated() {
            guard let fresh = pool.part(index * 48..<index * 48 + 32) else { throw .invalidLength }
            let salt = try unsafe pool.withPointer { bytes throws(SealError) in
                try unsafe ID16(UnsafeBufferPointer(start: bytes + index * 48 + 32, count: 16))
            }
            let context = draft.statement.epochContext
            if context != epochKey.context, let other = others.first(where: { $0.context == context }) {
                let own = SealingKey(other.wrappingKey, draw: draw)
                records.append(try seal(draft, freshKey: fresh, salt: salt, epochKey: other, wrapper: own, draw: &draw))
            } else {
                records.append(
                    try seal(draft, freshKey: fresh, salt: salt, epochKey: epochKey, wrapper: wrapper, draw: &draw))
            }
        }
        let tree = try StatementTree(leaves: records.map { $0.hash })
        return (records, signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount)))
    }

    private static func seal(
        _ draft: RecordDraft, freshKey: SecretBytes, salt: ID16, epochKey: EpochKey, wrapper: borrowing SealingKey,
        draw: inout NonceDraw
    ) throws(SealError) -> SealedRecord {
        var statement = draft.statement
        guard statement.epochContext == epochKey.context else { throw .wrongContext }
        guard !statement.isKeyCarried || draft.recordKey != nil else { throw .missingKey }
        guard statement.kind == .save ? draft.taken.count == 0 : draft.fields.isEmpty else { throw .malformed }

        let binding = RecordBinding(statement)
        let recordKey = draft.recordKey ?? freshKey
        let sealer = SealingKey(recordKey, draw: draw)
        var contents: [(name: String, content: SealedRecord.SealedContent, digest: Digest)] = []
        var digests: [FieldDigest] = []
        contents.reserveCapacity(draft.fields.count)
        digests.reserveCapacity(draft.fields.count)
        for (name, field) in draft.fields {
            // Nothing new under a key that people of another epoch or scope may hold.
            if statement.isKeyCarried, field.isSealed { throw .missingKey }
            // Under a fresh key a carried ciphertext could never be opened again.
            if case .carried = field, draft.recordKey == nil { throw .missingKey }
            let content = try seal(field, name: name, binding: binding, sealer: sealer, draw: &draw)
            let digest: Digest
            switch content {
            case .stored(let stored): digest = try stored.digest(name: name)
            case .carried(let carried): digest = carried
            }
            digests.append(FieldDigest(name: name, digest: digest))
            contents.append((name, content, digest))
        }
        statement.salt = salt
        statement.fieldsDigest = statement.kind == .delete ? draft.taken.digest : try FieldSet.digest(digests)
        statement.wrappedKey =
            statement.kind == .delete
            ? [] : epochKey.wrap(recordKey, recordContext: binding.context, draw: &draw, wrapper: wrapper)
        try statement.check()
        let bytes = statement.canonicalBytes()
        return SealedRecord(
            statement: statement, statementBytes: bytes, hash: Statement.hash(bytes), fields: contents,
            recordKey: recordKey)
    }

    private static func seal(
        _ field: FieldDraft, name: String, binding: RecordBinding, sealer: borrowing SealingKey, draw: inout NonceDraw
    ) throws(SealError) -> SealedRecord.SealedContent {
        switch field {
        case .plain(let value):
            return .stored(.plain(value))
        case .encrypted(let value):
            let tag = value.tag
            guard tag.mayBeEncrypted else { throw .unsupported }
            let padded = Padding.pad(try value.canonicalBytes())
            let sealed = sealer.seal(padded, associatedData: binding.fieldData(name, tag: tag), draw: &draw)
            return .stored(.encrypted(tag, sealed: sealed))
        case .asset(let asset):
            let data = binding.descriptorData(name, salt: asset.salt)
            let descriptor = sealer.seal(asset.descriptor(), associatedData: data, draw: &draw)
            return .stored(
                .asset(
                    AssetCommitment(
                        salt: asset.salt, chunkCount: asset.chunkCount, root: asset.root, descriptor: descriptor)))
        case .carried(let digest):
            return .carried(digest)
        }
    }
}
