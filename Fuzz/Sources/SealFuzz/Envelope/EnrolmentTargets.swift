import SealPrimitives

@testable import SealEnvelope

/// What the new device receives: the decoder behind the seal. The first byte says whether the rest is padded first.
enum EnrolmentPackageTarget: FuzzTarget {
    static let name = "enrolment-package"
    static let maximumLength = 8_192
    static let seeds =
        [honest(1, 0), honest(2, 3), honest(64, 0), honest(1, 40)].flatMap { [Seed.made([0] + $0), .made([1] + $0)] }
        + [.hex("enrolment", "sealed", prefix: [0]), .hex("recovery", "seeds", prefix: [1, 1, 0])]
    private static let device = certain("a device") {
        var random = FixedRandom()
        return try Enrolment.NewDevice<StandInHPKE>(random: &random)
    }
    private static let transcript = certain("a transcript") {
        try device.transcript(answer: sampleDigest(1), loginKey: World.people[0].signingKey.verificationKey)
    }

    static func run(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        var plaintext = [UInt8](input.dropFirst())
        if mode == 1 { plaintext = Padding.pad(plaintext) }
        let package = try? Enrolment.Package(padded: plaintext)
        // The newest seed has to give the account's login key: nobody knows one that gives a key of people's
        // identities.
        refuses("a package of another account") {
            try device.open(seal(plaintext, transcript), confirmed: transcript.confirmedByUser())
        }
        guard let package else { return }
        require(1...64 ~= package.seeds.count && package.heads.count <= 100_000, "a package out of bounds")
        require(
            zip(package.heads, package.heads.dropFirst()).allSatisfy { $0.scopeID < $1.scopeID }, "heads out of order")
        require((try? package.paddedBytes()) == plaintext, "a package with another encoding")
        let newest = certain("a login key") { try package.seeds[package.seeds.count - 1].loginKey().verificationKey }
        let own = certain("its transcript") { try device.transcript(answer: sampleDigest(1), loginKey: newest) }
        let sealed = seal(plaintext, own)
        let open = { try device.open($0, confirmed: own.confirmedByUser()) }
        opensOnlyWhole(hostile: plaintext, sealed: sealed, "a package", open: open)
        let opened = certain("a package opens") { try open(sealed) }
        require(opened.heads == package.heads && (try? opened.paddedBytes()) == plaintext, "another package")
        refuses("a package of another account", with: .keyMismatch) {
            try device.open(seal(plaintext, transcript), confirmed: transcript.confirmedByUser())
        }
        let other = certain("another transcript") { try device.transcript(answer: sampleDigest(2), loginKey: newest) }
        refuses("a package of another enrolment", with: .authenticationFailed) {
            try device.open(sealed, confirmed: other.confirmedByUser())
        }
    }

    private static func seal(_ plaintext: [UInt8], _ transcript: Enrolment.Transcript) -> [UInt8] {
        var pae = PAE(.enrolmentSeeds, pieces: 1)
        pae.add(transcript.hash)
        return certain("sealing") { try StandInHPKE.seal(plaintext, to: device.reveal.grantKey, info: pae.finish()) }
    }

    /// Seeds and heads as PROTOCOL.md, "Enrolling a device", has them, without padding.
    private static func honest(_ seeds: UInt8, _ heads: UInt8) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.number(UInt16(seeds))
        for seed in 0..<seeds { writer.raw([UInt8](repeating: seed, count: 32)) }
        writer.number(UInt32(heads))
        for head in 0..<heads {
            writer.raw([UInt8](repeating: head, count: 32))
            writer.number(UInt64(head))
            writer.raw([UInt8](repeating: 0xE0, count: 32))
        }
        return writer.bytes
    }
}

/// What both devices have seen: whoever changes anything of it changes the transcript, and a key that was not committed
/// to is refused.
enum EnrolmentTranscriptTarget: FuzzTarget {
    static let name = "enrolment-transcript"
    static let maximumLength = 1_400
    static let seeds = [
        Seed.made([]), .made([1, 2, 3, 4, 5]), .made([0, 0, 0, 0, 0, 1]),
        .hex("enrolment", "key", prefix: [0, 0, 0, 0, 1]),
        .hex("identity", "grantKey", prefix: [1, 2, 3, 0, 1, 1]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let id = ID16(prefixOf: choices.digest())
        let (nonce, answer) = (choices.digest(), choices.digest())
        let login = choices.oneOf(World.people).signingKey.verificationKey
        let honest = StandInHPKE.publicKey(seed: secret(9))
        let key = choices.flag() ? choices.rest() : honest
        let reveal = Enrolment.Reveal(grantKey: key, nonce: nonce)
        let commitment = commitment(id, key, nonce)
        require(reveal.commitment(enrolmentID: id) == commitment, "another commitment")
        let make = { (id: ID16, commitment: Digest, answer: Digest, login: VerificationKey) in
            try Enrolment.Transcript(
                enrolmentID: id, commitment: commitment, answer: answer, reveal: reveal, loginKey: login)
        }
        refuses("a key that was not committed to", with: .keyMismatch) {
            try make(id, sampleDigest(0xFF), answer, login)
        }
        refuses("a commitment of another enrolment", with: .keyMismatch) {
            try make(ID16(prefixOf: commitment), commitment, answer, login)
        }
        guard HybridKeyCheck.isValid(key) else {
            return refuses("a key that cannot be sealed to", with: .invalidKey) {
                try make(id, commitment, answer, login)
            }
        }
        let transcript = certain("a transcript") { try make(id, commitment, answer, login) }
        check(transcript, [id.bytes, commitment.bytes, answer.bytes, key, nonce.bytes, login.bytes])
        let other = certain("another answer") { try make(id, commitment, commitment, login) }
        require(other.hash != transcript.hash, "an answer that is not bound")
        let stranger = World.people.first { $0.signingKey.verificationKey != login } ?? World.people[0]
        let third = certain("another account") { try make(id, commitment, answer, stranger.signingKey.verificationKey) }
        require(third.hash != transcript.hash, "an account that is not bound")
    }

    private static func commitment(_ id: ID16, _ key: [UInt8], _ nonce: Digest) -> Digest {
        Hash.digest(.enrolmentCommitment, id.bytes, key, nonce.bytes)
    }

    private static func check(_ transcript: Enrolment.Transcript, _ pieces: [[UInt8]]) {
        var pae = PAE(.enrolmentTranscript, pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        require(transcript.hash == Hash.digest(pae), "another transcript")
        let low = transcript.hash.bytes.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let digits = String(low % 1_000_000)
        require(transcript.code == String(repeating: "0", count: 6 - digits.count) + digits, "another code")
    }
}
