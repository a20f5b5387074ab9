package import SealPrimitives

/// What accounts are counted by where nobody is to be named: a hash with a key of the secrets folder, another one each
/// month, so that of two months nobody can tell who was in both.
package struct ActiveAccountHashes: Sendable {
    private let key: SecretBytes

    package init(key: SecretBytes) { self.key = key }

    /// - Parameter month: its beginning, in seconds since 1970.
    package func hash(_ account: Int64, month: Int64) -> UInt64 {
        ServerHash.keyed(key, .activity, ServerBytes.of(month), ServerBytes.of(account)).prefix(8).reduce(0) {
            $0 << 8 | UInt64($1)
        }
    }
}
