public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A scope's roster as this device has verified it, and the epoch keys that it has opened: entries and grants come in,
/// each checked against the rules and against what was known before, and what there is to keep comes out.
///
/// It asks nobody and keeps nothing: whoever holds it does both, and hands a change over (`adopt`) once that is kept.
public struct ScopeReplica<H: HybridEncryption>: Sendable {
    public let scope: Scope
    /// Whose device this is.
    public let user: UserID
    /// The log as far as it is verified.
    public internal(set) var entries: [SignedRosterEntry] = []
    /// What it says; nil while there is nothing.
    public internal(set) var roster: Roster?
    /// Where the account had come to elsewhere, or here before, as far as the log is not there yet: nothing before
    /// that is taken over.
    public private(set) var floors: [Enrolment.Head] = []
    var keys: [EpochContext: HeldKey] = [:]
    /// The life whose earlier grants were asked for, for want of keys: what they did not open then they do not open
    /// later.
    var allGrantsAsked: Incarnations?
    /// The server lacks grants of the epoch in force, as it says; believed once, since it costs a new key.
    var isUngranted: Bool?
    /// How much of the roster the server was given back; more than once the same helps nobody.
    public internal(set) var givenBack: UInt64?

    /// One of which nothing is known yet.
    public init(scope: Scope, user: UserID) { (self.scope, self.user) = (scope, user) }

    /// As it was kept.
    /// - Throws: what an entry breaks: a copy that does not replay must not count as an empty one.
    public init(scope: Scope, user: UserID, entries: [SignedRosterEntry], floors: [Enrolment.Head]) throws(SealError) {
        self.init(scope: scope, user: user)
        roster = try Roster(replaying: entries, scope: scope)
        self.entries = entries
        self.floors = ScopeReplica.floors(floors, above: roster)
    }

    /// Goes on from another replica of the scope, whose log this one's has replaced: with the keys that it has opened,
    /// and with what was asked of the server and given to it. The life that this log has come to is in the other one as
    /// it is here, or not at all (R-FORK-3).
    public mutating func goOn(from earlier: ScopeReplica) {
        keys.merge(earlier.keys) { own, _ in own }
        (isUngranted, givenBack) = (earlier.isUngranted, earlier.givenBack)
        allGrantsAsked = earlier.allGrantsAsked
    }

    /// Where the verified log ends.
    public var head: RosterChange.AbandonedHead? {
        roster.map { RosterChange.AbandonedHead(sequence: $0.sequence, hash: $0.head) }
    }

    /// The scope is open, and its user in it.
    public var isMember: Bool { roster.map { !$0.isClosed && $0.members[user] != nil } ?? false }

    // MARK: Entries

    /// Entries that follow the verified log, judged and not taken over yet.
    public struct Step: Sendable {
        /// The number of the first new entry.
        public let first: UInt64
        /// The new entries, to be kept.
        public let entries: [SignedRosterEntry]
        /// What the log says with them.
        public let roster: Roster
        /// Whoever is named with keys that the roster did not show before: to be held against what is known of them
        /// before anything is sealed to them or taken from them.
        public let people: [IdentityChain]
        /// The entries by which the user went out of somebody's zone as a whole: what was met there before ceases to
        /// count as there. An owner sees what is in shares too, and of a share's records each participant hears how
        /// they ended.
        public let absences: Set<UInt64>
        let base: Digest?
    }

    /// Judges a page of the log.
    /// - Parameters:
    ///   - page: may begin with entries that are known.
    ///   - isLast: the log ends with them.
    /// - Throws: `forked`, `shortened`, `unknownScope`, `keysReplaced`, `foreignKeys`; `invalid` for an entry that
    ///   breaks a rule.
    public func step(_ page: [SignedRosterEntry], isLast: Bool, as own: OwnIdentity) throws(ClientError) -> Step {
        let fresh = entries.isEmpty ? page : page.filter { !has($0) }
        var next = roster
        do throws(SealError) {
            for entry in fresh {
                if next == nil { next = try Roster(opening: entry, scope: scope) } else { try next?.append(entry) }
            }
        } catch {
            throw error == .notNextEntry ? .forked(from: head) : .invalid(error)
        }
        guard let next else { throw .unknownScope }
        for floor in floors { try ScopeReplica.check(next, reaches: floor, isLast: isLast) }
        if !fresh.isEmpty { try own.check(next) }
        return Step(
            first: UInt64(entries.count), entries: fresh, roster: next, people: fresh.isEmpty ? [] : people(of: next),
            absences: fresh.isEmpty ? [] : absences(in: next), base: roster?.head)
    }

    /// As of a `Step`, in all of the log.
    public var absences: Set<UInt64> { roster.map { absences(in: $0) } ?? [] }

    private func absences(in roster: Roster) -> Set<UInt64> {
        scope.shareRecordName.isEmpty && scope.owner != user ? roster.absences(of: user) : []
    }

    /// Takes over what was judged, once it is kept.
    /// - Returns: false where the log has grown since it was judged: then it has to be judged again.
    public mutating func adopt(_ step: Step) -> Bool {
        guard step.base == roster?.head else { return false }
        entries += step.entries
        roster = step.roster
        floors = ScopeReplica.floors(floors, above: roster)
        return true
    }

    /// The account has seen more somewhere, as it turns out.
    /// - Parameter isLast: the log ends with what is known of it.
    /// - Throws: `forked`, `shortened`. What is known by then stays, and nothing follows it that does not lead there.
    public mutating func require(_ floor: Enrolment.Head, isLast: Bool) throws(ClientError) {
        floors = ScopeReplica.floors(floors + [floor], above: roster)
        if let roster { try ScopeReplica.check(roster, reaches: floor, isLast: isLast) }
    }

    /// Those that a log does not lead to, each once.
    private static func floors(_ floors: [Enrolment.Head], above roster: Roster?) -> [Enrolment.Head] {
        var above: [Enrolment.Head] = []
        next: for floor in floors where !(roster?.reaches(floor) ?? false) {
            for known in above where known == floor { continue next }
            above.append(floor)
        }
        return above
    }

    static func check(_ roster: Roster, reaches floor: Enrolment.Head, isLast: Bool) throws(ClientError) {
        guard !roster.reaches(floor) else { return }
        if roster.sequence >= floor.sequence { throw .forked(from: nil) }
        if isLast { throw .shortened }
    }

    /// Whether an entry is the verified one of its number.
    public func has(_ entry: SignedRosterEntry) -> Bool {
        guard let sequence = try? RosterEntry(canonicalBytes: entry.bytes, container: scope.container).sequence,
            sequence < UInt64(entries.count)
        else { return false }
        return entries[Int(sequence)] == entry
    }

    /// Whether an entry goes on from the verified log, by what it says itself.
    public func isFollowed(by entry: SignedRosterEntry) -> Bool {
        guard let roster else { return true }
        return (try? RosterEntry(canonicalBytes: entry.bytes, container: scope.container))?.previous == roster.head
    }

    /// When an entry was signed, by its author's clock; nil for one that is not known.
    public func time(of sequence: UInt64) -> Int64? {
        guard sequence < UInt64(entries.count) else { return nil }
        return try? RosterEntry(canonicalBytes: entries[Int(sequence)].bytes, container: scope.container).time
    }

    /// Those whom a roster names with keys that the verified one does not show.
    func people(of next: Roster) -> [IdentityChain] {
        next.knownIdentities.filter { chain in
            roster?.knownIdentity(of: chain.userID) != chain
                && roster?.invitation(for: chain.userID)?.invitee != chain
        }
    }
}

extension Roster {
    /// Whether this log has the head, or its owner has given the branch up that ends with it.
    public func reaches(_ head: Enrolment.Head) -> Bool {
        if head.sequence < nextSequence, hashes[Int(head.sequence)] == head.hash { return true }
        return abandonments.contains { $0.head.sequence == head.sequence && $0.head.hash == head.hash }
    }

    /// Whether an answer that cites a head goes by this log, or by a beginning of it.
    public func has(sequence: UInt64, hash: [UInt8]) -> Bool {
        sequence < nextSequence && hashes[Int(sequence)].bytes == hash
    }
}

extension ScopeReplica: CustomStringConvertible {
    public var description: String { "ScopeReplica" }
}
