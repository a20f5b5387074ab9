import SealPrimitives

@testable import SealStatements

/// Entries: one valid encoding.
enum RosterEntryTarget: FuzzTarget {
    static let name = "roster-entry"
    static let maximumLength = 65_536
    static let seeds =
        ["roster", "placement", "deletions", "moves"].map { Seed.hex($0, "entry") }
        + (World.zone.entries + World.share.entries).map { .made($0.bytes) }

    static func run(_ input: [UInt8]) {
        guard let entry = try? RosterEntry(canonicalBytes: input, container: World.container) else { return }
        require(entry.canonicalBytes() == input, "an entry with another encoding")
        // Before the container is known only an opening can be read.
        let first = try? RosterEntry(canonicalBytes: input, container: nil)
        require(first == nil || first == entry, "an entry that reads otherwise as the first")
    }
}

/// Entries as they come, put at the head of a real roster and signed by whom they name: rules behind hostile bytes.
enum RosterAppendTarget: FuzzTarget {
    static let name = "roster-append"
    static let maximumLength = 65_536
    static let seeds = RosterEntryTarget.seeds

    static func run(_ input: [UInt8]) {
        guard input.count > 88 else { return }
        // The scope and the sequence that the input has tell which roster it comes to.
        let home = input[..<32].elementsEqual(World.shareScope.id.bytes) ? World.share : World.zone
        let roster = home.rosters[Int(input[32]) % home.rosters.count]
        var game = RosterGame(roster, of: home)
        var writer = CanonicalWriter(capacity: input.count)
        writer.digest(roster.scopeID)
        writer.number(roster.nextSequence)
        writer.digest(roster.head)
        writer.raw([UInt8](input.dropFirst(72)))
        let bytes = writer.bytes
        let author = (try? ID16(bytes[72..<88])).map { UserID($0) }
        let signer = (World.people.first { $0.userID == author } ?? World.people[0]).known(to: roster)
        game.play(SignedRosterEntry(bytes: bytes, signature: signer.signingKey.sign(RosterEntry.signedBytes(bytes))))
        game.replay()
    }
}

/// A whole log: the fuzzer chooses authors, changes, epochs and faults, the harness signs.
enum RosterReplayTarget: FuzzTarget {
    static let name = "roster-replay"
    static let maximumLength = 1_024
    /// A first byte for where the game begins, then a move after the other: every change, by the owner and by somebody
    /// else.
    static let seeds =
        [Seed.made([0]), .made([10]), .made([9] + [UInt8](0...60)), .made([23, 0x0F, 0x03, 0, 1, 1, 0, 0x0F, 1])]
        + [2, 4, 6, 9, 15, 19, 23].flatMap { (start: UInt8) in
            (0..<RosterGame.kinds).flatMap { (kind: UInt8) in
                [
                    Seed.made([start, 0, 0, 0, kind, 0, 0, 0, 0, 0, 0, 0]),
                    .made([start, 0, 1, 0, 1, 0, kind, 0, 1, 0, 1, 1, 0, 0, 0, 0, start]),
                ]
            }
        }

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        var game = RosterGame(&choices)
        var moves = 0
        // Each move checks signatures: more of them only make it slow.
        while !choices.isEmpty, moves < 16 {
            game.move(&choices)
            moves += 1
        }
        game.replay()
    }
}

/// Two branches of one log: when one succeeds the other, and that only the owner ends a fork.
enum RosterForkTarget: FuzzTarget {
    static let name = "roster-fork"
    static let maximumLength = 512
    static let seeds = RosterReplayTarget.seeds + [.made([9, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        var left = RosterGame(&choices)
        var right = left
        let (first, second) = (choices.number(below: 4), choices.number(below: 4))
        for _ in 0..<first { left.move(&choices) }
        for _ in 0..<second { right.move(&choices) }
        guard let one = left.roster, let other = right.roster else { return }
        check(one, other)
        check(other, one)
        require(one.succeeds(one), "a log that does not succeed itself")

        // The owner gives the other branch up.
        let abandoned = RosterChange.AbandonedHead(sequence: other.sequence, hash: other.head)
        left.play(Self.sign(left.opening(&choices, abandoning: abandoned), one))
        left.replay()
        guard let ended = left.roster, ended.head != one.head else { return }
        require(ended.succeeds(one) && !other.succeeds(ended), "a fork that ends on both sides")
        check(ended, other)
    }

    private static func sign(_ entry: RosterEntry, _ roster: Roster) -> SignedRosterEntry {
        let bytes = entry.canonicalBytes()
        let owner = World.people[0].known(to: roster)
        return SignedRosterEntry(bytes: bytes, signature: owner.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }

    private static func check(_ one: Roster, _ other: Roster) {
        let continues = one.hashes.starts(with: other.hashes)
        let gaveUp = one.abandonments.contains {
            $0.head.hash == other.head && $0.head.sequence == other.sequence
                && $0.incarnations.scope > other.incarnations.scope && $0.incarnations.zone >= other.incarnations.zone
                && $0.owner.signed.map(\.bytes).starts(
                    with: other.knownIdentity(of: other.owner)?.signed.map(\.bytes) ?? [[]])
        }
        require(
            one.succeeds(other) == (one.scopeID == other.scopeID && (continues || gaveUp)),
            "a log succeeds another wrongly")
    }
}
