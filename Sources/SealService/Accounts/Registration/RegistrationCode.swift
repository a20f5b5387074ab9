import SealPrimitives

/// What lets somebody make one account on a server that takes no others: `id || expiry || mac`, in hexadecimal digits.
/// The key that made it lies in the secrets folder, and the server keeps those alone that were used.
struct RegistrationCode: Sendable, Equatable {
    static let idBytes = 8
    private static let expiryBytes = 5
    private static let macBytes = 16
    static let fileName = "registration.key"

    let id: [UInt8]
    /// Seconds since 1970.
    let expires: Int64

    /// Its bytes without the authenticator: the expiry is big-endian.
    private var content: [UInt8] {
        id + (0..<Self.expiryBytes).map { UInt8(truncatingIfNeeded: expires >> (32 - 8 * Int64($0))) }
    }

    private static func mac(_ content: [UInt8], _ key: SecretBytes) -> [UInt8] {
        Array(ServerHash.keyed(key, .registrationCode, content).prefix(macBytes))
    }

    func text(key: SecretBytes) -> String { Hex.encode(content + Self.mac(content, key)) }

    init(id: [UInt8], expires: Int64) {
        (self.id, self.expires) = (id, expires)
    }

    /// - Returns: nil for a text that this key has not made.
    init?(_ text: String, key: SecretBytes) {
        let length = Self.idBytes + Self.expiryBytes + Self.macBytes
        guard text.utf8.count == 2 * length, let bytes = try? Hex.decode(text) else { return nil }
        let content = Array(bytes.prefix(length - Self.macBytes))
        guard constantTimeEqual(Array(bytes.suffix(Self.macBytes)), Self.mac(content, key)) else { return nil }
        id = Array(content.prefix(Self.idBytes))
        expires = content.suffix(Self.expiryBytes).reduce(0) { $0 << 8 | Int64($1) }
    }
}
