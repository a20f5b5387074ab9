public import SealEnvelope
public import SealPrimitives
import SealStatements

/// What a device that keeps no store remembers of a zone from one visit to the next, in one piece: how far it has
/// verified the rosters of the zone's scopes, and what it has seen of the records of one life of it.
///
/// What is kept was verified: it judges what a server shows later, and is not judged itself.
public struct ZoneMemory: Sendable {
    /// Where what was verified ends; more than one of a scope where that did not come together yet.
    public private(set) var heads: [Enrolment.Head] = []

    /// The life that the sightings are of.
    public var incarnation: UInt32 = 0
    public var sightings = MemorySightings()

    private static let version: UInt8 = 1
    private static let headBytes = 2 * Digest.byteCount + 8

    public init() {}

    /// One more, once.
    public mutating func add(_ head: Enrolment.Head) {
        for known in heads where known == head { return }
        heads.append(head)
    }

    /// What there is to be remembered of a roster: of one that does not lead to what was seen before, that.
    public mutating func add<H>(_ replica: ScopeReplica<H>) {
        for floor in replica.floors { add(floor) }
        guard replica.floors.isEmpty, let head = replica.head else { return }
        add(Enrolment.Head(scopeID: replica.scope.id, sequence: head.sequence, hash: head.hash))
    }

    // MARK: Bytes

    public func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter()
        writer.number(ZoneMemory.version)
        writer.number(UInt32(heads.count))
        for head in heads {
            writer.digest(head.scopeID)
            writer.number(head.sequence)
            writer.digest(head.hash)
        }
        writer.number(incarnation)
        sightings.kept().write(to: &writer)
        return writer.bytes
    }

    /// - Throws: `malformed`, `unsupported`, for anything but what `canonicalBytes` gives.
    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        guard try reader.byte() == ZoneMemory.version else { throw .unsupported }
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: ZoneMemory.headBytes)) {
            heads.append(
                Enrolment.Head(
                    scopeID: try reader.digest(), sequence: try reader.number(), hash: try reader.digest()))
        }
        incarnation = try reader.number()
        sightings = try MemorySightings(from: &reader)
        try reader.finish()
    }

    // MARK: Sealed

    private static let purpose = "browser-memory"

    /// The number of the account's keys stands in front: where a server tells of fewer, what a newer key has sealed is
    /// not taken for damaged.
    /// - Parameters:
    ///   - bytes: of a memory.
    ///   - zoneID: they open as what is remembered of this zone alone.
    ///   - seeds: the account's, oldest first.
    public static func seal(
        _ bytes: [UInt8], of zoneID: Digest, by seeds: [AccountSeed], random: inout some RandomSource
    ) throws(SealError) -> [UInt8] {
        guard let newest = seeds.last, let count = UInt8(exactly: seeds.count) else { throw .missingKey }
        return [count]
            + StorageBox.seal(
                SecretBytes(copying: bytes), purpose: purpose, context: zoneID.bytes, under: newest.storageKey(),
                random: &random)
    }

    /// - Throws: `missingKey` where it was sealed by a newer key than these; `authenticationFailed` for what this
    ///   account has not kept of the zone.
    public static func open(
        _ sealed: [UInt8], of zoneID: Digest, by seeds: [AccountSeed]
    ) throws(SealError) -> [UInt8] {
        guard let count = sealed.first, count > 0 else { throw .authenticationFailed }
        guard count <= seeds.count else { throw .missingKey }
        return try StorageBox.open(
            [UInt8](sealed.dropFirst()), purpose: purpose, context: zoneID.bytes,
            under: seeds[Int(count) - 1].storageKey()
        ).copyBytes()
    }
}
