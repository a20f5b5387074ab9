import SealPrimitives

@testable import SealStatements

/// A roster that entries are tried on, and what has to hold whatever they are.
struct RosterGame {
    /// Whose scope and seats it is played with.
    let home: Zone
    private(set) var roster: Roster?
    /// What it began with, where it did not begin with nothing.
    private let start: Roster?
    /// What was taken since.
    private var entries: [SignedRosterEntry] = []

    private static let isCompared: Void = RosterState.coversEverything()

    init(_ start: Roster?, of home: Zone) {
        Self.isCompared
        self.home = home
        roster = start
        self.start = start
    }

    /// Where the game begins, as the fuzzer chooses: with nothing, or after any entry of the zone or the share.
    init(_ choices: inout Choices) {
        let (zone, share) = (World.zone, World.share)
        let start = choices.number(below: zone.rosters.count + share.rosters.count + 2)
        let home = start <= zone.rosters.count ? zone : share
        let index = start <= zone.rosters.count ? start : start - zone.rosters.count - 1
        self.init(index == 0 ? nil : home.rosters[index - 1], of: home)
    }

    mutating func play(_ signed: SignedRosterEntry) {
        guard let before = roster else {
            guard let opened = try? Roster(opening: signed, scope: home.scope) else { return }
            require(
                opened.head == RosterEntry.hash(signed.bytes) && opened.nextSequence == 1, "a first entry that is none")
            RosterProperties.check(opened)
            roster = opened
            entries = [signed]
            return
        }
        var after = before
        do {
            try after.append(signed)
        } catch {
            require(
                RosterState(before) == RosterState(after), "an entry that was refused with \(error) changed the roster")
            // A roster that refused goes on like one that never saw the entry.
            roster = after
            return
        }
        entries.append(signed)
        roster = after
        require(after.head == RosterEntry.hash(signed.bytes) && after.sequence == before.nextSequence, "another head")
        RosterProperties.check(after)
        let entry = certain("an entry that was taken is read") {
            try RosterEntry(canonicalBytes: signed.bytes, container: World.container)
        }
        RosterStep(before: before, entry: entry, after: after).check()
    }

    /// The entries that were taken give the same state where nothing was refused between them.
    func replay() {
        guard let roster else { return }
        var left = entries[...]
        guard
            var again = start
                ?? left.popFirst().map({ first in
                    certain("a first entry that was taken") { try Roster(opening: first, scope: home.scope) }
                })
        else { return }
        for entry in left { certain("an entry that was taken") { try again.append(entry) } }
        require(RosterState(again) == RosterState(roster), "a replay gives another state")
    }
}
