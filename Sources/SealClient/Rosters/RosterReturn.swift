public import SealStatements

/// What a server has lost of a roster, on its way back to it, a part at a time.
public struct RosterReturn: Sendable {
    public static let entriesAtOnce = 500
    /// One opens all of the life; the newest few, should it be a bad one.
    public static let grantsAtOnce = 16

    /// Of the roster that is given back: its newest entry.
    let sequence: UInt64
    private let entries: ArraySlice<SignedRosterEntry>
    private let grants: [OwnGrant]
    private var next: Int

    init(_ entries: [SignedRosterEntry], from first: UInt64, grants: [OwnGrant]) {
        self.entries = entries[Int(first)...]
        self.grants = grants.suffix(RosterReturn.grantsAtOnce)
        next = self.entries.startIndex
        sequence = UInt64(entries.count) - 1
    }

    /// What is to be sent next; nil once the server has it all. The account's own grants go with the end.
    public var part: (entries: [SignedRosterEntry], grants: [OwnGrant])? {
        guard next < entries.endIndex else { return nil }
        return (Array(entries[next..<end]), end == entries.endIndex ? grants : [])
    }

    private var end: Int { min(next + RosterReturn.entriesAtOnce, entries.endIndex) }

    /// Notes how far the server's log goes now: a life that begins again waits for a large one before it to go, and the
    /// server has taken what comes before.
    /// - Throws: `endless` where it goes less far than before.
    public mutating func taken(upTo sequence: UInt64) throws(ClientError) {
        guard Int(clamping: sequence) >= next else { throw .endless }
        next = min(Int(clamping: sequence), end - 1) + 1
    }
}
