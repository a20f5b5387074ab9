public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// Ending a fork of one's own scope.
extension ScopeReplica {
    /// An opening on the server's log that gives another branch up, ready to be sent.
    public struct ForkEnd: Sendable {
        public let draft: RosterAuthor<H>.Draft
        /// Of the branch that is given up what follows where the two part; empty for one that only others know.
        public let abandoned: [SignedRosterEntry]
        /// What to go over to once the server has taken it.
        public let succession: Succession
    }

    /// Opens the scope anew on the server's log, naming the head of the branch that is given up with it.
    /// - Parameter abandoned: nil for this device's own branch.
    /// - Throws: `notForked`, `notAbandonable`, `yetAnotherBranch`; `invalid` for a log that does not hold, and after
    ///   the last life that there is.
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
        guard !isPastLast else { throw .invalid(.changeNotApplicable) }
        do throws(SealError) {
            let draft = try RosterAuthor<H>(user: user, keys: own.keys).open(
                scope, following: theirs, encryptionScope: theirs.encryptionScope,
                incarnations: Incarnations(zone: next, scope: next), abandoned: given, identity: own.chain, time: time,
                random: &random)
            var reopened = theirs
            try reopened.append(draft.entry)
            return ForkEnd(
                draft: draft, abandoned: isOurs ? Array(entries[parting...]) : [],
                succession: Succession(
                    entries: log.entries + [draft.entry], roster: reopened, people: people(of: reopened),
                    branch: entries, base: roster?.head))
        } catch {
            throw .invalid(error)
        }
    }
}
