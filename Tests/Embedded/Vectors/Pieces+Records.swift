import SealEnvelope
import SealPrimitives
import SealStatements
import SealWeb

extension Pieces {
    /// Roster, epoch key, statement, proof and stored fields → each field's name and its opened value, or an asset's
    /// size.
    ///
    /// Nothing is opened before all of it was verified: whose it is, and that these are the fields that were signed.
    func openRecord(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var verifier = StatementVerifier(roster: try rosters[try reader.number()])
        let key = try epochKeys[try reader.number()]
        let statement = try reader.blob(atMost: Limits.recordBytes)
        let verified = try verifier.verify(statement, proof: try proof(&reader), recordName: nil)
        var fields: [(name: String, field: StoredField)] = []
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 10)) {
            fields.append((try reader.string(atMost: Limits.nameBytes), try field(&reader)))
        }
        var digests: [FieldDigest] = []
        for (name, field) in fields { digests.append(FieldDigest(name: name, digest: try field.digest(name: name))) }
        try verified.check(digests)
        let opener = try RecordOpener(verified, epochKey: key)
        writer.number(UInt32(fields.count))
        for (name, field) in fields {
            writer.string(name)
            switch try opener.open(field, name: name) {
            case .plain(let value), .encrypted(let value):
                writer.flag(false)
                writer.blob(try value.canonicalBytes())
            case .asset(let asset):
                writer.flag(true)
                writer.number(asset.size)
            }
        }
    }

    private func proof(_ reader: inout CanonicalReader) throws(SealError) -> StatementProof {
        let signature = try reader.blob(atMost: 64)
        let (count, index) = (Int(try reader.number(UInt16.self)), Int(try reader.number(UInt16.self)))
        var path: [Digest] = []
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: Digest.byteCount)) { path.append(try reader.digest()) }
        return StatementProof(signature: signature, leafCount: count, index: index, path: path)
    }

    /// The class that the field's digest has, the type's tag of an encrypted one, and the stored bytes.
    private func field(_ reader: inout CanonicalReader) throws(SealError) -> StoredField {
        switch try reader.byte() {
        case 1: return .plain(try Value(canonicalBytes: try reader.blob(atMost: Limits.recordBytes)))
        case 2:
            let tag = try ValueTag(byte: try reader.byte())
            return .encrypted(tag, sealed: try reader.blob(atMost: Limits.recordBytes))
        case 3: return .asset(try AssetCommitment(canonicalBytes: try reader.blob(atMost: Limits.recordBytes)))
        default: throw .malformed
        }
    }
}
