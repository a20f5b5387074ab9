public import SealEnvelope
public import SealPrimitives
import SealStatements

/// What a device that keeps no store remembers of a zone from one visit to the next, in one piece: how far it has
/// verified the rosters of the zone's scopes.
///
/// What is kept was verified: it judges what a server shows later, and is not judged itself.
public struct ZoneMemory: Sendable {
    /// Where what was verified ends, ascending by scope; more than one of a scope where that did not come together yet.
    public private(set) var heads: [Enrolment.Head] = []

    private static let version: UInt8 = 1
    private static let headBytes = 2 * Digest.byteCount + 8

    public init() {}

    /// One more.
    public mutating func add(_ head: Enrolment.Head) {
        var index = heads.count
        heads.append(head)
        // There are few; and another one of the same is none.
        while index > 0, ZoneMemory.isBefore(head, heads[index - 1]) {
            heads.swapAt(index, index - 1)
            index -= 1
        }
        if index > 0, heads[index - 1] == head { heads.remove(at: index) }
    }

    private static func isBefore(_ one: Enrolment.Head, _ other: Enrolment.Head) -> Bool {
        if one.scopeID != other.scopeID { return one.scopeID < other.scopeID }
        return one.sequence == other.sequence ? one.hash < other.hash : one.sequence < other.sequence
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
        return writer.bytes
    }

    /// - Throws: `malformed`, `unsupported`, for anything but what `canonicalBytes` gives.
    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        guard try reader.byte() == ZoneMemory.version else { throw .unsupported }
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: ZoneMemory.headBytes)) {
            let head = Enrolment.Head(
                scopeID: try reader.digest(), sequence: try reader.number(), hash: try reader.digest())
            if let last = heads.last, !ZoneMemory.isBefore(last, head) { throw .malformed }
            heads.append(head)
        }
        try reader.finish()
    }

    // MARK: Sealed

    private static let purpose = "browser-memory"

    /// - Parameters:
    ///   - bytes: of a memory.
    ///   - zoneID: they open as what is remembered of this zone alone.
    ///   - seeds: the account's, oldest first.
    public static func seal(
        _ bytes: [UInt8], of zoneID: Digest, by seeds: [AccountSeed], random: inout some RandomSource
    ) throws(SealError) -> [UInt8] {
        guard let newest = seeds.last else { throw .missingKey }
        return StorageBox.seal(
            SecretBytes(copying: bytes), purpose: purpose, context: zoneID.bytes, under: newest.storageKey(),
            random: &random)
    }

    /// - Throws: `authenticationFailed` for what this account has not kept of the zone.
    public static func open(
        _ sealed: [UInt8], of zoneID: Digest, by seeds: [AccountSeed]
    ) throws(SealError) -> [UInt8] {
        try StorageBox.open(sealed, purpose: purpose, context: zoneID.bytes, keptBy: seeds).copyBytes()
    }
}
