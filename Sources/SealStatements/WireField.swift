public import SealPrimitives

/// A field as it travels: with its stored bytes, or as the digest of bytes that stay where they are (omitted by
/// `desiredKeys` on the way down, carried over on the way up).
public enum WireField: Sendable {
    case stored(StoredField, blob: String?)
    case digest(Digest)
    /// Of the public database: not sealed, and nowhere else.
    indirect case publicAsset(PublicAsset, blob: String)

    /// The digest that the statement covers.
    public func digest(name: String) throws(SealError) -> Digest {
        switch self {
        case .stored(let field, _): try field.digest(name: name)
        case .digest(let digest): digest
        case .publicAsset(let asset, _): asset.digest(name: name)
        }
    }
}
