public import SealPrimitives
public import SealStatements

/// A server whose roster is not the one that was verified: it was restored from a backup, or it forks.
extension ScopeReplica {
    /// What a tail is to this replica.
    public enum Course: Sendable, Equatable {
        /// It goes on from what is known.
        case onwards
        /// The log has grown since it was asked for, and what was asked for no longer follows.
        case outrun
        /// The server has lost what begins with that entry: it is to be given it back (`giveBack`).
        case behind(from: UInt64)
        /// It goes on differently: only the server's whole log can show that the owner has ended a fork (`succession`).
        case apart
    }

    /// - Parameter asked: the head that the tail was asked for after.
    /// - Throws: `shortened` where the server was given back already what it lacks; `endless`, `unknownEnd`.
    public func course(of tail: RosterTail, asked: Digest?) throws(ClientError) -> Course {
        guard roster?.head == asked else { return .outrun }
        guard let roster else { return .onwards }
        guard let end = try? Digest(tail.head) else { throw .unknownEnd }
        if tail.headSequence < roster.sequence, roster.hashes[Int(tail.headSequence)] == end {
            guard !hasGivenBack else { throw .shortened }
            return .behind(from: tail.headSequence + 1)
        }
        let next = tail.entries.first.flatMap {
            try? RosterEntry(canonicalBytes: $0.bytes, container: scope.container)
        }
        if tail.headSequence > roster.sequence, next?.previous ?? roster.head == roster.head { return .onwards }
        if tail.headSequence == roster.sequence, end == roster.head { return .onwards }
        // What was not asked for is no fork.
        if let first = tail.entries.first, has(first) { throw .endless }
        return .apart
    }

    /// Holds a log against this one that came whole by another way, as behind a share's URL. Nothing is taken over.
    /// - Parameter asked: the number of the last entry that was known when it was asked for; nil for none.
    /// - Throws: `forked`, `shortened`.
    public func check(_ log: Roster, asked: UInt64?) throws(ClientError) {
        var isSame = true
        if let roster {
            let common = Int(min(log.sequence, roster.sequence))
            isSame = log.hashes[common] == roster.hashes[common]
            guard isSame || log.succeeds(roster) else { throw .forked(from: head) }
        }
        // What has become known since is not missing.
        if isSame, let asked, log.sequence < asked { throw .shortened }
        for floor in floors { try ScopeReplica.check(log, reaches: floor, isLast: true) }
    }

    // MARK: Giving back

    /// That there is no such scope is contradicted by what was verified: of a roster that is open, with the user in it,
    /// "there is none" is no answer; nor is it to an owner of one that has ended.
    public var mayKnowBetter: Bool { roster != nil && (scope.owner == user || isMember) }

    /// The server was given the roster back as it is.
    public var hasGivenBack: Bool { givenBack != nil && givenBack == roster?.sequence }

    /// What the server has lost, from an entry on, and the user's grants with it.
    /// - Parameters:
    ///   - first: at most the number of the newest entry.
    ///   - grants: of the present life, oldest epoch first.
    /// - Throws: `unknownScope` where there is nothing to give.
    public func giveBack(from first: UInt64, grants: [OwnGrant]) throws(ClientError) -> RosterReturn {
        guard let roster, first < UInt64(entries.count) else { throw .unknownScope }
        return RosterReturn(entries, from: first, grants: roster.isClosed ? [] : grants)
    }

    /// Takes note that the server has it all.
    public mutating func noteGivenBack(_ what: RosterReturn) { givenBack = what.sequence }

    // MARK: Forks

    /// A log with which the owner has ended a fork, in the place of the branch that was given up.
    public struct Succession: Sendable {
        /// All of it, to be kept in the place of what was verified.
        public let entries: [SignedRosterEntry]
        public let roster: Roster
        /// As of a `Step`.
        public let people: [IdentityChain]
        /// What was given up, as far as it is known: nothing else is to be replaced.
        public let branch: [SignedRosterEntry]
        let base: Digest?
    }

    /// The server's log, where it ends a fork with the opening that gives this device's branch up.
    /// - Parameters:
    ///   - abandoned: what followed in that branch, as the server says; the rules judge it like everything else.
    ///   - asked: the head that was known when the server was asked.
    /// - Returns: nil where that is the head no more: the server is to be asked again.
    /// - Throws: `forked` for any other log: one that does not even replay is no better; `keysReplaced`, `foreignKeys`
    ///   as in a step.
    public func succession(
        of log: ServerLog, abandoned: [SignedRosterEntry], asked: Digest?, as own: OwnIdentity
    ) throws(ClientError) -> Succession? {
        guard var roster, roster.head == asked else { return nil }
        var branch = entries
        for entry in abandoned {
            do throws(SealError) { try roster.append(entry) } catch { break }
            branch.append(entry)
        }
        guard let theirs = try? log.roster(), theirs.succeeds(roster) else { throw .forked(from: head) }
        // Whoever has former keys of the owner's can end a fork in a roster that has not heard of newer ones yet.
        try own.check(theirs)
        return Succession(
            entries: log.entries, roster: theirs, people: people(of: theirs), branch: branch, base: asked)
    }

    /// Goes over to it, once it is kept.
    /// - Returns: false where another call has gone over, or added to the log, since it was judged: the server is to be
    ///   asked again.
    public mutating func adopt(_ succession: Succession) -> Bool {
        guard succession.base == roster?.head else { return false }
        entries = succession.entries
        roster = succession.roster
        return true
    }
}
