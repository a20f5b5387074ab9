import SealPrimitives

/// A token as it is pasted and sent: a prefix that says what it is for, and 32 bytes in base64url.
struct PrefixedToken: Sendable {
    private let prefix: String
    private let secret: SecretBytes

    /// Nil for a text that is no such token.
    init?(_ text: some StringProtocol, prefix: String) {
        guard text.hasPrefix(prefix), let secret = try? Base64URL.decodeSecret(text.dropFirst(prefix.count)),
            secret.count == 32
        else { return nil }
        (self.prefix, self.secret) = (prefix, secret)
    }

    func text() -> String { prefix + Base64URL.encode(secret) }
}
