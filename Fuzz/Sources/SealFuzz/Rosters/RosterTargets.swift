import SealPrimitives

@testable import SealStatements

/// Entries: one valid encoding.
enum RosterEntryTarget: FuzzTarget {
    static let name = "roster-entry"
    static let maximumLength = 65_536
    static let seeds = [Seed.hex("roster", "entry")] + World.zone.entries.map { .made($0.bytes) }

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
        // The sequence that the input has tells which roster it comes to.
        let state = Int(input[32]) % World.zone.rosters.count
        let roster = World.zone.rosters[state]
        var game = RosterGame(roster)
        var writer = CanonicalWriter(capacity: input.count)
        writer.digest(roster.scopeID)
        writer.number(roster.nextSequence)
        writer.digest(roster.head)
        writer.raw([UInt8](input.dropFirst(72)))
        let bytes = writer.bytes
        let author = (try? ID16(bytes[72..<88])).map { UserID($0) }
        let signer = World.people.first { $0.userID == author } ?? World.people[0]
        game.play(SignedRosterEntry(bytes: bytes, signature: signer.signingKey.sign(RosterEntry.signedBytes(bytes))))
        game.replay()
    }
}

/// A whole log: the fuzzer chooses authors, changes, epochs and faults, the harness signs.
enum RosterReplayTarget: FuzzTarget {
    static let name = "roster-replay"
    static let maximumLength = 1_024
    /// A first byte for where the game begins, then a move after the other: every change, by the owner and by a member.
    static let seeds = [Seed.made([0]), .made([9] + [UInt8](0...60))] + [2, 4, 6, 9].flatMap { (start: UInt8) in
        (0..<12).flatMap { (kind: UInt8) in
            [
                Seed.made([start, 0, 0, 0, 1, 0, 0, kind, 0, 0, 0, 0]),
                .made([start, 1, 0, 1, 0, 0, 0, 1, kind, 0, 0, 0, 0, start]),
            ]
        }
    }

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let start = choices.number(below: World.zone.rosters.count + 1)
        var game = RosterGame(start == 0 ? nil : World.zone.rosters[start - 1])
        var moves = 0
        // Each move checks signatures: more of them only make it slow.
        while !choices.isEmpty, moves < 16 {
            game.move(&choices)
            moves += 1
        }
        game.replay()
    }
}
