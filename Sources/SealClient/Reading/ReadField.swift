public import SealEnvelope
public import SealStatements

/// A field as a reader has it, verified and opened.
public enum ReadField: Sendable {
    case plain(Value)
    case encrypted(Value)
    /// - Parameter blob: where its bytes are.
    indirect case asset(SealedAsset, blob: String)
    indirect case publicAsset(PublicAsset, blob: String)
    /// It was not asked for.
    case omitted
}
