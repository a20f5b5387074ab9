import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

enum IdentityVectors: Construction {
    static let name = "identity"
    static let algorithm = "Account seeds, identities, self-certifying names"
    static let header = [
        "Derivation: `seed` and `container` give every key, the user record name and, with `time`, the signed statement of generation 0.",
        "Chain: `chain` (generations from 0) verifies in `container` and names `userRecordName`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let seed = [UInt8](repeating: 1, count: 32)
        try builder.group("Derivation") { group in
            for container in ["com.example.notes", "com.example.other"] {
                let person = try VectorPerson(1, container: container)
                group.valid(
                    container,
                    [
                        "seed": .hex(seed), "container": .string(container), "time": .number(VectorZone.time),
                        "signingKey": .hex(person.keys.signingKey.verificationKey.bytes), "grantSeed": .hex(person.keys.grantSeed),
                        "grantKey": .hex(person.keys.grantKey), "userRecordName": .string(person.user.recordName),
                        "identity": .hex(person.identity.signed[0].bytes), "signature": .hex(person.identity.signed[0].signature),
                        "loginKey": .hex(try person.seed.loginKey().verificationKey.bytes), "storageKey": .hex(person.seed.storageKey()),
                    ])
            }
        }
        let first = try VectorPerson(1)
        let second = try VectorPerson(2)
        let identity = Identity(
            container: VectorZone.container, generation: 1, signingKey: second.keys.signingKey.verificationKey,
            grantKey: second.keys.grantKey, time: VectorZone.time,
            previous: Hash.digest(.identityHash, first.identity.signed[0].bytes))
        let bytes = identity.canonicalBytes()
        let message = Identity.signedBytes(bytes)
        let good = first.identity.signed[0]
        let next = SignedIdentity(
            bytes: bytes, signature: second.keys.signingKey.sign(message), previousSignature: first.keys.signingKey.sign(message))
        func chain(_ links: [SignedIdentity]) -> JSON {
            .array(links.map { .object(["identity": .hex($0.bytes), "signature": .hex($0.signature), "previousSignature": .hex($0.previousSignature)]) })
        }
        try builder.group("Chain") { group in
            let fields: [String: JSON] = ["container": .string(VectorZone.container), "userRecordName": .string(first.user.recordName)]
            group.valid("generation 0", fields.merging(["chain": chain([good])]) { $1 })
            group.valid("two generations", fields.merging(["chain": chain([good, next])]) { $1 })
            group.altered("nothing", ["chain": chain([])])
            group.altered("without generation 0", ["chain": chain([next])])
            group.altered("a generation twice", ["chain": chain([good, good])])
            group.altered("after another's generation 0", ["chain": chain([second.identity.signed[0], next])])
            group.altered("another container", ["container": .string("com.example.other")])
            group.altered("not signed by the generation before", ["chain": chain([good, SignedIdentity(bytes: bytes, signature: next.signature)])])
            group.altered(
                "not signed by itself",
                ["chain": chain([good, SignedIdentity(bytes: bytes, signature: next.previousSignature, previousSignature: next.previousSignature)])])
            group.altered(
                "generation 0 with a signature of one before",
                ["chain": chain([SignedIdentity(bytes: good.bytes, signature: good.signature, previousSignature: good.signature)])])
            var altered = good.bytes
            altered[altered.count - 40] ^= 1
            group.altered("an altered byte", ["chain": chain([SignedIdentity(bytes: altered, signature: good.signature)])])
            group.altered("a trailing byte", ["chain": chain([SignedIdentity(bytes: good.bytes + [0], signature: good.signature)])])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let container = try test.string("container")
        if type == "Chain" {
            let links = try test.objects("chain").map {
                SignedIdentity(
                    bytes: try $0.bytes("identity"), signature: try $0.bytes("signature"), previousSignature: try $0.bytes("previousSignature"))
            }
            let chain = try IdentityChain(verifying: links, container: container)
            return try test.expect("userRecordName", .string(chain.userID.recordName))
        }
        let seed = try AccountSeed(test.secret("seed"))
        let keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
        let identity = try keys.firstIdentity(time: test.number("time"))
        try test.expect("signingKey", .hex(keys.signingKey.verificationKey.bytes))
        try test.expect("grantSeed", .hex(keys.grantSeed))
        try test.expect("grantKey", .hex(keys.grantKey))
        try test.expect("userRecordName", .string(identity.userID.recordName))
        try test.expect("identity", .hex(identity.signed[0].bytes))
        try test.expect("signature", .hex(identity.signed[0].signature))
        try test.expect("loginKey", .hex(try seed.loginKey().verificationKey.bytes))
        try test.expect("storageKey", .hex(seed.storageKey()))
    }
}

enum RosterVectors: Construction {
    static let name = "roster"
    static let algorithm = "Scopes, roster entries and rules"
    static let header = [
        "ScopeID: `scope` gives `scopeID`.",
        "Replay: `entries` of the group, then the test's `next`, replay in `scope`; valid tests end at `head`. In an invalid test the last entry of `next` is the one that is refused.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone(isShared: false)
        try builder.group("ScopeID") { group in
            let share = Scope(
                container: zone.scope.container, environment: .development, owner: zone.scope.owner, zoneName: "Notes", shareRecordName: "Share-1")
            for (comment, scope) in [("a zone", zone.scope), ("a hierarchical share", share)] {
                group.valid(comment, ["scope": .scope(scope), "scopeID": .hex(scope.id)])
            }
        }
        let alice = try VectorPerson(2)
        let bob = try VectorPerson(3)
        let owner = zone.owner
        func replay(_ name: String, from base: VectorZone, _ body: (inout Cases) throws -> Void) throws {
            try builder.group("Replay", shared: ["scope": .scope(base.scope), "entries": .entries(base.entries), "state": .string(name)]) { group in
                var cases = Cases(base: base, group: group)
                try body(&cases)
                group = cases.group
            }
        }
        // Opening
        try builder.group("Replay", shared: ["scope": .scope(zone.scope), "state": .string("no entry yet")]) { group in
            let good = VectorZone.opening(zone.scope, owner: owner, following: nil).entry
            func next(_ entry: RosterEntry, by author: VectorPerson) -> [String: JSON] { ["next": .entries([author.sign(entry)])] }
            group.valid("the owner opens", next(good, by: owner).merging(["head": .hex(zone.roster.head)]) { $1 }, flag: "Rule")
            func altered(_ comment: String, by author: VectorPerson? = nil, _ change: (inout RosterEntry) -> Void) {
                var entry = good
                change(&entry)
                group.invalid(comment, next(entry, by: author ?? owner), flag: "Rule")
            }
            func opening(_ scope: Scope? = nil, _ zoneLife: UInt32 = 1, _ life: UInt32 = 1, root: String? = nil, owner person: VectorPerson? = nil) -> RosterChange {
                .open(
                    .init(
                        scope: scope ?? zone.scope, incarnations: Incarnations(zone: zoneLife, scope: life), rootRecordName: root,
                        owner: (person ?? owner).identity))
            }
            altered("signed by somebody else", by: alice) { _ in }
            altered("authored by somebody else", by: alice) { $0.author = alice.user }
            altered("with somebody else's identity", by: alice) { $0.changes = [opening(owner: alice)] }
            altered("another scope id") { $0.scopeID = .zero }
            altered("another scope") { $0.changes = [opening(Scope(container: VectorZone.container, environment: .production, owner: owner.user, zoneName: "Other"))] }
            altered("incarnation 2") { $0.changes = [opening(nil, 2, 2)] }
            altered("incarnations that differ in a zone") { $0.changes = [opening(nil, 2, 1)] }
            altered("a root record in a zone") { $0.changes = [opening(root: "Root")] }
            altered("no epoch") { $0.epoch = nil }
            altered("nobody covered") { $0.epoch = EpochOpening(number: 0, keyID: good.epoch?.keyID ?? .zero, previousKey: [], coverage: []) }
            altered("a predecessor") { $0.previous = .zero; $0.sequence = 1 }
            altered("a second change") { $0.changes.append(.leave) }
        }
        // Sharing and inviting
        try replay("opened", from: zone) { cases in
            try cases.obeys("the owner shares", by: owner, [.settings])
            cases.breaks("a stranger shares", by: alice, [.settings])
            cases.breaks("an invitation before sharing", by: owner, [.invite(try zone.invitation(1))])
            cases.breaks("no change and no epoch", by: owner, [])
            try cases.obeys("the owner rotates", by: owner, [], epoch: zone.epoch())
            try cases.obeys("the owner closes", by: owner, [.close])
            cases.breaks("the owner leaves", by: owner, [.leave])
        }
        let shared = try VectorZone()
        let invitation = try shared.invitation(1)
        try replay("shared", from: shared) { cases in
            try cases.obeys("the owner invites a placeholder", by: owner, [.invite(invitation)])
            try cases.obeys("the owner invites a known person", by: owner, [.invite(try shared.invitation(1, .readOnly, for: alice))])
            cases.breaks("shared again", by: owner, [.settings])
            cases.breaks("a stranger invites", by: alice, [.invite(invitation)])
            cases.breaks("the same invitation twice", by: owner, [.invite(invitation), .invite(invitation)])
            cases.breaks("the owner invited", by: owner, [.invite(try shared.invitation(1, .readOnly, for: owner))])
            cases.breaks("an unknown invitation revoked", by: owner, [.revoke(invitation.id)], epoch: shared.epoch())
            cases.breaks("a gap in the log", by: owner, [.invite(invitation)]) { $0.sequence += 1 }
            cases.breaks("a fork", by: owner, [.invite(invitation)]) { $0.previous = .zero }
            cases.breaks("another scope's entry", by: owner, [.invite(invitation)]) { $0.scopeID = .zero }
            cases.breaks("signed by somebody else", by: owner, [.invite(invitation)], signedBy: alice)
            for tag in [7, 10, 11, 12] as [UInt8] { cases.reserved("reserved change \(tag)", tag: tag, by: owner) }
        }
        // Accepting and revoking
        var invited = shared
        try invited.append(by: owner, [.invite(invitation)])
        try invited.append(by: owner, [.invite(try shared.invitation(2, .readWrite, for: bob))])
        try replay("a placeholder (01…) and Bob (02…) invited", from: invited) { cases in
            let accepted = try invited.acceptance(1, by: alice)
            let revoked = invited.epoch(without: [.invitation(invitation.id)])
            try cases.obeys("whoever has the URL accepts", by: alice, [accepted])
            try cases.obeys("the known invitee accepts", by: bob, [try invited.acceptance(2, by: bob)])
            cases.breaks("somebody else takes the known invitee's seat", by: alice, [try invited.acceptance(2, by: alice)])
            cases.breaks("acceptance authored by another", by: bob, [accepted])
            cases.breaks("acceptance signed by another", by: alice, [accepted], signedBy: bob)
            cases.breaks("acceptance at another head", by: alice, [try invited.acceptance(1, by: alice, head: .zero)])
            cases.breaks("acceptance of another scope", by: alice, [try invited.acceptance(1, by: alice, scopeID: .zero)])
            cases.breaks("acceptance of no invitation", by: alice, [try invited.acceptance(3, by: alice)])
            cases.breaks("acceptance with an epoch", by: alice, [accepted], epoch: invited.epoch())
            cases.breaks("acceptance with a second change", by: alice, [accepted, .leave])
            try cases.obeys("the owner revokes, in a new epoch", by: owner, [.revoke(invitation.id)], epoch: revoked)
            cases.breaks("revoked without an epoch", by: owner, [.revoke(invitation.id)])
            cases.breaks("revoked, but covered", by: owner, [.revoke(invitation.id)], epoch: invited.epoch())
            cases.breaks("an invitation id used before", by: owner, [.invite(invitation)])
            cases.breaks("a known person invited twice", by: owner, [.invite(try shared.invitation(3, .readOnly, for: bob))])
        }
        // Members
        var joined = shared
        try joined.join(alice, 1)
        try joined.join(bob, 2, .readOnly)
        let withoutAlice = joined.epoch(without: [.member(alice.user)])
        try replay("Alice may write, Bob may read", from: joined) { cases in
            try cases.obeys("a permission raised", by: owner, [.setPermission(bob.user, .readWrite)])
            try cases.obeys("a permission lowered, in a new epoch", by: owner, [.setPermission(alice.user, .readOnly)], epoch: joined.epoch())
            try cases.obeys("a member removed, in a new epoch", by: owner, [.remove(alice.user)], epoch: withoutAlice)
            try cases.obeys("a member leaves", by: alice, [.leave])
            cases.breaks("a permission lowered without an epoch", by: owner, [.setPermission(alice.user, .readOnly)])
            cases.breaks("a permission that stays", by: owner, [.setPermission(alice.user, .readWrite)])
            cases.breaks("one's own permission raised", by: bob, [.setPermission(bob.user, .readWrite)])
            cases.breaks("the owner's permission lowered", by: owner, [.setPermission(owner.user, .readOnly)], epoch: joined.epoch())
            cases.breaks("a member removed without an epoch", by: owner, [.remove(alice.user)])
            cases.breaks("a member removed, but covered", by: owner, [.remove(alice.user)], epoch: joined.epoch())
            cases.breaks("a member removes another", by: bob, [.remove(alice.user)], epoch: withoutAlice)
            cases.breaks("the owner removed", by: owner, [.remove(owner.user)], epoch: joined.epoch())
            cases.breaks("a member invites", by: alice, [.invite(try joined.invitation(3))])
            cases.breaks("a member closes", by: alice, [.close])
            cases.breaks("a read-only member rotates", by: bob, [], epoch: joined.epoch())
            cases.breaks("a member rotates while nothing makes it due", by: alice, [], epoch: joined.epoch())
            cases.breaks("a rotation that leaves a member out", by: owner, [], epoch: withoutAlice)
            cases.breaks("an invitation used before", by: owner, [.invite(invitation)])
            cases.breaks("the opening again", by: owner, []) { $0.changes = [.open(.init(scope: zone.scope, incarnations: Incarnations(zone: 2, scope: 2), owner: owner.identity))]; $0.epoch = nil }
            let good = joined.epoch()
            for (comment, epoch) in [
                ("an epoch skipped", EpochOpening(number: 2, keyID: good.keyID, previousKey: good.previousKey, coverage: good.coverage)),
                ("the key before kept", EpochOpening(number: 1, keyID: joined.roster.currentEpoch.keyID, previousKey: good.previousKey, coverage: good.coverage)),
                ("no previous key", EpochOpening(number: 1, keyID: good.keyID, previousKey: [], coverage: good.coverage)),
                ("coverage out of order", EpochOpening(number: 1, keyID: good.keyID, previousKey: good.previousKey, coverage: good.coverage.reversed())),
            ] { cases.breaks(comment, by: owner, [], epoch: epoch) }
        }
        // Rotation due
        var left = joined
        try left.append(by: bob, [.leave])
        try replay("Bob has left", from: left) { cases in
            try cases.obeys("a member who may write rotates, since it is due", by: alice, [], epoch: left.epoch())
            cases.breaks("the rotation that is due with another change", by: alice, [.leave], epoch: left.epoch())
        }
        // Closed
        var closed = joined
        try closed.append(by: owner, [.close])
        try replay("closed", from: closed) { cases in
            let reopening = VectorZone.opening(zone.scope, owner: owner, following: closed.roster).entry
            try cases.obeys("the owner opens the next life", reopening, by: owner)
            cases.breaks("an invitation into a closed scope", by: owner, [.invite(try joined.invitation(3))])
            cases.breaks("closed again", by: owner, [.close])
            cases.breaks("the first life again", by: owner, []) {
                $0.changes = [.open(.init(scope: zone.scope, incarnations: Incarnations(zone: 1, scope: 1), owner: owner.identity))]
                $0.epoch = reopening.epoch
            }
        }
    }

    /// Tests that all continue one log.
    struct Cases {
        let base: VectorZone
        var group: VectorBuilder.GroupBuilder

        mutating func obeys(_ comment: String, _ entry: RosterEntry, by author: VectorPerson) throws {
            var roster = base.roster
            let signed = author.sign(entry)
            try roster.append(signed)
            group.valid(comment, ["next": .entries([signed]), "head": .hex(roster.head)], flag: "Rule")
        }

        mutating func obeys(_ comment: String, by author: VectorPerson, _ changes: [RosterChange], epoch: EpochOpening? = nil) throws {
            try obeys(comment, base.entry(by: author, changes, epoch: epoch), by: author)
        }

        mutating func breaks(
            _ comment: String, by author: VectorPerson, _ changes: [RosterChange], epoch: EpochOpening? = nil,
            signedBy signer: VectorPerson? = nil, _ change: (inout RosterEntry) -> Void = { _ in }
        ) {
            var entry = base.entry(by: author, changes, epoch: epoch)
            change(&entry)
            group.invalid(comment, ["next": .entries([(signer ?? author).sign(entry)])], flag: "Rule")
        }

        mutating func reserved(_ comment: String, tag: UInt8, by author: VectorPerson) {
            var bytes = base.entry(by: author, [.leave]).canonicalBytes()
            bytes[bytes.count - 2] = tag
            let signature = author.keys.signingKey.sign(RosterEntry.signedBytes(bytes))
            group.invalid(comment, ["next": .entries([SignedRosterEntry(bytes: bytes, signature: signature)])], flag: "Rule")
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "ScopeID" { return try test.expect("scopeID", .hex(try test.scope().id)) }
        let roster = try shared.roster(adding: test.entries("next"))
        try test.expect("head", .hex(roster.head))
    }
}

enum AcceptanceVectors: Construction {
    static let name = "acceptance"
    static let algorithm = "Acceptance signatures"
    static let header = ["The invitation key that `linkSecret` gives in `scopeID` for `invitationID` signs an acceptance of `acceptor` (an identity of generation 0, its `identitySignature`) at `head`."]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        let alice = try VectorPerson(2)
        let keys = try zone.invitationKeys(1)
        let message = RosterChange.Acceptance.signedBytes(scopeID: zone.scope.id, invitationID: keys.id, acceptor: alice.identity, head: zone.roster.head)
        try builder.group("Acceptance") { group in
            group.valid(
                "an acceptance",
                [
                    "linkSecret": .hex(VectorZone.link), "container": .string(VectorZone.container), "scopeID": .hex(zone.scope.id),
                    "invitationID": .hex(keys.id), "acceptor": .hex(alice.identity.signed[0].bytes),
                    "identitySignature": .hex(alice.identity.signed[0].signature), "head": .hex(zone.roster.head),
                    "signature": .hex(keys.signingKey.sign(message)),
                ])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another invitation", ["invitationID": .hex(ID16.zero)])
            group.altered("another head", ["head": .hex(Digest.zero)])
            group.altered("another link secret", ["linkSecret": .hex(Digest.zero)])
            let bob = try VectorPerson(3).identity.signed[0]
            group.altered("another acceptor", ["acceptor": .hex(bob.bytes), "identitySignature": .hex(bob.signature)])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let acceptor = try IdentityChain(
            verifying: [SignedIdentity(bytes: test.bytes("acceptor"), signature: test.bytes("identitySignature"))],
            container: test.string("container"))
        let keys = try LinkSecret(test.secret("linkSecret")).invitationKeys(scopeID: test.digest("scopeID"), invitationID: test.id("invitationID"))
        try keys.signingKey.verificationKey.verify(
            test.bytes("signature"),
            over: RosterChange.Acceptance.signedBytes(
                scopeID: test.digest("scopeID"), invitationID: test.id("invitationID"), acceptor: acceptor, head: test.digest("head")))
    }
}
