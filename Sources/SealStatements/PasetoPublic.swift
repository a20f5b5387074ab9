public import SealPrimitives

/// PASETO v4.public (paseto-standard): Ed25519 over `PAE(header, message, footer, implicit assertion)`.
public enum PasetoPublic {
    static let header = "v4.public."
    /// More than any token of ours; a longer one is refused before it is decoded.
    public static let maximumBytes = 8_192

    public static func sign(_ message: [UInt8], footer: [UInt8], implicit: [UInt8] = [], key: SigningKey) -> String {
        let signature = key.sign(message: preAuthentication(message, footer, implicit))
        let body = header + Base64URL.encode(message + signature)
        return footer.isEmpty ? body : body + "." + Base64URL.encode(footer)
    }

    /// The footer, unverified: only to look up the key that it names.
    public static func unverifiedFooter(_ token: String) throws(SealError) -> [UInt8] { try split(token).footer }

    /// - Returns: the message of a token whose signature holds.
    /// - Throws: `malformed`, `invalidSignature`.
    public static func verify(
        _ token: String, footer expectedFooter: [UInt8], implicit: [UInt8] = [], key: VerificationKey
    ) throws(SealError) -> [UInt8] {
        let (body, footer) = try split(token)
        guard constantTimeEqual(footer, expectedFooter), body.count >= SigningKey.signatureBytes else {
            throw .malformed
        }
        let message = [UInt8](body.dropLast(SigningKey.signatureBytes))
        let signature = [UInt8](body.suffix(SigningKey.signatureBytes))
        try key.verify(signature, message: preAuthentication(message, footer, implicit))
        return message
    }

    private static func split(_ token: String) throws(SealError) -> (body: [UInt8], footer: [UInt8]) {
        guard token.utf8.count <= maximumBytes, token.hasPrefix(header) else { throw .malformed }
        let parts = token.dropFirst(header.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 1 || (parts.count == 2 && !parts[1].isEmpty) else { throw .malformed }
        return (try Base64URL.decode(parts[0]), parts.count == 2 ? try Base64URL.decode(parts[1]) : [])
    }

    private static func preAuthentication(_ message: [UInt8], _ footer: [UInt8], _ implicit: [UInt8]) -> [UInt8] {
        var pae = PAE(pieces: 4, capacity: message.count + footer.count + implicit.count + 64)
        pae.add(header)
        pae.add(message)
        pae.add(footer)
        pae.add(implicit)
        return pae.finish()
    }
}
