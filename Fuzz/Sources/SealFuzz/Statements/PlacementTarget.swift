import SealPrimitives

@testable import SealStatements

/// Whether a record is where its parent says: any record, any parent, in the zone and in the share.
enum PlacementTarget: FuzzTarget {
    static let name = "placement"
    static let maximumLength = 256
    static let seeds = (0..<16).map {
        Seed.made([$0 & 1, $0 >> 1 & 1, 0, $0 >> 2, 4, 1, 2, 0, $0, 1, $0, 1, $0 &* 7, 1, 3, 1, 2])
    }
    private static let names = ["Root-1", "Share-1", "Note-1", "Note-2", "cloudkit.zoneshare"]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let rosters = choices.flag() ? World.share.rosters : World.zone.rosters
        let roster = choices.often() ? choices.oneOf(rosters) : rosters[rosters.count - 1]
        let record = statement(&choices)
        let parent = choices.flag() ? statement(&choices) : nil
        let placement = Placement(
            of: VerifiedStatement(record), roster: roster, parent: parent.map { VerifiedStatement($0) })
        require((placement == .inPlace) == isInPlace(record, roster, parent), "a record is placed wrongly")
        cycles(&choices)
    }

    /// Any parents among a few records: whoever comes back to itself going up is in exactly one circle, and nobody else
    /// in any.
    private static func cycles(_ choices: inout Choices) {
        var parents: [String: String] = [:]
        for name in names where choices.flag() { parents[name] = choices.oneOf(names) }
        let found = ParentCycles.find(in: parents)
        for name in names {
            var next = parents[name]
            var steps = 0
            while let above = next, above != name, steps < names.count { (next, steps) = (parents[above], steps + 1) }
            require(found.count { $0.contains(name) } == (next == name ? 1 : 0), "a circle is missed, or made up")
        }
        for cycle in found {
            for (name, above) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
                require(parents[name] == above, "a circle is in another order than its parents")
            }
        }
    }

    private static func statement(_ choices: inout Choices) -> Statement {
        let roster = (choices.flag() ? World.share : World.zone).roster
        var statement = Record.statement(roster, by: choices.oneOf(World.people).userID)
        statement.recordName = choices.oneOf(names)
        statement.parent = choices.flag() ? choices.oneOf(names) : nil
        statement.share = choices.flag() ? choices.oneOf(names) : nil
        if choices.often() { statement.recordType = "cloudkit.share" }
        if choices.rarely() { statement.scopeIncarnation = choices.number() }
        if choices.rarely() { statement.zoneIncarnation = choices.number() }
        if choices.rarely() { statement.kind = .delete }
        if choices.rarely() { statement.scopeID = choices.digest() }
        return statement
    }

    /// PROTOCOL.md, "Placement".
    private static func isInPlace(_ record: Statement, _ roster: Roster, _ parent: Statement?) -> Bool {
        let isHere =
            record.scopeID == roster.scopeID && record.zoneIncarnation == roster.incarnations.zone
            && record.scopeIncarnation == roster.incarnations.scope
        guard isHere else { return false }
        let hasParent =
            record.parent != nil && parent?.kind == .save && parent?.recordName == record.parent
            && parent?.scopeID == record.scopeID && parent?.scopeIncarnation == record.scopeIncarnation
        let share = roster.scope.shareRecordName
        if share.isEmpty { return record.parent == nil || hasParent }
        if record.recordName == roster.rootRecordName { return record.share == share }
        if record.recordName == share { return record.recordType == "cloudkit.share" }
        return hasParent
    }
}
