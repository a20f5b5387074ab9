public import SealPrimitives
public import SealStatements

/// A field as a reader has it, verified and opened.
public enum OpenedField: Sendable {
    case plain(Value)
    case encrypted(Value)
    indirect case asset(SealedAsset)
}

/// Opens the fields of a record whose statement has been verified, and only of such a one.
public struct RecordOpener: Sendable {
    /// The record's own key: kept to seal later changes next to carried fields.
    public let recordKey: SecretBytes
    private let binding: RecordBinding

    /// - Parameter epochKey: of the epoch that the statement names.
    /// - Throws: `missingKey` for a deletion or another epoch's key; `authenticationFailed`.
    public init(_ verified: VerifiedStatement, epochKey: EpochKey) throws(SealError) {
        let statement = verified.statement
        guard statement.kind == .save, epochKey.context == statement.epochContext else { throw .missingKey }
        binding = RecordBinding(statement)
        recordKey = try epochKey.unwrap(statement.wrappedKey, recordContext: binding.context)
    }

    /// Whether a key unwraps the record key that a statement carries, whatever epoch the two name: to show that a
    /// removed participant's keys do not. It opens no field.
    public static func unwraps(_ statement: Statement, with key: EpochKey) -> Bool {
        let renamed = EpochKey(unchecked: key.key, context: statement.epochContext)
        return (try? renamed.unwrap(statement.wrappedKey, recordContext: RecordBinding(statement).context)) != nil
    }

    /// Call it only with fields that `VerifiedStatement.check` has accepted.
    /// - Throws: `authenticationFailed`; `malformed` when what opens is not the one canonical encoding, or not of the
    ///   tag that the field shows.
    public func open(_ field: StoredField, name: String) throws(SealError) -> OpenedField {
        switch field {
        case .plain(let value):
            return .plain(value)
        case .encrypted(let tag, let sealed):
            var plaintext = try AEAD.open(sealed, under: recordKey, associatedData: binding.fieldData(name, tag: tag))
            defer { wipe(&plaintext) }
            let value = try Value(padded: plaintext)
            guard value.tag == tag, tag.mayBeEncrypted else { throw .malformed }
            return .encrypted(value)
        case .asset(let commitment):
            let data = binding.descriptorData(name, salt: commitment.salt)
            let descriptor = try AEAD.openSecret(commitment.descriptor, under: recordKey, associatedData: data)
            return .asset(try SealedAsset(descriptor: descriptor, commitment: commitment))
        }
    }
}
