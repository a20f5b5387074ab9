import SealCoding
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// How much of rosters one answer holds: whoever asks for more asks again after what came.
package struct RosterPage {
    static let mostEntries = 1_000
    /// Of all rosters in one answer. The first entry comes however large it is.
    package static let mostBytes = 1 << 20
    /// What an entry or a grant takes beside its bytes, at most.
    private static let overhead = 128

    private var entriesLeft = mostEntries
    private var bytesLeft = mostBytes
    private var isEmpty = true

    package init() {}

    private mutating func takes(_ bytes: Int) -> Bool {
        guard isEmpty || bytesLeft >= bytes + Self.overhead else { return false }
        isEmpty = false
        bytesLeft -= bytes + Self.overhead
        return true
    }

    /// - Returns: whether there is room for one more entry.
    package mutating func takes(_ entry: SignedRosterEntry) -> Bool {
        guard entriesLeft > 0, takes(entry.bytes.count + entry.signature.count) else { return false }
        entriesLeft -= 1
        return true
    }

    /// Entries with sequences in a range, oldest first, as far as there is room.
    package mutating func entries(
        of scope: ScopeRow, from first: UInt64, through last: UInt64, in connection: any SQLConnection
    ) throws -> (entries: [Sealkit_V1_SignedEntry], moreComing: Bool) {
        guard first <= last else { return ([], false) }
        var (entries, isFull) = ([Sealkit_V1_SignedEntry](), false)
        try RosterLog.each(of: scope, from: first, through: last, in: connection) { entry, position in
            guard takes(entry) else {
                isFull = true
                return false
            }
            var wire = entry.wire
            wire.position = position
            entries.append(wire)
            return true
        }
        return (entries, isFull)
    }

    /// A member's own grants of the epochs before one, newest epoch last: the newest of them, as far as there is room.
    /// - Parameter epoch: 0 for all.
    package mutating func grants(
        of subject: GrantSubject, before epoch: UInt32, scope: ScopeRow, in connection: any SQLConnection
    ) throws -> (grants: [Sealkit_V1_Grant], moreComing: Bool) {
        var (grants, isFull) = ([Sealkit_V1_Grant](), false)
        try StoredGrants.eachFromNewest(of: subject, before: epoch, scope: scope, in: connection) { grant in
            guard takes(grant.sealed.count) else {
                isFull = true
                return false
            }
            grants.append(grant)
            return true
        }
        return (grants.reversed(), isFull)
    }
}
