package import SealPrimitives

/// JSON as vector files hold it: bytes are lower-case hexadecimal strings, 64-bit numbers decimal strings.
package enum JSON: Equatable, Sendable {
    case string(String)
    case int(Int)
    case bool(Bool)
    case array([JSON])
    case object([String: JSON])
    /// Null or a fraction, of which others' files have some and ours none.
    case other

    package static func hex(_ bytes: [UInt8]) -> JSON { .string(Hex.encode(bytes)) }
    package static func hex(_ digest: Digest) -> JSON { .string(digest.hex) }
    package static func hex(_ id: ID16) -> JSON { .string(id.hex) }
    package static func hex(_ secret: SecretBytes) -> JSON { .hex(secret.copyBytes()) }
    package static func number(_ value: some BinaryInteger) -> JSON { .string(String(value)) }
}
