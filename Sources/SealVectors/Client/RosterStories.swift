import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// A zone's log, and others that a server might show in its place. Bob, whose identity is as his devices state it,
/// takes part in it.
struct RosterStories {
    private let main: VectorZone
    private var logs: VectorLogs
    private let bob: VectorPerson
    private let ann: VectorPerson

    private typealias Step = [String: JSON]

    init() throws {
        ann = try VectorPerson(1, time: 0)
        bob = try VectorPerson(3, time: 0)
        var zone = try VectorZone(owner: ann)
        try zone.join(bob, 1)
        let joined = zone
        try zone.append(by: ann, [], rotating: true)
        try zone.append(by: ann, [.setPermission(bob.user, .readOnly)], rotating: true)
        main = zone
        logs = VectorLogs("main", zone.entries)

        var branch = joined
        try branch.append(by: ann, [.setPermission(bob.user, .readOnly)], rotating: true)
        try branch.append(by: ann, [], rotating: true)
        logs.add("branch", branch.entries)
        try branch.append(by: ann, [], rotating: true)
        logs.add("longer", branch.entries)

        // The owner goes on with the branch, and gives up what followed in the other one.
        func ending(_ head: RosterChange.AbandonedHead) throws -> [SignedRosterEntry] {
            var ended = branch
            let lives = Incarnations(zone: 9, scope: 9)
            try ended.append(
                VectorZone.opening(
                    zone.scope, owner: ann, following: ended.roster, incarnations: lives, abandoned: head
                ).entry, by: ann)
            return ended.entries
        }
        let head = RosterChange.AbandonedHead(sequence: main.roster.sequence, hash: main.roster.head)
        logs.add("ended", try ending(head))
        logs.add("endedElsewhere", try ending(.init(sequence: 99, hash: .zero)))

        var forged = zone.entries
        forged[5] = SignedRosterEntry(bytes: forged[5].bytes, signature: forged[4].signature)
        logs.add("forged", forged)

        // Bob's next keys, and some that pass for them.
        for (name, seed) in [("renewed", 13), ("stolen", 14)] as [(String, UInt8)] {
            var renewed = zone
            let next = try VectorPerson(seed, after: bob, time: 0)
            try renewed.append(by: bob, [next.newGeneration])
            logs.add(name, renewed.entries)
        }
    }

    func generate(into builder: inout VectorBuilder) throws {
        let shared: [String: JSON] = ["scope": .scope(main.scope), "logs": logs.json]
        try builder.group("Roster", shared: shared) { group in
            following(&group)
            forking(&group)
            enrolled(&group)
            ownKeys(&group)
            ending(&group)
        }
    }

    // MARK: Steps

    /// What a server answers that has the log and tells all of it from a number on.
    /// - Parameters:
    ///   - count: no more entries than these.
    ///   - knows: how many entries the device has afterwards.
    private func tail(
        _ log: String, from first: Int = 0, count: Int? = nil, _ verdict: String, knows: Int, _ more: Step = [:]
    ) -> JSON {
        let entries = logs[log]
        let page = count ?? entries.count - first
        let step: Step = [
            "moreComing": .bool(first + page < entries.count), "headSequence": .number(entries.count - 1),
            "head": .hex(entries.last.map { RosterEntry.hash($0.bytes) } ?? .zero), "verdict": .string(verdict),
            "knows": .number(knows),
        ]
        return .object(step.merging(logs.page(log, from: first, count: page)) { $1 }.merging(more) { $1 })
    }

    private func story(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, _ isValid: Bool, seeds: [UInt8] = [3],
        with more: Step = [:], _ steps: [JSON]
    ) {
        let fields: [String: JSON] = [
            "seeds": .array(seeds.map { .hex([UInt8](repeating: $0, count: 32)) }), "steps": .array(steps),
        ].merging(more) { $1 }
        if isValid {
            group.valid(comment, fields, flag: "Rule")
        } else {
            group.invalid(comment, fields, flag: "Rule")
        }
    }

    // MARK: Tests

    private func following(_ group: inout VectorBuilder.GroupBuilder) {
        let whole = main.entries.count
        story(
            &group, "the whole log at once, and nothing new after that", true,
            [
                tail("main", "accepted", knows: whole), tail("main", from: whole, "accepted", knows: whole),
            ])
        story(
            &group, "the log in pages", true,
            [
                tail("main", count: 2, "accepted", knows: 2), tail("main", from: 2, count: 1, "accepted", knows: 3),
                tail("main", from: 3, "accepted", knows: whole),
            ])
        story(&group, "no log at all", false, [tail("main", from: whole, "unknownScope", knows: 0)])
        story(
            &group, "an entry whose signature is another's", false,
            [
                tail("main", count: 3, "accepted", knows: 3), tail("forged", from: 3, "invalid", knows: 3),
                tail("main", from: 3, "accepted", knows: whole),
            ])
        story(
            &group, "entries left out", false,
            [
                tail("main", count: 3, "accepted", knows: 3), tail("main", from: 4, "forked", knows: 3),
            ])
        story(
            &group, "entries that are known already, and were not asked for", false,
            [
                tail("main", count: 3, "accepted", knows: 3), tail("main", from: 1, "endless", knows: 3),
            ])
        story(
            &group, "more is to come, and nothing comes", false,
            [
                tail("main", count: 3, "accepted", knows: 3), tail("main", from: 3, count: 0, "endless", knows: 3),
            ])
        story(
            &group, "it is not said where the log ends", false,
            [
                tail("main", count: 3, "accepted", knows: 3),
                tail("main", from: 3, "unknownEnd", knows: 3, ["head": .hex([UInt8]())]),
            ])
        // A server that was restored from a backup, or says so.
        let shorter: Step = ["headSequence": .number(3), "head": .hex(main.roster.hashes[3])]
        story(
            &group, "a roster shorter than one seen, given back, and short again", false,
            [
                tail("main", "accepted", knows: whole), tail("main", from: whole, "mended", knows: whole, shorter),
                tail("main", from: whole, "shortened", knows: whole, shorter),
            ])
    }

    private func forking(_ group: inout VectorBuilder.GroupBuilder) {
        let whole = main.entries.count
        let known = tail("main", "accepted", knows: whole)
        story(
            &group, "another log of the same length", false,
            [
                known, tail("branch", from: whole, "forked", knows: whole, ["whole": .string("branch")]),
            ])
        story(
            &group, "a longer log that parts before", false,
            [
                known, tail("longer", from: whole, "forked", knows: whole, ["whole": .string("longer")]),
            ])
        story(
            &group, "a shorter log that ends in another entry", false,
            [
                known,
                tail(
                    "branch", from: whole - 1, count: 0, "forked", knows: whole,
                    [
                        "moreComing": .bool(false), "headSequence": .number(4),
                        "head": .hex(RosterEntry.hash(logs["branch"][4].bytes)), "whole": .string("branch"),
                    ]),
            ])
        story(
            &group, "the owner has ended the fork, and given this head up", true,
            [
                known,
                tail("ended", from: whole, "succeeded", knows: logs["ended"].count, ["whole": .string("ended")]),
                tail("ended", from: logs["ended"].count, "accepted", knows: logs["ended"].count),
            ])
        story(
            &group, "the owner has ended another fork", false,
            [
                known,
                tail("endedElsewhere", from: whole, "forked", knows: whole, ["whole": .string("endedElsewhere")]),
            ])
        let early = tail("main", count: whole - 1, "accepted", knows: whole - 1)
        story(
            &group, "the fork is ended further on, and the entries up to there come along", true,
            [
                early,
                tail(
                    "ended", from: whole - 1, "succeeded", knows: logs["ended"].count,
                    ["whole": .string("ended"), "abandoned": .object(logs.page("main", from: whole - 1))]),
            ])
        story(
            &group, "the fork is ended further on, and nothing comes along", false,
            [
                early, tail("ended", from: whole - 1, "forked", knows: whole - 1, ["whole": .string("ended")]),
            ])
        story(
            &group, "the fork is ended in a log that does not hold", false,
            [
                known, tail("ended", from: whole, "forked", knows: whole, ["whole": .string("forged")]),
            ])
    }

    private func enrolled(_ group: inout VectorBuilder.GroupBuilder) {
        let whole = main.entries.count
        let floor: Step = [
            "floor": .object(["sequence": .number(main.roster.sequence), "hash": .hex(main.roster.head)])
        ]
        story(
            &group, "a new device, and a roster as far as the enrolling one had seen it", true, with: floor,
            [
                tail("main", count: 3, "accepted", knows: 3), tail("main", from: 3, "accepted", knows: whole),
            ])
        story(
            &group, "a new device, and a roster that ends before what the enrolling one had seen", false, with: floor,
            [
                tail(
                    "main", count: whole - 1, "shortened", knows: 0,
                    [
                        "moreComing": .bool(false), "headSequence": .number(whole - 2),
                        "head": .hex(main.roster.hashes[whole - 2]),
                    ])
            ])
        story(
            &group, "a new device, and a roster that parts before what the enrolling one had seen", false, with: floor,
            [
                tail("longer", "forked", knows: 0)
            ])
        story(
            &group, "a new device, and a fork that was ended since", true, with: floor,
            [
                tail("ended", "accepted", knows: logs["ended"].count)
            ])
    }

    private func ownKeys(_ group: inout VectorBuilder.GroupBuilder) {
        let whole = main.entries.count
        story(
            &group, "a device with the account's newer keys, of which the roster has not heard", true, seeds: [3, 13],
            [
                tail("main", "accepted", knows: whole)
            ])
        story(
            &group, "a device with the newer keys, and a roster that has them", true, seeds: [3, 13],
            [
                tail("renewed", "accepted", knows: whole + 1)
            ])
        story(
            &group, "a device that was left behind: another one has made new keys", false,
            [
                tail("main", "accepted", knows: whole), tail("renewed", from: whole, "keysReplaced", knows: whole),
            ])
        story(
            &group, "keys in the account's name that none of its devices has made", false, seeds: [3, 13],
            [
                tail("stolen", "foreignKeys", knows: 0)
            ])
    }

    private func ending(_ group: inout VectorBuilder.GroupBuilder) {
        let whole = main.entries.count
        let known = tail("main", "accepted", knows: whole)
        func end(_ log: String, giving abandons: Step = [:], _ verdict: String) -> JSON {
            .object(logs.page(log).merging(["abandons": .object(abandons), "verdict": .string(verdict)]) { $1 })
        }
        func head(_ log: String) -> Step {
            let entries = logs[log]
            return [
                "sequence": .number(entries.count - 1),
                "hash": .hex(entries.last.map { RosterEntry.hash($0.bytes) } ?? .zero),
            ]
        }
        story(&group, "the owner gives its own branch up", true, seeds: [1], [known, end("longer", "endedOwn")])
        story(
            &group, "the owner gives a branch up that only others know", true, seeds: [1],
            [
                known, end("main", giving: head("longer"), "ended"),
            ])
        story(&group, "there is no fork to end", false, seeds: [1], [known, end("main", "notForked")])
        story(
            &group, "the head that is to be given up is in the log that stays", false, seeds: [1],
            [
                known, end("longer", giving: head("longer"), "notAbandonable"),
            ])
        story(
            &group, "another branch was verified here than the one to be given up", false, seeds: [1],
            [
                known, end("longer", giving: ["sequence": .number(99), "hash": .hex(Digest.zero)], "yetAnotherBranch"),
            ])
    }
}
