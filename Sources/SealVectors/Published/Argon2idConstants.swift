import SealPrimitives

/// Argon2id as published where libsodium can say it.
///
/// RFC 9106's one vector (5.3) has a secret value, associated data and four lanes: libsodium's `crypto_pwhash` has no
/// parameter for any of the three, and a hash in text form has none for the first two. So it is the vectors of the
/// reference implementation and of libsodium that run here. All of them cost less than the floors of
/// `PasswordParameters`, which has to refuse them; they are computed by the functions of libsodium behind it.
enum Argon2idConstants: PublishedConstants {
    static let name = "Argon2id, in the source"

    /// P-H-C/phc-winner-argon2, src/test.c, Argon2id of version 0x13: password, and hash in text form.
    static let reference = [
        ("password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"),
        ("password", "$argon2id$v=19$m=262144,t=2,p=1$c29tZXNhbHQ$eP4eyR+zqlZX1y5xCFTkw9m5GYx0L5YWwvCFvtlbLow"),
        ("password", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"),
        ("password", "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc"),
        ("password", "$argon2id$v=19$m=65536,t=1,p=1$c29tZXNhbHQ$9qWtwbpyPd3vm1rB1GThgPzZ3/ydHL92zKL+15XZypg"),
        ("password", "$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$kCXUjmjvc5XMqQedpMTsOv+zyJEf5PhtGiUghW9jFyw"),
        ("differentpassword", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$C4TWUs9rDEvq7w3+J4umqA32aWKB1+DSiRuBfYxFj94"),
        ("password", "$argon2id$v=19$m=65536,t=2,p=1$ZGlmZnNhbHQ$vfMrBczELrFdWP0ZsfhWsRPaHppYdP3MVEMIVlqoFBw"),
    ]

    struct Derivation {
        let password, salt: String
        let passes: UInt32
        let memoryBytes: Int
        let output: String
    }

    /// libsodium, test/default/pwhash_argon2id.c and .exp, the fifth and the seventh.
    static let derivations = [
        Derivation(
            password:
                "4a857e2ee8aa9b6056f2424e84d24a72473378906ee04a46cb05311502d5250b82ad86b83c8f20a23dbb74f6da60b0b6ecffd67134d45946ac8ebfb3064294bc097d43ced68642bfb8bbbdd0f50b30118f5e",
            salt: "39d82eef32010b8b79cc5ba88ed539fb", passes: 3, memoryBytes: 1_432_947,
            output:
                "08d8cd330c57e1b4643241d05bb468ba4ee4e932cd0858816be9ef15360b27bbd06a87130ee92222be267a29b81f5ae8fe8613324cfc4832dc49387fd0602f1c57b4d0f3855db94fb7e12eb05f9a484aed4a4307abf586cd3d55c809bc081541e00b682772fb2066504ff935b8ebc551a2083882f874bc0fae68e56848ae34c91097c3bf0cca8e75c0797eef3efde3f75e005815018db3cf7c109a812264c4de69dcb22322dbbcfa447f5b00ecd1b04a7be1569c8e556adb7bba48adf81d"
        ),
        Derivation(
            password: "b540beb016a5366524d4605156493f9874514a5aa58818cd0c6dfffaa9e90205f17b",
            salt: "44071f6d181561670bda728d43fb79b4", passes: 1, memoryBytes: 1_631_659,
            output:
                "7fb72409b0987f8190c3729710e98c3f80c5a8727d425fdcde7f3644d467fe973f5b5fee683bd3fce812cb9ae5e9921a2d06c2f1905e4e839692f2b934b682f11a2fe2b90482ea5dd234863516dba6f52dc0702d324ec77d860c2e181f84472bd7104fedce071ffa93c5309494ad51623d214447a7b2b1462dc7d5d55a1f6fd5b54ce024118d86f0c6489d16545aaa87b6689dad9f2fb47fda9894f8e12b87d978b483ccd4cc5fd9595cdc7a818452f915ce2f7df95ec12b1c72e3788d473441d884f9748eb14703c21b45d82fd667b85f5b2d98c13303b3fe76285531a826b6fc0fe8e3dddecf"
        ),
    ]

    static func run(into report: inout PublishedReport) throws {
        for (password, text) in reference { run(password, text, into: &report) }
        for derivation in derivations { try run(derivation, into: &report) }
        try runFloor(into: &report)
        report.leaveOut("RFC 9106, 5.3: secret, associated data, four lanes")
    }

    static func run(_ password: String, _ text: String, into report: inout PublishedReport) {
        report.test(
            text, accepted: true,
            by: [PublishedVerdict("libsodium's verifier", BareSodium.argon2idVerifies(text, password))])
    }

    static func run(_ test: Derivation, into report: inout PublishedReport) throws {
        let (password, salt, output) = (
            try Hex.decode(test.password), try Hex.decode(test.salt), try Hex.decode(test.output)
        )
        let derived = BareSodium.argon2id(
            password, salt: salt, passes: UInt64(test.passes), memoryBytes: test.memoryBytes, count: output.count)
        let weak = PasswordParameters(passes: test.passes, memoryKiB: UInt32(test.memoryBytes / 1024))
        var refusal: SealError?
        do { _ = try weak.derive(SecretBytes(copying: password), salt: salt) } catch { refusal = error }
        report.test(
            "\(test.passes) passes, \(test.memoryBytes) bytes", accepted: true,
            by: [
                PublishedVerdict("libsodium", derived == output),
                PublishedVerdict("PasswordParameters' floor", refusal == .weakParameters),
            ])
    }

    /// No published vector reaches the floor: what our face derives there has to pass libsodium's verifier, which the
    /// published hashes have just been through.
    private static func runFloor(into report: inout PublishedReport) throws {
        let floor = PasswordParameters.moderate
        let key = try floor.derive(SecretBytes(copying: "password".utf8), salt: [UInt8]("sixteen bytes ok".utf8))
        let text =
            "$argon2id$v=19$m=\(floor.memoryKiB),t=\(floor.passes),p=1$c2l4dGVlbiBieXRlcyBvaw$"
            + base64(key.copyBytes())
        report.test(
            "at the floor", accepted: true,
            by: [
                PublishedVerdict("PasswordParameters", BareSodium.argon2idVerifies(text, "password"))
            ])
    }

    /// The text form's alphabet, without padding.
    private static func base64(_ bytes: [UInt8]) -> String {
        String(Base64URL.encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }
}
