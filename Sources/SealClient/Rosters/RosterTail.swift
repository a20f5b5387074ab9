public import SealStatements

/// A page of a scope's log, as a server answers who asks for what follows an entry.
public struct RosterTail: Sendable {
    public let entries: [SignedRosterEntry]
    /// Entries are left for another page.
    public let isMoreComing: Bool
    /// The account's own, newest epoch last; with the last page of entries.
    public let grants: [OwnGrant]
    /// Grants of lower epochs are left for another page.
    public let hasMoreGrants: Bool
    /// Where the log ends, as the server says.
    public let headSequence: UInt64
    /// The hash of that entry; empty where the server does not say.
    public let head: [UInt8]
    /// The server lacks grants of the epoch in force.
    public let isUngranted: Bool
    /// Of a branch that the owner has given up: what follows in it.
    public let abandoned: [SignedRosterEntry]

    /// - Throws: `endless` where it says that more is to come, and brings nothing.
    public init(
        entries: [SignedRosterEntry], isMoreComing: Bool, grants: [OwnGrant], hasMoreGrants: Bool, headSequence: UInt64,
        head: [UInt8], isUngranted: Bool, abandoned: [SignedRosterEntry]
    ) throws(ClientError) {
        guard !isMoreComing || !entries.isEmpty else { throw .endless }
        self.entries = entries
        self.isMoreComing = isMoreComing
        self.grants = grants
        self.hasMoreGrants = hasMoreGrants
        self.headSequence = headSequence
        self.head = head
        self.isUngranted = isUngranted
        self.abandoned = abandoned
    }
}

extension RosterTail {
    /// - Parameter user: whose grants count.
    /// - Throws: `endless`.
    public init(_ wire: Wire.RosterTail, of user: UserID) throws(ClientError) {
        var grants: [OwnGrant] = []
        for grant in wire.grants where (try? grant.grantSubject()) == .member(user) {
            grants.append(OwnGrant(epoch: grant.epoch, sealed: grant.sealed))
        }
        try self.init(
            entries: wire.entries.map { SignedRosterEntry($0) }, isMoreComing: wire.moreComing, grants: grants,
            hasMoreGrants: wire.moreGrants, headSequence: wire.headSequence, head: wire.head,
            isUngranted: wire.ungranted, abandoned: wire.abandoned.map { SignedRosterEntry($0) })
    }
}
