public import Foundation
import SealPrimitives
import SealStatements

/// CloudKit's `encodeSystemFields(with:)`: what an app keeps beside its own copy of a record, so that the next save is
/// compared with the version that it knows.
///
/// Encoded are names, change tag and dates, the signed statement with its proof, and the digests of the fields; no
/// value of a field, and no key that opens one. Nothing in it is believed when it comes back: before the next save the
/// statement is verified like one that a server sends.
extension Record {
    private static let version: UInt8 = 1
    /// More than 1,000 fields with their names take.
    private static let largest = 1 << 20

    /// For `init(systemFields:)`. Changed keys are not part of it: save first, or note them yourself.
    public func encodeSystemFields() -> Data {
        var writer = CanonicalWriter(capacity: 1024)
        writer.number(Record.version)
        writer.string(recordID.zoneID.zoneName)
        writer.string(recordID.zoneID.ownerName)
        writer.string(recordID.recordName)
        writer.string(recordType)
        writer.flag(base != nil && recordChangeTag != nil)
        if let base, let recordChangeTag {
            writer.string(recordChangeTag)
            writer.number(creationDate?.systemTime ?? 0)
            writer.number(modificationDate?.systemTime ?? 0)
            writer.blob(base.statement.canonicalBytes())
            writer.blob(base.proof.signature)
            writer.number(UInt32(base.proof.leafCount))
            writer.number(UInt32(base.proof.index))
            writer.number(UInt8(base.proof.path.count))
            for node in base.proof.path { writer.digest(node) }
            writer.number(UInt32(base.digests.count))
            for (name, digest) in base.digests {
                writer.string(name)
                writer.digest(digest)
            }
        }
        return Data(writer.bytes)
    }

    /// A record with its system fields alone: every field is there, none has a value (`omittedKeys`). Set what is to
    /// change and save it; what is not set stays as it is on the server.
    /// - Throws: `invalidArguments` for anything but what `encodeSystemFields()` gave; `incompatibleVersion` for what a
    ///   newer version gave.
    public init(systemFields: Data) throws(SealKitError) {
        guard systemFields.first == Record.version || systemFields.isEmpty else {
            throw SealKitError(
                .incompatibleVersion, "the system fields were encoded by another version",
                remedy: "fetch the record instead")
        }
        do throws(SealError) {
            guard systemFields.count <= Record.largest else { throw .invalidLength }
            var reader = CanonicalReader([UInt8](systemFields))
            try self.init(reading: &reader)
        } catch {
            throw SealKitError(
                .invalidArguments, "these are not a record's system fields, or they are damaged",
                remedy: "fetch the record instead")
        }
    }

    private init(reading reader: inout CanonicalReader) throws(SealError) {
        _ = try reader.byte()
        func name() throws(SealError) -> String {
            let name = try reader.string(atMost: Limits.nameBytes)
            guard Names.isPlain(name) else { throw .invalidName }
            return name
        }
        let zone = RecordZone.ID(zoneName: try name(), ownerName: try name())
        let recordName = try name()
        let type = try name()
        guard Names.isRecordType(type) else { throw .invalidName }
        self.init(recordType: type, recordID: ID(recordName: recordName, zoneID: zone))
        guard try reader.flag() else {
            try reader.finish()
            return
        }

        recordChangeTag = try name()
        creationDate = Date(microseconds: try reader.number())
        modificationDate = Date(microseconds: try reader.number())
        let bytes = try reader.blob(atMost: 4096)
        let statement = try Statement(canonicalBytes: bytes)
        guard statement.kind == .save, statement.recordName == recordName, statement.recordType == type,
            statement.zoneName == zone.zoneName
        else { throw .wrongContext }
        let signature = try reader.blob(atMost: 64)
        let (leafCount, index) = (Int(try reader.number(UInt32.self)), Int(try reader.number(UInt32.self)))
        var path: [Digest] = []
        for _ in 0..<(try reader.count(UInt8.self, ofAtLeast: Digest.byteCount)) { path.append(try reader.digest()) }
        var digests: [FieldDigest] = []
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: Digest.byteCount)) {
            digests.append(FieldDigest(name: try reader.string(atMost: Limits.nameBytes), digest: try reader.digest()))
        }
        try reader.finish()
        // Also that names are in order, each once.
        guard try FieldSet.digest(digests) == statement.fieldsDigest else { throw .fieldMismatch }

        parent = statement.parent.map { Reference(recordName: $0) }
        share = statement.share.map { Reference(recordName: $0) }
        base = Base(
            statement: statement, hash: Statement.hash(bytes),
            proof: StatementProof(signature: signature, leafCount: leafCount, index: index, path: path),
            digests: FieldList(digests), isUnverified: true)
        for digest in digests { fields[digest.name] = .omitted }
    }

    /// The words of all plain string fields, for a full-text search of one's own: CloudKit's `allTokens()`. Encrypted
    /// values are left out: a list of their words would end up where the server reads it.
    public func allTokens() -> [String] {
        fields.flatMap { _, state -> [String] in
            switch state {
            case .plain(.string(let text)): text.split(whereSeparator: \.isWhitespace).map(String.init)
            case .plain(.list(let elements)):
                elements.flatMap { element -> [String] in
                    guard case .string(let text) = element else { return [] }
                    return text.split(whereSeparator: \.isWhitespace).map(String.init)
                }
            default: []
            }
        }
    }
}
