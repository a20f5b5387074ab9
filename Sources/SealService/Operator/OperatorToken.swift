import SealPrimitives

/// What lets the server's operator in on the operator's listener: `sealkit-operator-` and 32 random bytes in base64url,
/// in the secrets folder. It is good nowhere else, and nothing else is good there. The server keeps its hash.
package struct OperatorToken: Sendable {
    package static let prefix = "sealkit-operator-"
    package static let fileName = "operator.token"
    private static let file = TokenFile(prefix: prefix, label: .operatorToken)

    private let hash: [UInt8]

    /// Reads `operator.token` in the secrets folder, or makes it at the first start. To replace it, remove the file and
    /// restart.
    package init(secretsFolder: String, randomBytes: (Int) -> [UInt8]) throws {
        hash = try Self.file.loadOrCreate(at: secretsFolder + "/" + Self.fileName, randomBytes: randomBytes)
    }

    package func isGood(_ token: some StringProtocol) -> Bool {
        guard let other = Self.file.hash(token) else { return false }
        return constantTimeEqual(other, hash)
    }
}
