import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A record of an answer whose statement and stored bytes are verified (PROTOCOL.md, "Steps of reading", 1 to 6). What
/// was seen of it before says whether it is believed.
public struct ReadRecord: Sendable {
    public let verified: VerifiedStatement
    public let proof: StatementProof
    public let sighting: Sighting
    /// As the statement covers them: ascending by name. None of a record that is gone.
    public let fields: [ShownField]
    /// Of each of the fields.
    public let digests: [FieldDigest]
    /// It is gone: deleted, with another, or out of what this account sees.
    public let isGone: Bool

    public var statement: Statement { verified.statement }

    /// One that is there.
    init(
        _ verified: VerifiedStatement, _ proof: StatementProof, _ sighting: Sighting, _ fields: [ShownField],
        _ digests: [FieldDigest]
    ) {
        (self.verified, self.proof, self.sighting, isGone) = (verified, proof, sighting, false)
        (self.fields, self.digests) = (fields, digests)
    }

    init(gone verified: VerifiedStatement, _ proof: StatementProof, _ sighting: Sighting) {
        (self.verified, self.proof, self.sighting, isGone) = (verified, proof, sighting, true)
        (fields, digests) = ([], [])
    }
}

extension RecordReading {
    /// Opens a record that is there, field after field.
    /// - Parameter take: is given each field, in order. What it was given of a record that does not open counts for
    ///   nothing.
    /// - Returns: the record's key, for what is to be sealed beside fields that stay; nil in the public database.
    /// - Throws: what does not open: that is under its author's signature (R-READ-11). `missingKey`;
    ///   `authenticationFailed`; `malformed`; `unsupported` for what has no place in such a database.
    public func open(
        _ record: ReadRecord, _ take: (String, ReadField) -> Void
    ) throws(SealError) -> SecretBytes? {
        let opener = try ground.opener(of: record.verified)
        for shown in record.fields {
            switch shown.field {
            case .digest:
                take(shown.name, .omitted)
            case .publicAsset(let asset, let blob):
                // What is private is sealed.
                guard opener == nil else { throw .unsupported }
                take(shown.name, .publicAsset(asset, blob: blob))
            case .stored(let stored, let blob):
                guard let opener else {
                    guard case .plain(let value) = stored else { throw .unsupported }
                    take(shown.name, .plain(value))
                    continue
                }
                switch try opener.open(stored, name: shown.name) {
                case .plain(let value): take(shown.name, .plain(value))
                case .encrypted(let value): take(shown.name, .encrypted(value))
                case .asset(let asset): take(shown.name, .asset(asset, blob: blob ?? ""))
                }
            }
        }
        return opener?.recordKey
    }
}
