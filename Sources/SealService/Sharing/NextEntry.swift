package import SealStatements

/// An entry that its roster has accepted, with what whoever appends it knows and the entry does not say. Nothing here
/// has a default: each place that appends an entry says all of it.
package struct NextEntry: Sendable {
    /// Who sees to what the entries of one request, or an entry and the records with it, have in common.
    package enum Turn: Sendable {
        /// `Rosters.append`, with the entry.
        case withEntry
        /// The request, once for everything in it; whoever loses the scope by an entry is told before that entry.
        case withRequest
    }

    let signed: SignedRosterEntry
    /// The roster that it follows; nil for the first entry of one.
    let before: Roster?
    /// The roster that ends with it.
    let after: Roster
    let enclosures: RosterEnclosures
    /// What the owner is told where the entry ends a zone.
    let reason: DatabaseFeed.Gone
    /// Telling those who see the scope that it changed.
    let news: Turn
    /// Counting a share's root anew for the records above it.
    let roots: Turn

    package init(
        _ signed: SignedRosterEntry, before: Roster?, after: Roster, enclosures: RosterEnclosures,
        reason: DatabaseFeed.Gone, news: Turn, roots: Turn
    ) {
        self.signed = signed
        self.before = before
        self.after = after
        self.enclosures = enclosures
        self.reason = reason
        self.news = news
        self.roots = roots
    }

    /// Whether a life of the scope begins.
    var begins: Bool { before?.incarnations != after.incarnations }

    /// Whether a life of the scope is over: ended, or given up for the one that begins.
    var ends: Bool { before?.isClosed == false && (after.isClosed || begins) }

    /// Who becomes a member, or is none any more.
    var comingAndGoing: Set<UserID> {
        Set(after.members.keys).symmetricDifference(before?.members.keys.map { $0 } ?? [])
    }

    /// Whether somebody is no member any more.
    var hides: Bool { before?.members.keys.contains { after.members[$0] == nil } ?? false }

    /// Whether somebody becomes a member.
    var shows: Bool { after.members.keys.contains { before?.members[$0] == nil } }

    /// Whether somebody becomes a member, or is none any more, or what the scope held goes with its life.
    var comesOrGoes: Bool { begins || hides || shows }
}
