public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A scope's verified roster and the epoch keys that its reader holds, at one moment: an immutable value, so that
/// records are verified and opened outside any lock.
public struct ZoneView: Sendable {
    public let roster: Roster
    /// By epoch number, for the roster's incarnation.
    public let keys: [UInt32: EpochKey]
    public let user: UserID
    /// The server lacks grants of the epoch in force: an administrator's next write opens a new one.
    public let lacksGrants: Bool

    public init(roster: Roster, keys: [UInt32: EpochKey], user: UserID, lacksGrants: Bool) {
        self.roster = roster
        self.keys = keys
        self.user = user
        self.lacksGrants = lacksGrants
    }

    public var scope: Scope { roster.scope }

    /// The scope is open, and this account in it.
    public var isMember: Bool { !roster.isClosed && roster.members[user] != nil }

    /// Whether this account is the owner or an administrator.
    public var mayAdminister: Bool { roster.members[user]?.mayAdminister ?? false }

    /// The key that new records are sealed under.
    /// - Throws: `missingKey` where none was granted: keys that were given out before stay good for what was written
    ///   before.
    public func keyInForce() throws(SealError) -> EpochKey {
        guard let key = keys[roster.currentEpoch.number] else { throw .missingKey }
        return key
    }

    /// The newest key that this account holds: what the owner mends a bad epoch with.
    public var newestHeldKey: EpochKey? { keys.max { $0.key < $1.key }?.value }

    /// The key that a verified statement's record was sealed under.
    public func key(for statement: Statement) throws(SealError) -> EpochKey {
        guard let key = keys[statement.epoch] else { throw .missingKey }
        return key
    }
}

extension ScopeReplica {
    /// The scope as it is verified by now; nil while there is nothing.
    public var view: ZoneView? {
        roster.map { ZoneView(roster: $0, keys: currentKeys, user: user, lacksGrants: isUngranted ?? false) }
    }
}

extension ZoneView: CustomStringConvertible {
    public var description: String { "ZoneView" }
}
