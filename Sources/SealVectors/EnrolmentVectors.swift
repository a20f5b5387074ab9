import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

extension EnrolmentVectors: Construction {
    static let construction = VectorConstruction.enrolment
    static let algorithm = "Enrolling a device"
    static let header = [
        "Transcript: `key` and `nonce`, which `commitment` commits to for `enrolmentID`, `answer` and `loginKey` give `transcript` and `code`.",
        "Package: the new device of `enrolmentID`, `keySeed` (an X-Wing seed) and `nonce`, after `answer` and `loginKey`, opens `sealed` to `seeds` and `heads`.",
    ]

    private static let enrolmentID = [UInt8](repeating: 0x11, count: 16)
    private static let keySeed = [UInt8](repeating: 0x22, count: 32)
    private static let nonce = [UInt8](repeating: 0x33, count: 32)
    private static let answer = GrantHash.of([0x44])

    private static func device() throws -> Enrolment.NewDevice<XWingHPKE> {
        var random = ReplayedRandom(enrolmentID + keySeed + nonce)
        return try Enrolment.NewDevice(random: &random)
    }

    private static func loginKey() throws -> VerificationKey { try VectorPerson(6).seed.loginKey().verificationKey }

    private static func transcript() throws -> Enrolment.Transcript {
        try device().transcript(answer: answer, loginKey: loginKey())
    }

    /// The new device's key and the transcript that the package is sealed under.
    static func sealedTo() throws -> (key: [UInt8], transcript: Digest) {
        (try device().reveal.grantKey, try transcript().hash)
    }

    private static let heads = [GrantHash.of([1]), GrantHash.of([2])].sorted().enumerated().map {
        Enrolment.Head(scopeID: $1, sequence: UInt64($0) + 7, hash: GrantHash.of([9]))
    }
    private static let seeds = [[UInt8](repeating: 2, count: 32), [UInt8](repeating: 6, count: 32)]

    /// What is sealed in `RecordedGrants`, by name.
    static func plaintexts() throws -> [(String, [UInt8])] {
        func bytes(_ seeds: [[UInt8]], _ heads: [Enrolment.Head], padded: Bool = true) -> [UInt8] {
            var writer = CanonicalWriter()
            writer.number(UInt16(seeds.count))
            for seed in seeds { writer.raw(seed) }
            writer.number(UInt32(heads.count))
            for head in heads {
                writer.digest(head.scopeID)
                writer.number(head.sequence)
                writer.digest(head.hash)
            }
            let missing = Int(Padding.paddedLength(UInt64(writer.bytes.count))) - writer.bytes.count
            return writer.bytes + [UInt8](repeating: 0, count: padded ? missing : missing + 1)
        }
        return [
            ("package", bytes(seeds, heads)), ("packageOutOfOrder", bytes(seeds, heads.reversed())),
            ("packageWithoutSeed", bytes([], heads)), ("packageWithoutPadding", bytes(seeds, heads, padded: false)),
            ("packageOfAnother", bytes(seeds.reversed(), heads)),
        ]
    }

    static func generate(into builder: inout VectorBuilder) throws {
        let device = try device()
        let transcript = try transcript()
        let loginKey = try loginKey()
        try builder.group("Transcript") { group in
            group.valid(
                "both devices",
                [
                    "enrolmentID": .hex(device.enrolmentID), "key": .hex(device.reveal.grantKey),
                    "nonce": .hex(device.reveal.nonce),
                    "commitment": .hex(device.commitment), "answer": .hex(answer), "loginKey": .hex(loginKey.bytes),
                    "transcript": .hex(transcript.hash), "code": .string(transcript.code),
                ])
            group.altered("another nonce than was committed to", ["nonce": .hex(Digest.zero)])
            group.altered("another key than was committed to", ["key": .hex(try VectorPerson(2).keys.grantKey)])
            group.altered("another enrolment's commitment", ["enrolmentID": .hex(ID16.zero)])
            var weak = device.reveal.grantKey
            weak.replaceSubrange(weak.count - 32..<weak.count, with: [UInt8](repeating: 0, count: 32))
            let reveal = Enrolment.Reveal(grantKey: weak, nonce: device.reveal.nonce)
            group.altered(
                "a key that cannot be sealed to",
                ["key": .hex(weak), "commitment": .hex(reveal.commitment(enrolmentID: device.enrolmentID))])
        }
        try builder.group("Package") { group in
            let sealed = try Base64URL.decode(RecordedGrants.package)
            group.valid(
                "seeds and heads",
                [
                    "enrolmentID": .hex(enrolmentID), "keySeed": .hex(keySeed), "nonce": .hex(nonce),
                    "answer": .hex(answer),
                    "loginKey": .hex(loginKey.bytes), "sealed": .hex(sealed), "seeds": .array(seeds.map { .hex($0) }),
                    "heads": .array(
                        heads.map {
                            .object([
                                "scopeID": .hex($0.scopeID), "sequence": .number($0.sequence), "head": .hex($0.hash),
                            ])
                        }),
                ])
            group.altered("another answer", ["answer": .hex(Digest.zero)])
            group.altered("another key", ["keySeed": .hex(Digest.zero)])
            group.altered(
                "another account's login key",
                ["loginKey": .hex(try VectorPerson(3).seed.loginKey().verificationKey.bytes)])
            var altered = sealed
            altered[1200] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            for (comment, recorded) in [
                ("heads out of order", RecordedGrants.packageOutOfOrder),
                ("no seed", RecordedGrants.packageWithoutSeed),
                ("more padding than asked for", RecordedGrants.packageWithoutPadding),
                ("the seeds of an account with another login key", RecordedGrants.packageOfAnother),
            ] { group.altered(comment, ["sealed": .hex(try Base64URL.decode(recorded))]) }
        }
    }
}
