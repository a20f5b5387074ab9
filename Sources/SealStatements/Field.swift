public import SealPrimitives

/// A field as it is stored: what the author's signature covers.
public enum StoredField: Sendable, Hashable {
    /// Visible to the server: the canonical value.
    case plain(Value)
    /// Sealed by the author's client: the value's tag stays visible, the value does not.
    case encrypted(ValueTag, sealed: [UInt8])
    indirect case asset(AssetCommitment)

    /// What the digest covers beside the name: class, value tag and stored bytes (PROTOCOL.md, "Fields").
    /// - Throws: `malformed` for a value with a `fault`.
    public func form() throws(SealError) -> (class: UInt8, tag: UInt8, bytes: [UInt8]) {
        switch self {
        case .plain(let value): (1, value.tag.byte, try value.canonicalBytes())
        case .encrypted(let tag, let sealed): (Self.encryptedClass, tag.byte, sealed)
        case .asset(let asset): (3, ValueKind.asset.rawValue, asset.canonicalBytes())
        }
    }

    /// `H("field", name, class, type, stored bytes)`: binds the bytes to their name and their meaning.
    /// - Throws: as `form`.
    public func digest(name: String) throws(SealError) -> Digest {
        let form = try form()
        return StoredField.digest(name, class: form.class, tag: form.tag, form.bytes[...])
    }

    /// The same of an encrypted value whose bytes lie among others.
    public static func digest(ofEncrypted sealed: ArraySlice<UInt8>, _ tag: ValueTag, name: String) -> Digest {
        digest(name, class: encryptedClass, tag: tag.byte, sealed)
    }

    private static let encryptedClass: UInt8 = 2

    fileprivate static func digest(
        _ name: String, class fieldClass: UInt8, tag: UInt8, _ stored: ArraySlice<UInt8>
    ) -> Digest {
        Hash.digest(.field, pieces: 4, count: name.utf8.count + 2 + stored.count) { pae in
            pae.add(name)
            pae.add(fieldClass)
            pae.add(tag)
            pae.add(stored)
        }
    }
}

/// What a statement commits to of an asset: its sealed bytes through the root of a hash tree, and the sealed
/// descriptor that holds the file key.
public struct AssetCommitment: Sendable, Hashable {
    /// 32 bytes, public: the chunk key is derived from the file key and this.
    public let salt: Digest
    public let chunkCount: UInt64
    public let root: Digest
    /// File key and size, sealed under the record key.
    public let descriptor: [UInt8]

    public init(salt: Digest, chunkCount: UInt64, root: Digest, descriptor: [UInt8]) {
        self.salt = salt
        self.chunkCount = chunkCount
        self.root = root
        self.descriptor = descriptor
    }

    /// - Throws: `malformed`, `invalidLength`.
    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        salt = try reader.digest()
        chunkCount = try reader.number()
        root = try reader.digest()
        descriptor = try reader.blob(atMost: bytes.count)
        try reader.finish()
    }

    public func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter(capacity: 160)
        writer.digest(salt)
        writer.number(chunkCount)
        writer.digest(root)
        writer.blob(descriptor)
        return writer.bytes
    }
}

/// What a statement of the public database commits to of an asset: its bytes as they are, in chunks of 64 KiB, through
/// the root of the same hash tree. Hashed and signed, not sealed.
public struct PublicAsset: Sendable, Hashable {
    public let size: UInt64
    public let root: Digest

    public init(size: UInt64, root: Digest) {
        self.size = size
        self.root = root
    }

    /// As somebody says that it is.
    /// - Throws: `invalidLength` beyond what an asset may be.
    public init(claimed size: UInt64, root: Digest) throws(SealError) {
        guard size <= Limits.assetBytes else { throw .invalidLength }
        self.init(size: size, root: root)
    }

    public func digest(name: String) -> Digest {
        let form = form()
        return StoredField.digest(name, class: form.class, tag: form.tag, form.bytes[...])
    }

    /// As `StoredField.form()`: a field of class 4.
    public func form() -> (class: UInt8, tag: UInt8, bytes: [UInt8]) {
        var writer = CanonicalWriter(capacity: 40)
        writer.number(size)
        writer.digest(root)
        return (4, ValueKind.asset.rawValue, writer.bytes)
    }
}

/// A field's name and digest: all that a reader needs of a field that it did not ask for.
public struct FieldDigest: Sendable, Hashable {
    public let name: String
    public let digest: Digest

    public init(name: String, digest: Digest) {
        self.name = name
        self.digest = digest
    }
}

public enum FieldSet {
    /// The order of fields in everything that is hashed: by the bytes of the name.
    public static func isOrdered(_ left: String, _ right: String) -> Bool {
        let order = unsafe left.utf8.withContiguousStorageIfAvailable { left in
            unsafe right.utf8.withContiguousStorageIfAvailable { right in
                for index in 0..<min(left.count, right.count) where unsafe left[index] != right[index] {
                    return unsafe left[index] < right[index]
                }
                return left.count < right.count
            }
        }
        return (order ?? nil) ?? left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// `H("fields", name, digest, name, digest, …)`.
    /// - Throws: `malformed` unless names are identifiers, strictly ascending; `invalidLength` above the limit.
    public static func digest(_ fields: [FieldDigest]) throws(SealError) -> Digest {
        guard fields.count <= Limits.fieldsPerRecord else { throw .invalidLength }
        var count = fields.count * Digest.byteCount
        var last: String?
        for field in fields {
            guard Names.isIdentifier(field.name) else { throw .invalidName }
            if let last, !isOrdered(last, field.name) { throw .malformed }
            count += field.name.utf8.count
            last = field.name
        }
        return Hash.digest(.fields, pieces: fields.count * 2, count: count) { pae in
            for field in fields {
                pae.add(field.name)
                pae.add(field.digest)
            }
        }
    }
}
