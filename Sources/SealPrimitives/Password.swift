import CSodium

/// Argon2id (RFC 9106, version 1.3) with floors compiled in.
public struct PasswordParameters: Sendable, Equatable {
    public static let saltBytes = 16
    /// libsodium's MODERATE: 3 passes over 256 MiB.
    public static let moderate = PasswordParameters(passes: 3, memoryKiB: 262_144)
    /// The ceiling is there because a file names its own cost: nobody's memory is filled by a hostile one.
    public static let ceiling = PasswordParameters(passes: 16, memoryKiB: 4_194_304)

    public let passes: UInt32
    public let memoryKiB: UInt32

    public init(passes: UInt32, memoryKiB: UInt32) {
        self.passes = passes
        self.memoryKiB = memoryKiB
    }

    /// - Throws: `weakParameters` below the floor (or above the ceiling) before anything is derived; `outOfMemory`.
    public func derive(_ password: SecretBytes, salt: [UInt8]) throws(SealError) -> SecretBytes {
        guard passes >= Self.moderate.passes, memoryKiB >= Self.moderate.memoryKiB, passes <= Self.ceiling.passes,
            memoryKiB <= Self.ceiling.memoryKiB, salt.count == Self.saltBytes
        else { throw .weakParameters }
        // 4 GiB is more than a 32-bit machine can address.
        guard let memoryBytes = Int(exactly: UInt64(memoryKiB) * 1024) else { throw .outOfMemory }
        var code: Int32 = -1
        let key = unsafe SecretBytes(count: 32) { output in
            unsafe password.withPointer { bytes in
                code = unsafe bytes.withMemoryRebound(to: CChar.self, capacity: password.count) { bytes in
                    unsafe crypto_pwhash(
                        output, 32, bytes, UInt64(password.count), salt, UInt64(passes), memoryBytes,
                        crypto_pwhash_ALG_ARGON2ID13)
                }
            }
        }
        guard code == 0 else { throw .outOfMemory }
        return key
    }
}
