public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// Ending a fork of one's own scope.
extension ScopeReplica {
    /// An opening on the server's log that gives another branch up, ready to be sent.
    public struct ForkEnd: Sendable {
        public let draft: RosterAuthor<H>.Draft
        /// Of a hierarchical share, which ends again at once: what is to follow the opening.
        public let closing: SignedRosterEntry?
        /// Of the branch that is given up what follows where the two part; empty for one that only others know.
        public let abandoned: [SignedRosterEntry]
        /// What to go over to once the server has taken it.
        public let succession: Succession
    }

    /// Opens the scope anew on the server's log, naming the head of the branch that is given up with it. A hierarchical
    /// share has ended on that log before: with its next life nobody opens what is in it any more.
    /// - Parameter abandoned: nil for this device's own branch.
    /// - Throws: `notForked`, `notAbandonable`, `yetAnotherBranch`; `invalid` for a log that does not hold, of a share
    ///   that is open, and after the last life that there is.
    public func forkEnd(
        on log: ServerLog, abandoning abandoned: RosterChange.AbandonedHead?, as own: OwnIdentity, time: Int64,
        random: inout some RandomSource
    ) throws(ClientError) -> ForkEnd {
        let theirs: Roster
        do throws(SealError) { theirs = try log.roster() } catch { throw .invalid(error) }
        let parting = zip(entries, log.entries).prefix { $0 == $1 }.count
        let isOurs = parting < entries.count
        guard let given = abandoned ?? (isOurs ? head : nil) else { throw .notForked }
        guard given.sequence >= theirs.nextSequence || theirs.hashes[Int(given.sequence)] != given.hash else {
            throw .notAbandonable
        }
        guard !isOurs || head == given else { throw .yetAnotherBranch }
        let lives = max(theirs.incarnations.scope, roster?.incarnations.scope ?? 0)
        // Of a branch that only others know, nobody here can say how many lives it has had.
        let (next, isPastLast) = lives.addingReportingOverflow(isOurs ? 1 : 1_000)
        let isShare = !scope.shareRecordName.isEmpty
        guard !isPastLast, theirs.isClosed || !isShare else { throw .invalid(.changeNotApplicable) }
        let zone = isShare ? max(theirs.incarnations.zone, roster?.incarnations.zone ?? 0) : next
        do throws(SealError) {
            let author = RosterAuthor<H>(user: user, keys: own.keys)
            // Its root may be another share's by now. Below its own record, which has ended with it, there is nothing.
            let draft = try author.open(
                scope, following: theirs, encryptionScope: theirs.encryptionScope,
                incarnations: Incarnations(zone: zone, scope: next),
                rootRecordName: isShare ? scope.shareRecordName : nil, abandoned: given, identity: own.chain,
                time: time, random: &random)
            var successor = theirs
            try successor.append(draft.entry)
            let closing = isShare ? author.plain(.close, on: successor, time: time).entry : nil
            if let closing { try successor.append(closing) }
            return ForkEnd(
                draft: draft, closing: closing, abandoned: isOurs ? Array(entries[parting...]) : [],
                succession: Succession(
                    entries: log.entries + [draft.entry] + (closing.map { [$0] } ?? []), roster: successor,
                    people: people(of: successor), branch: entries, base: roster?.head))
        } catch {
            throw .invalid(error)
        }
    }
}
