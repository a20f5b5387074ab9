public import SealPrimitives

extension RecoveryKey {
    /// The recovery key that a passphrase gives, together with a name that its user chose and one server: what it names
    /// and seals nobody finds, let alone opens, without an Argon2id for each passphrase that is tried.
    ///
    /// - Parameters:
    ///   - passphrase: as its UTF-8 is.
    ///   - name: keeps people with the same passphrase apart; an e-mail address serves. Spaces around it and the case
    ///     of A to Z do not matter.
    ///   - origin: of the server.
    /// - Throws: `invalidLength` for a passphrase or a name of no bytes, or a name above 255; `outOfMemory`.
    public init(passphrase: SecretBytes, name: String, origin: String) throws(SealError) {
        let name = RecoveryKey.folded(name)
        guard passphrase.count > 0, (1...255).contains(name.count) else { throw .invalidLength }
        let salt = Hash.digest(.recoveryPassphrase, [UInt8](origin.utf8), name)
        try self.init(
            PasswordParameters.moderate.derive(
                passphrase, salt: [UInt8](salt.bytes.prefix(PasswordParameters.saltBytes))))
    }

    private static func folded(_ name: String) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var bytes = [UInt8](name.utf8.drop(while: isSpace))
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
