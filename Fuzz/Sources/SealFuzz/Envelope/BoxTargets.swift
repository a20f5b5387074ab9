import SealEnvelope
import SealPrimitives

/// Boxes for one's own devices.
enum StorageBoxTarget: FuzzTarget {
    static let name = "storage-box"
    static let seeds = [Seed.hex("boxes", "sealed"), .hex("boxes", "secret")]
    private static let key = secret(0xB2)

    static func run(_ input: [UInt8]) {
        var random = FixedRandom()
        var choices = Choices(input)
        let (purpose, context) = (choices.name(), choices.bytes(atMost: 32))
        let secret = SecretBytes(copying: input)
        let sealed = StorageBox.seal(secret, purpose: purpose, context: context, under: key, random: &random)
        let open = { try StorageBox.open($0, purpose: purpose, context: context, under: key) }
        opensOnlyWhole(hostile: input, sealed: sealed, "a box", open: open)
        let opened = certain("a box opens") { try open(sealed) }
        require(SecretBytes.areEqual(opened, secret), "a box with another secret")
        refuses("another purpose", with: .authenticationFailed) {
            try StorageBox.open(sealed, purpose: purpose + "x", context: context, under: key)
        }
        refuses("another context", with: .authenticationFailed) {
            try StorageBox.open(sealed, purpose: purpose, context: context + [0], under: key)
        }
    }
}

/// Boxes by a passphrase, up to the derivation: what is refused has cost nothing.
enum PasswordBoxTarget: FuzzTarget {
    static let name = "password-box"
    static let maximumLength = 256
    static let seeds = [
        Seed.hex("boxes", "sealed"), .made([2, 0, 0, 0, 0, 0, 4, 0] + [UInt8](repeating: 0, count: 56)),
    ]

    static func run(_ input: [UInt8]) {
        guard input.count >= 64 else {
            return refuses("a short box", with: .malformed) { try PasswordBox.open(input, password: secret(1)) }
        }
        let number = { (start: Int) in input[start..<start + 4].reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        }
        let (passes, memory) = (number(0), number(4))
        // Within the limits it would be derived for: a quarter of a second and 256 MiB at the least.
        guard !(3...16 ~= passes && 262_144...4_194_304 ~= memory) else { return }
        refuses("parameters out of bounds", with: .weakParameters) { try PasswordBox.open(input, password: secret(1)) }
    }
}
