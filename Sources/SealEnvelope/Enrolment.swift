public import SealPrimitives
import SealStatements

/// Bringing an account to a new device from one that has it, by way of a server that may be anybody.
///
/// The new device commits to its key and nonce, the old one answers with its nonce, the new one reveals. Only then do
/// both know the transcript, so that nobody between them could choose keys for a matching code: an attacker has one try
/// in a million, in front of the users. Seeds are sealed and opened only after the users of both devices have
/// confirmed the code (or scanned the whole transcript).
public enum Enrolment {
    public static let nonceBytes = 32

    /// What the new device shows the old one, in the third message.
    public struct Reveal: Sendable, Hashable {
        /// X-Wing, made for this enrolment alone.
        public let grantKey: [UInt8]
        public let nonce: Digest

        public init(grantKey: [UInt8], nonce: Digest) {
            self.grantKey = grantKey
            self.nonce = nonce
        }

        /// `H("enrolment/commitment", enrolment id, key, nonce)`: the first message.
        public func commitment(enrolmentID: ID16) -> Digest {
            var pae = PAE(.enrolmentCommitment, pieces: 3, capacity: 1400)
            pae.add(enrolmentID)
            pae.add(grantKey)
            pae.add(nonce)
            return Hash.digest(pae)
        }
    }

    /// Everything that both devices must have seen alike.
    public struct Transcript: Sendable, Hashable {
        /// The hash to scan, 32 bytes.
        public let hash: Digest
        let grantKey: [UInt8]
        let loginKey: VerificationKey

        /// On both devices.
        /// - Parameters:
        ///   - commitment: as it came in the first message; on the new device its own.
        ///   - answer: the old device's nonce.
        ///   - loginKey: of the account that is handed over, so that nobody enrols a device in another account.
        /// - Throws: `keyMismatch` when key and nonce are not those that were committed to; `invalidKey` for a key that
        ///   cannot be sealed to.
        public init(
            enrolmentID: ID16, commitment: Digest, answer: Digest, reveal: Reveal, loginKey: VerificationKey
        ) throws(SealError) {
            guard reveal.commitment(enrolmentID: enrolmentID) == commitment else { throw .keyMismatch }
            guard HybridKeyCheck.isValid(reveal.grantKey) else { throw .invalidKey }
            var pae = PAE(.enrolmentTranscript, pieces: 6, capacity: 1500)
            pae.add(enrolmentID)
            pae.add(commitment)
            pae.add(answer)
            pae.add(reveal.grantKey)
            pae.add(reveal.nonce)
            pae.add(loginKey.bytes)
            hash = Hash.digest(pae)
            grantKey = reveal.grantKey
            self.loginKey = loginKey
        }

        /// Six digits to compare: LE64 of the hash's first 8 bytes, modulo 1,000,000.
        public var code: String {
            var number: UInt64 = 0
            for byte in hash.bytes.prefix(8).reversed() { number = number << 8 | UInt64(byte) }
            return String(decoding: Decimal.digits(number % 1_000_000, count: 6), as: UTF8.self)
        }

        /// Once this device's user has seen the same code on both devices and said so. Both devices need it: a server
        /// that talks to the new one alone could hand it an account of its own.
        public func confirmedByUser() -> Confirmed { Confirmed(transcript: self) }

        /// Once this device has scanned the whole hash off the other one.
        /// - Throws: `keyMismatch` when it is another.
        public func confirmed(byScanning scanned: Digest) throws(SealError) -> Confirmed {
            guard constantTimeEqual(scanned.bytes, hash.bytes) else { throw .keyMismatch }
            return Confirmed(transcript: self)
        }

        fileprivate var info: [UInt8] {
            var pae = PAE(.enrolmentSeeds, pieces: 1)
            pae.add(hash)
            return pae.finish()
        }
    }

    /// A transcript that both devices have been seen to share: only with one are seeds sealed and opened.
    public struct Confirmed: Sendable {
        let transcript: Transcript
    }

    /// The highest head that the old device has verified of a roster: the new one accepts nothing before it.
    public struct Head: Sendable, Hashable {
        public let scopeID: Digest
        public let sequence: UInt64
        public let hash: Digest

        public init(scopeID: Digest, sequence: UInt64, hash: Digest) {
            self.scopeID = scopeID
            self.sequence = sequence
            self.hash = hash
        }
    }

    /// What the new device receives.
    public struct Package: Sendable {
        /// Of all generations, oldest first.
        public let seeds: [AccountSeed]
        /// Ascending by scope.
        public let heads: [Head]

        public init(seeds: [AccountSeed], heads: [Head]) {
            self.seeds = seeds
            self.heads = heads.sorted { $0.scopeID < $1.scopeID }
        }
    }
}

// MARK: The two devices

extension Enrolment {
    /// The device that joins the account.
    public struct NewDevice<H: HybridEncryption>: Sendable {
        public let enrolmentID: ID16
        public let reveal: Reveal
        let seed: SecretBytes

        public init(random: inout some RandomSource) throws(SealError) {
            enrolmentID = ID16(random: &random)
            seed = SecretBytes(random: &random)
            reveal = Reveal(grantKey: try H.publicKey(seed: seed), nonce: Digest(random: &random))
        }

        public var commitment: Digest { reveal.commitment(enrolmentID: enrolmentID) }

        public func transcript(answer: Digest, loginKey: VerificationKey) throws(SealError) -> Transcript {
            try Transcript(
                enrolmentID: enrolmentID, commitment: commitment, answer: answer, reveal: reveal, loginKey: loginKey)
        }

        /// - Throws: `authenticationFailed`; `malformed`; `keyMismatch` when the newest seed is not of the account
        ///   whose login key the transcript names.
        public func open(_ sealed: [UInt8], confirmed: Confirmed) throws(SealError) -> Package {
            var plaintext = try H.open(sealed, seed: seed, info: confirmed.transcript.info)
            defer { wipe(&plaintext) }
            let package = try Package(padded: plaintext)
            guard let newest = package.seeds.last,
                try newest.loginKey().verificationKey == confirmed.transcript.loginKey
            else {
                throw .keyMismatch
            }
            return package
        }
    }

    /// On the old device.
    public static func seal<H: HybridEncryption>(
        _ package: Package, to confirmed: Confirmed, using: H.Type
    ) throws(SealError) -> [UInt8] {
        var plaintext = try package.paddedBytes()
        defer { wipe(&plaintext) }
        return try H.seal(plaintext, to: confirmed.transcript.grantKey, info: confirmed.transcript.info)
    }
}

// MARK: Canonical encoding

extension Enrolment.Package {
    private static let countBytes = 6
    private static let headBytes = 72

    /// `u16` count, seeds; `u32` count, then strictly ascending by scope: scope id, `u64` sequence, hash. Padded as
    /// values are.
    /// - Throws: `invalidLength`; `malformed` for a scope that comes twice.
    func paddedBytes() throws(SealError) -> [UInt8] {
        guard !seeds.isEmpty, seeds.count <= Limits.identityGenerations, heads.count <= Limits.enrolledHeads else {
            throw .invalidLength
        }
        // One allocation of the final size: growing would leave copies of the seeds behind.
        let count = Self.countBytes + seeds.count * 32 + heads.count * Self.headBytes
        let paddedCount = Int(Padding.paddedLength(UInt64(count)))
        var writer = CanonicalWriter(capacity: paddedCount)
        writer.number(UInt16(seeds.count))
        for seed in seeds {
            var bytes = seed.bytes.copyBytes()
            writer.raw(bytes)
            wipe(&bytes)
        }
        writer.number(UInt32(heads.count))
        var last: Digest?
        for head in heads {
            if let last, !(last < head.scopeID) { throw .malformed }
            writer.digest(head.scopeID)
            writer.number(head.sequence)
            writer.digest(head.hash)
            last = head.scopeID
        }
        writer.raw([UInt8](repeating: 0, count: paddedCount - count))
        return writer.bytes
    }

    init(padded bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        let seedCount = try reader.count(UInt16.self, ofAtLeast: 32)
        guard seedCount > 0, seedCount <= Limits.identityGenerations else { throw .invalidLength }
        var seeds: [AccountSeed] = []
        for _ in 0..<seedCount {
            var seed = try reader.raw(32)
            seeds.append(try AccountSeed(SecretBytes(taking: &seed)))
        }
        let headCount = try reader.count(UInt32.self, ofAtLeast: Self.headBytes)
        guard headCount <= Limits.enrolledHeads else { throw .invalidLength }
        var heads: [Enrolment.Head] = []
        heads.reserveCapacity(headCount)
        for _ in 0..<headCount {
            let head = Enrolment.Head(
                scopeID: try reader.digest(), sequence: try reader.number(), hash: try reader.digest())
            if let last = heads.last, !(last.scopeID < head.scopeID) { throw .malformed }
            heads.append(head)
        }
        try reader.finishPadded(total: bytes.count)
        // They are in order.
        (self.seeds, self.heads) = (seeds, heads)
    }
}

extension Enrolment.NewDevice: CustomStringConvertible {
    public var description: String { "NewDevice" }
}

extension Enrolment.Package: CustomStringConvertible {
    public var description: String { "Package" }
}
