public import SealPrimitives

/// A new epoch, as an entry opens it.
public struct EpochOpening: Sendable, Hashable {
    public let number: UInt32
    /// `H("key-id", …, key)`: every opened key is checked against it.
    public let keyID: Digest
    /// The scope's checkpoint that the author had verified; `Checkpoint.none` as long as there are none.
    public let checkpoint: Digest
    /// The key before, sealed under this one, so that one grant opens all history; empty for epoch 0.
    public let previousKey: [UInt8]
    /// Exactly the active members and open invitations, ascending, each with the hash of its grant.
    public let coverage: [Coverage]

    public struct Coverage: Sendable, Hashable {
        public let subject: GrantSubject
        public let grantHash: Digest

        public init(subject: GrantSubject, grantHash: Digest) {
            self.subject = subject
            self.grantHash = grantHash
        }
    }

    public static let previousKeyBytes = AEAD.overhead + 32

    public init(number: UInt32, keyID: Digest, checkpoint: Digest, previousKey: [UInt8], coverage: [Coverage]) {
        self.number = number
        self.keyID = keyID
        self.checkpoint = checkpoint
        self.previousKey = previousKey
        self.coverage = coverage
    }
}

/// One entry of a scope's append-only log.
public struct RosterEntry: Sendable, Hashable {
    public var scopeID: Digest
    public var sequence: UInt64
    /// The hash of the entry before; zero for entry 0.
    public var previous: Digest
    public var author: UserID
    /// The author's clock, microseconds since 1970. Informative: order is the roster's, never the clock's.
    public var time: Int64
    public var changes: [RosterChange]
    public var epoch: EpochOpening?

    public init(
        scopeID: Digest, sequence: UInt64, previous: Digest, author: UserID, time: Int64, changes: [RosterChange],
        epoch: EpochOpening?
    ) {
        self.scopeID = scopeID
        self.sequence = sequence
        self.previous = previous
        self.author = author
        self.time = time
        self.changes = changes
        self.epoch = epoch
    }

    public func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter(capacity: 2048)
        writer.digest(scopeID)
        writer.number(sequence)
        writer.digest(previous)
        writer.id(author.id)
        writer.number(time)
        writer.number(UInt16(changes.count))
        for change in changes { change.write(to: &writer) }
        writer.flag(epoch != nil)
        if let epoch {
            writer.number(epoch.number)
            writer.digest(epoch.keyID)
            writer.digest(epoch.checkpoint)
            writer.blob(epoch.previousKey)
            writer.number(UInt16(epoch.coverage.count))
            for covered in epoch.coverage {
                writer.number(covered.subject.kind)
                writer.id(covered.subject.id)
                writer.digest(covered.grantHash)
            }
        }
        return writer.bytes
    }

    /// - Parameter container: of the roster that the entry continues; nil when it is to start one.
    public init(canonicalBytes bytes: [UInt8], container: String?) throws(SealError) {
        guard bytes.count <= Limits.rosterEntryBytes else { throw .invalidLength }
        var reader = CanonicalReader(bytes)
        scopeID = try reader.digest()
        sequence = try reader.number()
        previous = try reader.digest()
        author = UserID(try reader.id())
        time = try reader.number()
        let count = try reader.count(UInt16.self, ofAtLeast: 1)
        guard count <= Limits.changesPerEntry else { throw .invalidLength }
        var changes: [RosterChange] = []
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try RosterChange(reading: &reader, container: container)) }
        self.changes = changes
        epoch = try reader.flag() ? try EpochOpening(reading: &reader) : nil
        try reader.finish()
    }

    /// What the author signs.
    public static func signedBytes(_ canonicalBytes: [UInt8]) -> PAE {
        var pae = PAE(.rosterEntry, pieces: 1, capacity: canonicalBytes.count + 48)
        pae.add(canonicalBytes)
        return pae
    }

    public static func hash(_ canonicalBytes: [UInt8]) -> Digest {
        var pae = PAE(.rosterHash, pieces: 1, capacity: canonicalBytes.count + 48)
        pae.add(canonicalBytes)
        return Hash.digest(pae)
    }
}

extension EpochOpening {
    fileprivate init(reading reader: inout CanonicalReader) throws(SealError) {
        number = try reader.number()
        keyID = try reader.digest()
        checkpoint = try reader.digest()
        previousKey = try reader.blob(atMost: EpochOpening.previousKeyBytes)
        guard previousKey.count == (number == 0 ? 0 : EpochOpening.previousKeyBytes) else { throw .invalidLength }
        let count = try reader.count(UInt16.self, ofAtLeast: 49)
        var coverage: [Coverage] = []
        coverage.reserveCapacity(count)
        for _ in 0..<count {
            let subject = try GrantSubject(kind: reader.byte(), id: reader.id())
            if let last = coverage.last, !(last.subject < subject) { throw .malformed }
            coverage.append(Coverage(subject: subject, grantHash: try reader.digest()))
        }
        self.coverage = coverage
    }
}

/// An entry as it is stored and sent.
public struct SignedRosterEntry: Sendable, Hashable {
    public let bytes: [UInt8]
    public let signature: [UInt8]

    public init(bytes: [UInt8], signature: [UInt8]) {
        self.bytes = bytes
        self.signature = signature
    }
}
