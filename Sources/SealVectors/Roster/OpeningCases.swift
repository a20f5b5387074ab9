import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// The rules "log", "open", "closed" and "close": the lives of a scope.
extension RosterRuleVectors {
    func opening() throws {
        try openings(of: try VectorZone(isShared: false), "a zone, no entry yet") { cases in
            cases.refused("signed by somebody else", signedBy: alice) { _ in }
            cases.refused("authored by somebody else", signedBy: alice) { $0.author = alice.user }
            cases.refused("with somebody else's identity", signedBy: alice) {
                $0.changes = [cases.change(owner: alice)]
            }
            cases.refused("another scope id") { $0.scopeID = .zero }
            cases.refused("another scope") { $0.changes = [cases.change(zoneName: "Other")] }
            cases.refused("incarnation 2") { $0.changes = [cases.change(2, 2)] }
            cases.refused("incarnation 0") { $0.changes = [cases.change(0, 0)] }
            cases.refused("incarnations that differ in a zone") { $0.changes = [cases.change(2, 1)] }
            cases.refused("a root record in a zone") { $0.changes = [cases.change(root: "Root")] }
            try cases.obeys("encrypted per zone") { $0.changes = [cases.change(encryption: .perZone)] }
            cases.undecodable("an encryption scope that there is not", in: cases.change(encryption: .perZone), scope: 2)
            cases.refused("no epoch") { $0.epoch = nil }
            cases.refused("an epoch that is not the first") { entry in
                entry.epoch = entry.epoch.map {
                    EpochOpening(
                        number: 1, keyID: $0.keyID, checkpoint: Checkpoint.none,
                        previousKey: [UInt8](repeating: 1, count: EpochOpening.previousKeyBytes),
                        coverage: $0.coverage)
                }
            }
            cases.refused("nobody covered") { entry in
                entry.epoch = entry.epoch.map {
                    EpochOpening(number: 0, keyID: $0.keyID, checkpoint: Checkpoint.none, previousKey: [], coverage: [])
                }
            }
            cases.refused("somebody else covered too") { entry in
                entry.epoch = entry.epoch.map {
                    let other = EpochOpening.Coverage(subject: .member(alice.user), grantHash: .zero)
                    return EpochOpening(
                        number: 0, keyID: $0.keyID, checkpoint: Checkpoint.none, previousKey: [],
                        coverage: ($0.coverage + [other]).sorted { $0.subject < $1.subject })
                }
            }
            cases.refused("a sequence above 0") { $0.sequence = 1 }
            cases.refused("a predecessor") { $0.previous = GrantHash.of([1]) }
            cases.refused("another change beside it") { $0.changes.append(cases.settings) }
        }
        try openings(of: try VectorZone(isShared: false, share: "Share-1"), "a hierarchical share, no entry yet") {
            cases in
            cases.refused("no root record") { $0.changes = [cases.change()] }
            cases.refused("encrypted per zone") { $0.changes = [cases.change(root: "Root", encryption: .perZone)] }
        }
    }

    /// Entry 0 of a scope: the one that is right, and what can be wrong with it.
    private func openings(of zone: VectorZone, _ state: String, _ body: (OpeningCases) throws -> Void) throws {
        let shared: [String: JSON] = ["scope": .scope(zone.scope), "state": .string(state)]
        try builder.group("Replay", shared: shared) { group in
            let good = try RosterEntry(canonicalBytes: zone.entries[0].bytes, container: nil)
            group.valid(
                "the owner opens", ["next": .entries(zone.entries), "head": .hex(zone.roster.head)], flag: "Rule")
            let cases = OpeningCases(scope: zone.scope, owner: owner, good: good, group: group)
            try body(cases)
            group = cases.group
        }
    }

    private final class OpeningCases {
        let scope: Scope
        let owner: VectorPerson
        let good: RosterEntry
        var group: VectorBuilder.GroupBuilder

        init(scope: Scope, owner: VectorPerson, good: RosterEntry, group: VectorBuilder.GroupBuilder) {
            self.scope = scope
            self.owner = owner
            self.good = good
            self.group = group
        }

        func change(
            _ zoneLife: UInt32 = 1, _ life: UInt32 = 1, root: String? = nil, zoneName: String? = nil,
            owner person: VectorPerson? = nil,
            encryption: EncryptionScope = .perRecord
        ) -> RosterChange {
            let scope = Scope(
                container: scope.container, environment: scope.environment, owner: scope.owner,
                zoneName: zoneName ?? scope.zoneName,
                shareRecordName: scope.shareRecordName)
            return .open(
                .init(
                    scope: scope, incarnations: Incarnations(zone: zoneLife, scope: life), encryptionScope: encryption,
                    rootRecordName: root,
                    owner: (person ?? owner).identity))
        }

        let settings = RosterChange.settings(.init(linkID: .zero))

        func obeys(_ comment: String, _ change: (inout RosterEntry) -> Void) throws {
            var entry = good
            change(&entry)
            let signed = owner.sign(entry)
            let roster = try Roster(opening: signed, scope: scope)
            group.valid(comment, ["next": .entries([signed]), "head": .hex(roster.head)], flag: "Rule")
        }

        /// An entry with that change, whose byte for the encryption scope is another one.
        func undecodable(_ comment: String, in change: RosterChange, scope byte: UInt8) {
            var entry = good
            entry.changes = [change]
            var bytes = entry.canonicalBytes()
            // Where the encodings of the two scopes differ.
            let other = good.canonicalBytes()
            guard let index = zip(bytes, other).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset
            else { return }
            bytes[index] = byte
            let signed = SignedRosterEntry(
                bytes: bytes, signature: owner.keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
            group.invalid(comment, ["next": .entries([signed])], flag: "Rule")
        }

        func refused(_ comment: String, signedBy signer: VectorPerson? = nil, _ change: (inout RosterEntry) -> Void) {
            var entry = good
            change(&entry)
            group.invalid(comment, ["next": .entries([(signer ?? owner).sign(entry)])], flag: "Rule")
        }
    }

    // MARK: Later lives

    func lives() throws {
        var base = try VectorZone()
        try base.append(by: owner, [.invite(try base.invitation(1))])
        try base.append(by: alice, [try base.acceptance(1, by: alice)])
        let open = base
        try replay("Alice may write", from: open) { cases in
            try cases.obeys("the owner closes", by: owner, [.close])
            cases.breaks("a member closes", by: alice, [.close])
            cases.breaks("closed with another change", by: owner, [.close, .invite(try open.invitation(3))])
            cases.breaks("closed with an epoch", by: owner, [.close], epoch: open.epoch(covering: []))
            let again = VectorZone.opening(open.scope, owner: owner, following: open.roster).entry
            cases.breaks("opened without having been closed", [owner.sign(again)])
        }
        var closed = open
        try closed.append(by: owner, [.close])
        try replay("closed", from: closed) { cases in
            let good = VectorZone.opening(closed.scope, owner: owner, following: closed.roster).entry
            try cases.obeys("the owner opens the next life", [owner.sign(good)])
            try cases.obeys(
                "the next life is encrypted per zone",
                [
                    owner.sign(
                        VectorZone.opening(closed.scope, owner: owner, following: closed.roster, encryption: .perZone)
                            .entry)
                ])
            cases.breaks("an invitation into a closed scope", by: owner, [.invite(try open.invitation(3))])
            cases.breaks("a former member leaves", by: alice, [.leave])
            cases.breaks("closed again", by: owner, [.close])
            let byAlice = VectorZone.opening(closed.scope, owner: alice, following: closed.roster).entry
            cases.breaks("opened by a former member", [alice.sign(byAlice)])
            for (comment, life) in [("the same life again", UInt32(1)), ("a life left out", 3)] {
                let other = VectorZone.opening(
                    closed.scope, owner: owner, following: closed.roster,
                    incarnations: Incarnations(zone: life, scope: life)
                ).entry
                cases.breaks(comment, [owner.sign(other)])
            }
            var reopened = closed
            try reopened.append(good, by: owner)
            try reopened.append(by: owner, [try reopened.settings()])
            let reused = owner.sign(reopened.entry(by: owner, [.invite(try reopened.invitation(1))]))
            cases.breaks(
                "an invitation id of the life before",
                [owner.sign(good), reopened.entries[reopened.entries.count - 1], reused])
        }
        var blocking = open
        try blocking.append(by: owner, [.block(bob.user)], rotating: true)
        try blocking.append(by: owner, [.close])
        try blocking.append(VectorZone.opening(open.scope, owner: owner, following: blocking.roster).entry, by: owner)
        try blocking.append(by: owner, [try blocking.settings()])
        try replay("opened again; in the life before, Bob was blocked", from: blocking) { cases in
            try cases.obeys("who was blocked is invited", by: owner, [.invite(try blocking.invitation(7, for: bob))])
        }
        // A share's zone may be made again in the meantime, never an earlier one.
        var share = try VectorZone(isShared: false, share: "Share-1")
        try share.append(by: owner, [.close])
        try replay("a hierarchical share, closed", from: share) { cases in
            func reopening(zone: UInt32, scope: UInt32 = 2) -> SignedRosterEntry {
                owner.sign(
                    VectorZone.opening(
                        share.scope, owner: owner, following: share.roster,
                        incarnations: Incarnations(zone: zone, scope: scope), root: "Root"
                    ).entry)
            }
            try cases.obeys("opened again in the same life of the zone", [reopening(zone: 1)])
            try cases.obeys("opened again in a later life of the zone", [reopening(zone: 3)])
            cases.breaks("opened in a zone that there never was", [reopening(zone: 0)])
        }
        var later = share
        try later.append(
            VectorZone.opening(
                share.scope, owner: owner, following: share.roster, incarnations: Incarnations(zone: 3, scope: 2),
                root: "Root"
            ).entry,
            by: owner)
        try later.append(by: owner, [.close])
        try replay("a hierarchical share, closed in the zone's third life", from: later) { cases in
            func reopening(zone: UInt32) -> SignedRosterEntry {
                owner.sign(
                    VectorZone.opening(
                        later.scope, owner: owner, following: later.roster,
                        incarnations: Incarnations(zone: zone, scope: 3), root: "Root"
                    ).entry)
            }
            try cases.obeys("opened again in that life", [reopening(zone: 3)])
            cases.breaks("opened again in the zone's life before", [reopening(zone: 2)])
        }
    }

    // MARK: Forks

    func forks() throws {
        let base = try VectorZone()
        var known = base
        try known.append(by: owner, [.invite(try base.invitation(1))])
        var other = base
        try other.append(by: owner, [.invite(try base.invitation(2))])
        let lost = RosterChange.AbandonedHead(sequence: known.roster.sequence, hash: known.roster.head)
        func opening(
            on log: VectorZone, life: UInt32, abandoning head: RosterChange.AbandonedHead?,
            by author: VectorPerson? = nil,
            encryption: EncryptionScope = .perRecord
        ) -> RosterEntry {
            VectorZone.opening(
                log.scope, owner: author ?? owner, following: log.roster,
                incarnations: Incarnations(zone: life, scope: life), abandoned: head,
                encryption: encryption
            ).entry
        }
        try replay("shared, and another branch of this log lost", from: base) { cases in
            try cases.obeys(
                "the owner gives the lost branch up", [owner.sign(opening(on: base, life: 2, abandoning: lost))])
            try cases.obeys(
                "with a life that leaves room for the lost ones",
                [owner.sign(opening(on: base, life: 9, abandoning: lost))])
            cases.breaks("in the same life", [owner.sign(opening(on: base, life: 1, abandoning: lost))])
            cases.breaks(
                "with another encryption scope",
                [owner.sign(opening(on: base, life: 2, abandoning: lost, encryption: .perZone))])
            let own = RosterChange.AbandonedHead(sequence: base.roster.sequence, hash: base.roster.head)
            var last = base
            try last.append(opening(on: base, life: .max, abandoning: lost), by: owner)
            let close = owner.sign(last.entry(by: owner, [.close]))
            try last.append(by: owner, [.close])
            cases.breaks(
                "a life after the last that there can be",
                [
                    last.entries[last.entries.count - 2], close,
                    owner.sign(opening(on: last, life: .max, abandoning: nil)),
                ])
            cases.breaks("giving up this very log", [owner.sign(opening(on: base, life: 2, abandoning: own))])
            cases.breaks("by somebody else", [alice.sign(opening(on: base, life: 2, abandoning: lost, by: alice))])
        }
        var ended = base
        try ended.append(opening(on: base, life: 2, abandoning: lost), by: owner)
        var longer = known
        try longer.append(by: owner, [.invite(try base.invitation(3))])
        let fields: [String: JSON] = [
            "scope": .scope(base.scope), "entries": .entries(base.entries), "state": .string("shared"),
        ]
        try builder.group("Fork", shared: fields) { group in
            func fork(_ comment: String, _ known: VectorZone, _ other: VectorZone) {
                func own(_ zone: VectorZone) -> JSON {
                    .entries([SignedRosterEntry](zone.entries.dropFirst(base.entries.count)))
                }
                group.valid(
                    comment,
                    ["known": own(known), "other": own(other), "succeeds": .bool(other.roster.succeeds(known.roster))],
                    flag: "Rule")
            }
            fork("the same log", known, known)
            fork("a log that goes on", known, longer)
            fork("a log that was cut", longer, known)
            fork("another branch", known, other)
            fork("another branch in which the owner gave this one up", known, ended)
            fork("another branch in which the owner gave an earlier head up", longer, ended)
            // Keys that were replaced before the branches part, or in the branch that is given up.
            let newOwner = try VectorPerson(9, after: owner)
            var renewed = base
            try renewed.append(by: owner, [newOwner.newGeneration], rotating: true)
            let renewedHead = RosterChange.AbandonedHead(sequence: renewed.roster.sequence, hash: renewed.roster.head)
            var stolen = base
            try stolen.append(opening(on: base, life: 2, abandoning: renewedHead), by: owner)
            fork("a branch given up with keys that the owner had replaced in it", renewed, stolen)
            var rightful = base
            try rightful.append(opening(on: base, life: 2, abandoning: renewedHead, by: newOwner), by: newOwner)
            fork("a branch given up with the keys that the owner had got in it", renewed, rightful)
            var again = base
            try again.append(by: owner, [.close])
            try again.append(VectorZone.opening(base.scope, owner: owner, following: again.roster).entry, by: owner)
            let secondLife = RosterChange.AbandonedHead(sequence: again.roster.sequence, hash: again.roster.head)
            var sameLife = base
            try sameLife.append(opening(on: base, life: 2, abandoning: secondLife), by: owner)
            fork("a branch given up for a life that it had", again, sameLife)
            var misnamed = base
            let elsewhere = RosterChange.AbandonedHead(sequence: lost.sequence + 1, hash: lost.hash)
            try misnamed.append(opening(on: base, life: 2, abandoning: elsewhere), by: owner)
            fork("another branch in which the owner gave this head up at another sequence", known, misnamed)
        }
    }
}
