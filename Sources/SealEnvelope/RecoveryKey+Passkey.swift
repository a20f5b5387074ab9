public import SealPrimitives

extension RecoveryKey {
    /// What a passkey's pseudo-random function is asked for (WebAuthn's extension `prf`): the same for all, since each
    /// passkey answers with bytes of its own.
    public static let passkeyInput = [UInt8]("sealkit/1/passkey".utf8)

    /// The recovery key that a passkey gives, at one server: another server under the same name, on another port say,
    /// gets nothing out of it.
    ///
    /// - Parameters:
    ///   - output: what the passkey has answered to `passkeyInput`.
    ///   - origin: of the server.
    /// - Throws: `invalidLength` unless there are 32 bytes.
    public init(passkey output: SecretBytes, origin: String) throws(SealError) {
        guard output.count == 32 else { throw .invalidLength }
        try self.init(Hash.derive(output, .recoveryPasskey, [UInt8](origin.utf8)))
    }
}
