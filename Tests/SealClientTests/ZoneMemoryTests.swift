import SealClient
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import Testing

/// What a browser remembers of a zone: its bytes, whose they are, and what they hold a server to.
@Suite(.timeLimit(.minutes(60))) struct ZoneMemoryTests {
    private let zoneID = Hash.digest(.link, [1])

    private func head(_ scope: UInt8, _ sequence: UInt64, _ hash: UInt8 = 0) -> Enrolment.Head {
        Enrolment.Head(
            scopeID: Hash.digest(.link, [scope]), sequence: sequence, hash: Hash.digest(.rosterHash, [hash]))
    }

    private func memory(_ heads: [Enrolment.Head]) -> ZoneMemory {
        var memory = ZoneMemory()
        for head in heads { memory.add(head) }
        return memory
    }

    // MARK: Bytes

    @Test func noOtherBytesAreRead() throws {
        let heads = [head(1, 7), head(2, 1), head(1, 9), head(1, 7, 1), head(3, .max), head(1, 7)]
        let bytes = memory(heads).canonicalBytes()
        let read = try ZoneMemory(canonicalBytes: bytes)
        #expect(read.heads == Array(heads.dropLast()))
        #expect(read.canonicalBytes() == bytes)
        for count in 0..<bytes.count {
            #expect(throws: SealError.self) { try ZoneMemory(canonicalBytes: Array(bytes.prefix(count))) }
        }
        #expect(throws: SealError.malformed) { try ZoneMemory(canonicalBytes: bytes + [0]) }
        #expect(throws: SealError.unsupported) { try ZoneMemory(canonicalBytes: [9] + bytes.dropFirst()) }
        // More heads than there are bytes.
        #expect(throws: SealError.malformed) { try ZoneMemory(canonicalBytes: [1, 255, 255, 255, 255]) }
        #expect(try ZoneMemory(canonicalBytes: memory([]).canonicalBytes()).heads.isEmpty)
    }

    @Test func itOpensForItsAccountAndZoneAlone() throws {
        let (ann, renewed, bob) = (try Person(1), try Person(1, 3), try Person(2))
        var random = FixedRandom(1)
        let bytes = memory([head(1, 7)]).canonicalBytes()
        let sealed = try ZoneMemory.seal(bytes, of: zoneID, by: ann.seeds, random: &random)
        #expect(try ZoneMemory.open(sealed, of: zoneID, by: ann.seeds) == bytes)
        // What was kept before the account took new keys.
        #expect(try ZoneMemory.open(sealed, of: zoneID, by: renewed.seeds) == bytes)
        let later = try ZoneMemory.seal(bytes, of: zoneID, by: renewed.seeds, random: &random)
        // Not damaged: a server that has gone back behind it tells of fewer keys.
        #expect(throws: SealError.missingKey) { try ZoneMemory.open(later, of: zoneID, by: ann.seeds) }
        #expect(throws: SealError.authenticationFailed) { try ZoneMemory.open(sealed, of: zoneID, by: bob.seeds) }
        #expect(throws: SealError.authenticationFailed) {
            try ZoneMemory.open(sealed, of: Hash.digest(.link, [2]), by: ann.seeds)
        }
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= index == 0 ? 2 : 1
            let refusal: SealError = index == 0 ? .missingKey : .authenticationFailed
            #expect(throws: refusal) { try ZoneMemory.open(altered, of: zoneID, by: ann.seeds) }
        }
        #expect(throws: SealError.authenticationFailed) {
            try ZoneMemory.open(sealed.dropLast(), of: zoneID, by: ann.seeds)
        }
        for bytes: [UInt8] in [[], [0], [0] + sealed.dropFirst()] {
            #expect(throws: SealError.authenticationFailed) { try ZoneMemory.open(bytes, of: zoneID, by: ann.seeds) }
        }
    }

    // MARK: Rosters

    private func world() throws -> (bob: Person, log: ScopeLog, seen: Enrolment.Head) {
        let bob = try Person(2)
        var log = try ScopeLog(owner: try Person(1))
        try log.add(bob)
        try log.rotate()
        let seen = Enrolment.Head(scopeID: log.roster.scopeID, sequence: log.roster.sequence, hash: log.roster.head)
        return (bob, log, seen)
    }

    /// A page that begins with what a URL led to, and learns then what was seen before.
    @Test func aLogThatDoesNotLeadToWhatWasSeenIsRefusedHoweverMuchOfItIsThere() throws {
        let (bob, log, seen) = try world()
        var replica = bob.replica(of: log.scope)
        try replica.take(log.entries.dropLast(), as: bob)
        // There may be more to come, until there is not.
        try replica.require(seen, isLast: false)
        try replica.require(seen, isLast: false)
        #expect(replica.floors == [seen])
        #expect(throws: ClientError.shortened) { try replica.require(seen, isLast: true) }
        #expect(throws: ClientError.shortened) { try replica.step([], isLast: true, as: bob.own) }
        var other = replica
        try replica.take(log.entries.suffix(1), as: bob)
        #expect(replica.floors.isEmpty)
        try replica.require(seen, isLast: true)
        #expect(replica.floors.isEmpty)

        // Another log, as long as what was seen, and one that is longer.
        var branch = try ScopeLog(owner: log.owner, random: 2)
        while branch.entries.count < log.entries.count { try branch.rotate() }
        var parted = bob.replica(of: log.scope)
        try parted.take(branch.entries, as: bob)
        #expect(throws: ClientError.forked(from: nil)) { try parted.require(seen, isLast: false) }
        #expect(parted.floors == [seen])
        try branch.rotate()
        #expect(throws: ClientError.forked(from: nil)) {
            try parted.step(branch.entries.suffix(1), isLast: true, as: bob.own)
        }
        #expect(throws: ClientError.forked(from: parted.head)) {
            try parted.step(log.entries.suffix(1), isLast: true, as: bob.own)
        }
        // What is refused leaves it as it was.
        #expect(other.floors == [seen])
        try other.take(log.entries.suffix(1), as: bob)
        #expect(other.head?.hash == seen.hash)
    }

    @Test func eachOfWhatWasSeenCounts() throws {
        let (bob, log, seen) = try world()
        var further = log
        try further.rotate()
        let next = Enrolment.Head(
            scopeID: seen.scopeID, sequence: further.roster.sequence, hash: further.roster.head)
        let elsewhere = head(1, 2)
        var replica = try ScopeReplica<XWingHPKE>(
            scope: log.scope, user: bob.user, entries: log.entries, floors: [seen, next, next])
        #expect(replica.floors == [next])
        #expect(throws: ClientError.shortened) { try replica.step([], isLast: true, as: bob.own) }
        try replica.take(further.entries, as: bob)
        #expect(replica.floors.isEmpty)
        // The newer one does not make up for an older one that is another.
        let wrong = Enrolment.Head(scopeID: seen.scopeID, sequence: seen.sequence, hash: elsewhere.hash)
        let fooled = try ScopeReplica<XWingHPKE>(
            scope: log.scope, user: bob.user, entries: [], floors: [wrong, next])
        #expect(throws: ClientError.forked(from: nil)) {
            try fooled.step(further.entries, isLast: true, as: bob.own)
        }
        #expect(fooled.roster == nil)
    }
}
