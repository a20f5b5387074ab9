public import SealPrimitives

/// What one's own devices keep on the server, sealed under the account's storage key.
public enum StorageBox {
    /// - Parameters:
    ///   - purpose: what the box holds; a box for one purpose does not open as another.
    ///   - context: what it belongs to (a routing id, a scope id).
    public static func seal(
        _ secret: SecretBytes, purpose: String, context: [UInt8], under storageKey: SecretBytes,
        random: inout some RandomSource
    ) -> [UInt8] {
        AEAD.seal(secret, under: storageKey, associatedData: associatedData(purpose, context), random: &random)
    }

    public static func open(
        _ sealed: [UInt8], purpose: String, context: [UInt8], under storageKey: SecretBytes
    ) throws(SealError) -> SecretBytes {
        try AEAD.openSecret(sealed, under: storageKey, associatedData: associatedData(purpose, context))
    }

    /// What was sealed before the account took new keys opens with those before.
    /// - Parameter seeds: oldest first.
    public static func open(
        _ sealed: [UInt8], purpose: String, context: [UInt8], keptBy seeds: [AccountSeed]
    ) throws(SealError) -> SecretBytes {
        for seed in seeds.dropFirst().reversed() {
            let opened = try? open(sealed, purpose: purpose, context: context, under: seed.storageKey())
            if let opened { return opened }
        }
        guard let first = seeds.first else { throw .missingKey }
        return try open(sealed, purpose: purpose, context: context, under: first.storageKey())
    }

    private static func associatedData(_ purpose: String, _ context: [UInt8]) -> [UInt8] {
        var pae = PAE(.storageBox, pieces: 2)
        pae.add(purpose)
        pae.add(context)
        return pae.finish()
    }
}

/// Something sealed by a passphrase: `LE32 passes ‖ LE32 memory in KiB ‖ salt (16) ‖ sealed`. The parameters are bound
/// as associated data, and refused below the floor before anything is derived.
public enum PasswordBox {
    static let headerBytes = 8 + PasswordParameters.saltBytes

    public static func seal(
        _ secret: SecretBytes, password: SecretBytes, parameters: PasswordParameters = .moderate,
        random: inout some RandomSource
    ) throws(SealError) -> [UInt8] {
        let salt = random.bytes(PasswordParameters.saltBytes)
        var writer = CanonicalWriter()
        writer.number(parameters.passes)
        writer.number(parameters.memoryKiB)
        writer.raw(salt)
        let header = writer.bytes
        let key = try parameters.derive(password, salt: salt)
        return header + AEAD.seal(secret, under: key, associatedData: associatedData(header), random: &random)
    }

    /// - Throws: `authenticationFailed` for a wrong passphrase or altered bytes; `weakParameters`; `outOfMemory`.
    public static func open(_ box: [UInt8], password: SecretBytes) throws(SealError) -> SecretBytes {
        guard box.count >= headerBytes + AEAD.overhead else { throw .malformed }
        let header = [UInt8](box.prefix(headerBytes))
        var reader = CanonicalReader(header)
        let parameters = PasswordParameters(passes: try reader.number(), memoryKiB: try reader.number())
        let key = try parameters.derive(password, salt: try reader.raw(PasswordParameters.saltBytes))
        return try AEAD.openSecret(
            [UInt8](box.dropFirst(headerBytes)), under: key, associatedData: associatedData(header))
    }

    private static func associatedData(_ header: [UInt8]) -> [UInt8] {
        var pae = PAE(.passwordBox, pieces: 1)
        pae.add(header)
        return pae.finish()
    }
}
