import SealPrimitives
import SealStatements
import SealVectorChecks

extension RosterVectors: Construction {
    static let construction = VectorConstruction.roster
    static let algorithm = "Scopes, roster entries and rules"
    static let header = [
        "ScopeID: `scope` gives `scopeID`.",
        "Replay: `entries` of the group, then the test's `next`, replay in `scope`; valid tests end at `head`. In an invalid test the last entry of `next` is the one that is refused. `state` says what the group's entries lead to.",
        "Fork: `known` and `other` are two logs of `scope`, each `entries` of the group and then their own; `succeeds` says whether a client that holds `known` takes `other` over.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone(isShared: false)
        try builder.group("ScopeID") { group in
            let share = Scope(
                container: zone.scope.container, environment: .development, owner: zone.scope.owner, zoneName: "Notes",
                shareRecordName: "Share-1")
            for (comment, scope) in [("a zone", zone.scope), ("a hierarchical share", share)] {
                group.valid(comment, ["scope": .scope(scope), "scopeID": .hex(scope.id)])
            }
        }
        let rules = try RosterRuleVectors(builder: builder)
        try rules.opening()
        try rules.sharing()
        try rules.accepting()
        try rules.publicAccess()
        try rules.fullScope()
        try rules.members()
        try rules.administrators()
        try rules.blocking()
        try rules.generations()
        try rules.epochs()
        try rules.lives()
        try rules.forks()
        builder = rules.builder
    }
}

/// The rules, each obeyed and broken: one method a part of the table.
final class RosterRuleVectors {
    var builder: VectorBuilder
    let owner: VectorPerson
    let alice: VectorPerson
    let bob: VectorPerson
    let carol: VectorPerson

    init(builder: VectorBuilder) throws {
        self.builder = builder
        owner = try VectorPerson(1)
        alice = try VectorPerson(2)
        bob = try VectorPerson(3)
        carol = try VectorPerson(4)
    }

    /// A group of tests that all continue the same log.
    func replay(_ state: String, from base: VectorZone, _ body: (RosterCases) throws -> Void) throws {
        let shared: [String: JSON] = [
            "scope": .scope(base.scope), "entries": .entries(base.entries), "state": .string(state),
        ]
        try builder.group("Replay", shared: shared) { group in
            let cases = RosterCases(base: base, group: group)
            try body(cases)
            group = cases.group
        }
    }
}

/// Tests that all continue one log.
final class RosterCases {
    let base: VectorZone
    var group: VectorBuilder.GroupBuilder

    init(base: VectorZone, group: VectorBuilder.GroupBuilder) {
        self.base = base
        self.group = group
    }

    func obeys(_ comment: String, _ entries: [SignedRosterEntry]) throws {
        var roster = base.roster
        for entry in entries { try roster.append(entry) }
        group.valid(comment, ["next": .entries(entries), "head": .hex(roster.head)], flag: "Rule")
    }

    func obeys(_ comment: String, by author: VectorPerson, _ changes: [RosterChange], rotating: Bool = false) throws {
        let epoch = rotating ? base.epoch(after: changes, by: author) : nil
        try obeys(comment, [author.sign(base.entry(by: author, changes, epoch: epoch))])
    }

    /// - Parameters:
    ///   - rotating: with the epoch that the changes would need if they were allowed.
    ///   - signer: who signs in the author's place.
    ///   - change: what else is wrong.
    func breaks(
        _ comment: String, by author: VectorPerson, _ changes: [RosterChange], rotating: Bool = false,
        epoch: EpochOpening? = nil, signedBy signer: VectorPerson? = nil,
        _ change: (inout RosterEntry) -> Void = { _ in }
    ) {
        var entry = base.entry(by: author, changes, epoch: rotating ? base.epoch(after: changes, by: author) : epoch)
        change(&entry)
        breaks(comment, [(signer ?? author).sign(entry)])
    }

    func breaks(_ comment: String, _ entries: [SignedRosterEntry]) {
        group.invalid(comment, ["next": .entries(entries)], flag: "Rule")
    }
}
