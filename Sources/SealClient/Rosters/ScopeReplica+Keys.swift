public import SealEnvelope
import SealPrimitives
import SealStatements

/// The epoch keys, each opened by a grant or by the key after it, and checked against the roster's key id.
extension ScopeReplica {
    /// By epoch number, of the roster's present life.
    public var currentKeys: [UInt32: EpochKey] {
        guard let life = roster?.incarnations else { return [:] }
        var numbered: [UInt32: EpochKey] = [:]
        for (context, held) in keys where context.incarnations == life { numbered[context.epoch] = held.key }
        return numbered
    }

    /// A key that was opened.
    struct HeldKey: Sendable {
        let key: EpochKey
        /// What its epoch's author has sealed as the key before was looked at: what that leads to, nothing changes that
        /// comes later.
        var isFollowed = false
    }

    /// Opens grants, and walks from what they open down to the first epoch.
    ///
    /// What does not open leaves its epoch without a key, and nothing else: whoever opened an epoch with bad grants
    /// must not keep others from reading what came before, or from mending it.
    public mutating func open(_ grants: [OwnGrant], as own: OwnIdentity) {
        guard let roster else { return }
        // A share that has ended has records until its owner has moved them.
        let isEnded = roster.isClosed && !scope.shareRecordName.isEmpty && scope.owner == user
        guard isEnded || isMember else { return }
        let epochs = epochsOfThisLife(roster)
        // All of them first: what one opens need not be looked for.
        for epoch in epochs.reversed() where keys[epoch.context] == nil {
            // The first that opens to the key that the roster names: others beside it take nothing away.
            for grant in grants where grant.epoch == epoch.number {
                let opened = try? own.open { generation throws(SealError) in
                    try Grants<H>.open(grant.sealed, epoch: epoch, as: user, keys: generation)
                }
                guard let key = opened else { continue }
                keys[epoch.context] = HeldKey(key: key)
                break
            }
        }
        for index in epochs.indices.reversed() where index > 0 && keys[epochs[index - 1].context] == nil {
            follow(epochs[index], into: epochs[..<index])
        }
    }

    /// Looks once at what an epoch's author has sealed as the key before: as many as an administrator has opened epochs
    /// with what leads nowhere, each would be held against all those below at every call.
    private mutating func follow(_ epoch: Roster.Epoch, into earlier: ArraySlice<Roster.Epoch>) {
        guard let held = keys[epoch.context], !held.isFollowed else { return }
        keys[epoch.context]?.isFollowed = true
        guard let previous = try? held.key.previous(epoch.previousKey) else { return }
        // The key before is that of the epoch before, unless its author had to mend one that nobody could open.
        for candidate in earlier.reversed() {
            guard let key = try? EpochKey(previous, context: candidate.context, keyID: candidate.keyID) else {
                continue
            }
            if keys[candidate.context] == nil { keys[candidate.context] = HeldKey(key: key) }
            return
        }
    }

    /// Takes the key over that the user has opened an epoch with, once the verified log has that epoch: in the place
    /// of what was sent the log may have somebody else's, with a key of its own.
    public mutating func keep(_ key: EpochKey) {
        let isInLog = roster?.epochs.contains { $0.context == key.context && $0.keyID == key.keyID }
        guard isInLog ?? false else { return }
        keys[key.context] = HeldKey(key: key)
        isUngranted = false
    }

    // MARK: Grants that the server lacks

    /// Takes note of what the server says that it lacks: until a new epoch has made up for it, of which it can say what
    /// it likes.
    public mutating func note(_ tail: RosterTail) {
        if isUngranted != false { isUngranted = tail.isUngranted ? true : nil }
    }

    /// An administrator's next write opens a new epoch for want of grants.
    public var lacksGrants: Bool { isUngranted ?? false }

    // MARK: Earlier grants

    /// Whether there are epochs of this life that nothing opens so far, and earlier grants were not asked for yet.
    public var wantsEarlierGrants: Bool {
        guard let roster, !roster.isClosed, allGrantsAsked != roster.incarnations else { return false }
        return epochsOfThisLife(roster).contains { keys[$0.context] == nil }
    }

    /// Takes note that all grants of this life were asked for.
    public mutating func noteAllGrantsAsked() { allGrantsAsked = roster?.incarnations }

    /// Which grants come before those of a page.
    /// - Parameter oldest: the page's first epoch; nil where it had no grants.
    /// - Returns: grants of lower epochs are to be asked for.
    /// - Throws: `endless` before the first epoch: there are none, and asking so would begin anew.
    public func epochToAskBelow(oldest: UInt32?) throws(ClientError) -> UInt32 {
        guard oldest != 0 else { throw .endless }
        // Of epochs that the verified roster has, each page of lower ones: that many pages there are at most.
        let newest = (roster?.currentEpoch.number ?? 0).addingReportingOverflow(1)
        return min(oldest ?? .max, newest.overflow ? .max : newest.partialValue)
    }

    /// Judges a page of earlier grants.
    /// - Throws: `endless` where it leads nowhere.
    public func check(_ page: RosterTail, below epoch: UInt32) throws(ClientError) {
        let goesOn = page.grants.isEmpty ? !page.hasMoreGrants : page.grants.allSatisfy { $0.epoch < epoch }
        guard !page.isMoreComing, goesOn else { throw .endless }
    }

    private func epochsOfThisLife(_ roster: Roster) -> [Roster.Epoch] {
        roster.epochs.filter { $0.context.incarnations == roster.incarnations }
    }
}
