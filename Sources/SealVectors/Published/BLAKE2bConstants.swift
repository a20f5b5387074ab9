import SealPrimitives

/// BLAKE2b as published: by libsodium, since `Hash` gives 32 bytes of PAEs only; and then `Hash` against libsodium.
enum BLAKE2bConstants: PublishedConstants {
    static let name = "BLAKE2b, in the source"

    struct Hashing {
        let source, message, key, output: String
    }

    private static let key =
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
    static let hashings = [
        Hashing(
            source: "RFC 7693, appendix A", message: "616263", key: "",
            output:
                "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
        ),
        Hashing(
            source: "BLAKE2/BLAKE2, blake2b-kat.txt, nothing", message: "", key: key,
            output:
                "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"
        ),
        Hashing(
            source: "BLAKE2/BLAKE2, blake2b-kat.txt, one byte", message: "00", key: key,
            output:
                "961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd"
        ),
    ]
    /// RFC 7693, appendix E: BLAKE2b-256 of the 48 hashes of the self-test.
    static let selfTest = "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475"

    static func run(into report: inout PublishedReport) throws {
        for hashing in hashings { try run(hashing, into: &report) }
        try runSelfTest(output: selfTest, into: &report)
        runHash(into: &report)
    }

    static func run(_ test: Hashing, into report: inout PublishedReport) throws {
        let output = try Hex.decode(test.output)
        let hash = try BareSodium.blake2b(Hex.decode(test.message), key: Hex.decode(test.key), count: output.count)
        report.test(test.source, accepted: true, by: [PublishedVerdict("libsodium", hash == output)])
    }

    /// Unkeyed and keyed over four lengths of output and six of input.
    static func runSelfTest(output: String, into report: inout PublishedReport) throws {
        var hashes: [UInt8] = []
        for count in [20, 32, 48, 64] {
            for length in [0, 3, 128, 129, 255, 1024] {
                let message = sequence(length)
                hashes += BareSodium.blake2b(message, count: count)
                hashes += BareSodium.blake2b(message, key: sequence(count), count: count)
            }
        }
        let grand = Hex.encode(BareSodium.blake2b(hashes, count: 32))
        report.test("RFC 7693, appendix E", accepted: true, by: [PublishedVerdict("libsodium", grand == output)])
    }

    /// The RFC's deterministic bytes, by a Fibonacci generator that starts from their number.
    private static func sequence(_ count: Int) -> [UInt8] {
        var (a, b) = (0xDEAD_4BAD &* UInt32(count), 1 as UInt32)
        return (0..<count).map { _ in
            (a, b) = (b, a &+ b)
            return UInt8(b >> 24)
        }
    }

    /// `Hash` is BLAKE2b-256 of a PAE's bytes, unkeyed and keyed, also where those are longer than a block of 128.
    private static func runHash(into report: inout PublishedReport) {
        let key = sequence(32)
        for length in [0, 112, 113, 1024] {
            var pae = PAE(pieces: 1)
            pae.add(sequence(length))
            let derived = Hash.derive(SecretBytes(copying: key), pae).copyBytes()
            report.test(
                "a PAE of \(pae.bytes.count) bytes", accepted: true,
                by: [
                    PublishedVerdict("Hash.digest", Hash.digest(pae).bytes == BareSodium.blake2b(pae.bytes, count: 32)),
                    PublishedVerdict("Hash.derive", derived == BareSodium.blake2b(pae.bytes, key: key, count: 32)),
                ])
        }
    }
}
