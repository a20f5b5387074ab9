import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// The rules "settings", "invite", "revoke", "accept" and "renewal": the seats of a scope and who takes them.
extension RosterRuleVectors {
    func sharing() throws {
        let zone = try VectorZone(isShared: false)
        try replay("opened", from: zone) { cases in
            try cases.obeys("the owner shares", by: owner, [try zone.settings()])
            try cases.obeys("the owner shares with the public", by: owner, [try zone.settings(.readOnly)])
            cases.breaks("a stranger shares", by: alice, [try zone.settings()])
            cases.breaks("an invitation before sharing", by: owner, [.invite(try zone.invitation(1))])
            cases.breaks("no change and no epoch", by: owner, [])
            try cases.obeys("the owner rotates", by: owner, [], rotating: true)
            cases.breaks("the owner leaves", by: owner, [.leave])
        }
        let shared = try VectorZone()
        let invitation = try shared.invitation(1)
        try replay("shared", from: shared) { cases in
            try cases.obeys("the owner invites a placeholder", by: owner, [.invite(invitation)])
            try cases.obeys(
                "the owner invites a known person", by: owner,
                [.invite(try shared.invitation(1, .readOnly, for: alice))])
            try cases.obeys("an invitation under a new epoch", by: owner, [.invite(invitation)], rotating: true)
            try cases.obeys("another share-wide URL", by: owner, [try shared.settings(renewals: 1)])
            cases.breaks("settings that change nothing", by: owner, [try shared.settings()])
            cases.breaks("a stranger invites", by: alice, [.invite(invitation)])
            cases.breaks("the same invitation twice", by: owner, [.invite(invitation), .invite(invitation)])
            cases.breaks("the owner invited", by: owner, [.invite(try shared.invitation(1, .readOnly, for: owner))])
            cases.breaks("an unknown invitation revoked", by: owner, [.revoke(invitation.id)], rotating: true)
            cases.breaks(
                "another grant in the epoch than in the invitation", by: owner, [.invite(invitation)], rotating: true
            ) { entry in
                entry.changes = [.invite(invitation.with(grantHash: .zero))]
            }
            let weak = [1] + [UInt8](repeating: 0, count: 31)
            for (comment, changes) in [
                ("an invitation", [.invite(invitation)]), ("a public seat", [try shared.settings(.readOnly)]),
            ] as [(String, [RosterChange])] {
                let entry = shared.entry(by: owner, changes)
                cases.breaks(
                    "\(comment) with a signing key of small order",
                    [try shared.entry(entry, replacing: .signingKey, with: weak, by: owner)])
                cases.breaks(
                    "\(comment) with a grant key that cannot be sealed to",
                    [try shared.entry(entry, replacing: .grantKey, with: [0xFF, 0xFF], by: owner)])
            }
            let readers = [alice.user, bob.user].sorted().map { SealedAddress(reader: $0, sealed: [1]) }
            try cases.obeys("sealed addresses", by: owner, [.invite(invitation.with(addresses: readers))])
            cases.breaks(
                "sealed addresses out of order", by: owner, [.invite(invitation.with(addresses: readers.reversed()))])
            cases.breaks("a gap in the log", by: owner, [.invite(invitation)]) { $0.sequence += 1 }
            cases.breaks("a fork", by: owner, [.invite(invitation)]) { $0.previous = .zero }
            cases.breaks("another scope's entry", by: owner, [.invite(invitation)]) { $0.scopeID = .zero }
            cases.breaks("signed by somebody else", by: owner, [.invite(invitation)], signedBy: alice)
            cases.breaks("an unknown change", [shared.entryWithTag(14, by: owner)])
            cases.breaks("a trailing byte", [try shared.entryWithTrailingByte(by: owner)])
        }
    }

    func accepting() throws {
        let shared = try VectorZone()
        let invitation = try shared.invitation(1)
        var invited = shared
        try invited.append(by: owner, [.invite(invitation), .invite(try shared.invitation(2, .readWrite, for: bob))])
        try replay("a placeholder (01…) and Bob (02…) invited", from: invited) { cases in
            let accepted = try invited.acceptance(1, by: alice)
            try cases.obeys("whoever has the URL accepts", by: alice, [accepted])
            try cases.obeys("the known invitee accepts", by: bob, [try invited.acceptance(2, by: bob)])
            let newer = try VectorPerson(5, after: bob)
            try cases.obeys(
                "the known invitee accepts with newer keys", by: newer, [try invited.acceptance(2, by: newer)])
            cases.breaks(
                "somebody else takes the known invitee's seat", by: alice, [try invited.acceptance(2, by: alice)])
            cases.breaks("acceptance authored by another", by: bob, [accepted], signedBy: alice)
            cases.breaks("acceptance signed by another", by: alice, [accepted], signedBy: bob)
            cases.breaks("acceptance at another head", by: alice, [try invited.acceptance(1, by: alice, head: .zero)])
            cases.breaks(
                "acceptance of another scope", by: alice, [try invited.acceptance(1, by: alice, scopeID: .zero)])
            cases.breaks(
                "acceptance with another invitation's key", by: alice, [try invited.acceptance(1, by: alice, keyOf: 2)])
            cases.breaks("acceptance of no invitation", by: alice, [try invited.acceptance(3, by: alice)])
            cases.breaks("acceptance by a member", by: owner, [try invited.acceptance(1, by: owner)])
            let after: [GrantSubject] = [
                .member(owner.user), .member(alice.user), .invitation(try invited.invitationKeys(2).id),
            ]
            cases.breaks("acceptance with an epoch", by: alice, [accepted], epoch: invited.epoch(covering: after))
            cases.breaks("acceptance with a second change", by: alice, [accepted, .leave])
            cases.breaks("acceptance as the second change", by: owner, [.invite(try shared.invitation(3)), accepted])
            try cases.obeys("the owner revokes, in a new epoch", by: owner, [.revoke(invitation.id)], rotating: true)
            cases.breaks("revoked without an epoch", by: owner, [.revoke(invitation.id)])
            cases.breaks("revoked, but covered", by: owner, [.revoke(invitation.id)], epoch: invited.epoch())
            cases.breaks("an invitation id used before", by: owner, [.invite(invitation)])
            cases.breaks(
                "a known person invited twice", by: owner, [.invite(try shared.invitation(3, .readOnly, for: bob))])
            // Bob comes by the other seat: his own invitation must not outlive his membership.
            var both = invited
            try both.append(by: bob, [try invited.acceptance(1, by: bob)])
            let joined = both.entries[both.entries.count - 1]
            let members: [GrantSubject] = [.member(owner.user), .member(bob.user)]
            try cases.obeys(
                "the known invitee takes another seat, and its own invitation closes",
                [joined, owner.sign(both.entry(by: owner, [], epoch: both.epoch(covering: members)))])
            cases.breaks(
                "that invitation is covered still",
                [
                    joined,
                    owner.sign(
                        both.entry(
                            by: owner, [],
                            epoch: both.epoch(covering: members + [.invitation(try invited.invitationKeys(2).id)]))),
                ])
            let approval: [RosterChange] = [
                .revoke(invitation.id), .invite(try shared.invitation(3, .readOnly, for: alice)),
            ]
            try cases.obeys("who asks is approved in a placeholder's stead", by: owner, approval, rotating: true)
        }
        let newBob = try VectorPerson(5, after: bob)
        var invitedAnew = shared
        try invitedAnew.append(by: owner, [.invite(try shared.invitation(1, for: newBob))])
        try replay("Bob invited with his second generation of keys", from: invitedAnew) { cases in
            try cases.obeys("he accepts with them", by: newBob, [try invitedAnew.acceptance(1, by: newBob)])
            cases.breaks("he accepts with the first", by: bob, [try invitedAnew.acceptance(1, by: bob)])
            let other = try VectorPerson(7, after: bob)
            cases.breaks(
                "he accepts with another second generation", by: other, [try invitedAnew.acceptance(1, by: other)])
        }
        // Somebody whom this log has known with newer keys.
        var renewed = try VectorZone()
        try renewed.append(by: owner, [.invite(try renewed.invitation(1, for: bob))])
        try renewed.append(by: bob, [try renewed.acceptance(1, by: bob)])
        let later = try VectorPerson(5, after: bob)
        try renewed.append(by: bob, [later.newGeneration])
        try renewed.append(by: owner, [.remove(bob.user)], rotating: true)
        try replay("Bob was removed after he had new keys", from: renewed) { cases in
            try cases.obeys(
                "Bob is invited with his new keys", by: owner, [.invite(try renewed.invitation(2, for: later))])
            cases.breaks("Bob is invited with his old keys", by: owner, [.invite(try renewed.invitation(2, for: bob))])
            let placeholder = owner.sign(renewed.entry(by: owner, [.invite(try renewed.invitation(3))]))
            var invited = renewed
            try invited.append(by: owner, [.invite(try renewed.invitation(3))])
            cases.breaks(
                "Bob comes back with his old keys",
                [placeholder, bob.sign(invited.entry(by: bob, [try invited.acceptance(3, by: bob)]))])
        }
    }

    func publicAccess() throws {
        var zone = try VectorZone(isShared: false)
        try zone.append(by: owner, [try zone.settings(.readOnly)])
        let open = zone
        try replay("whoever has the URL may join and read, in the seat a0…", from: open) { cases in
            try cases.obeys("somebody joins", by: alice, [try open.acceptance(0xA0, by: alice)])
            var joined = open
            try joined.append(by: alice, [try open.acceptance(0xA0, by: alice)])
            let second = bob.sign(joined.entry(by: bob, [try joined.acceptance(0xA0, by: bob)]))
            try cases.obeys("somebody else joins after that", [joined.entries[joined.entries.count - 1], second])
            cases.breaks("with another secret", by: alice, [try open.acceptance(0xA0, by: alice, renewals: 1)])
            cases.breaks(
                "the public seat revoked as an invitation", by: owner, [.revoke(try open.invitationKeys(0xA0).id)],
                rotating: true)
            try cases.obeys("the public permission raised", by: owner, [try open.settings(.readWrite, seat: 0xA1)])
            cases.breaks("in a seat used before", by: owner, [try open.settings(.readWrite)])
            try cases.obeys("nobody may join any more", by: owner, [try open.settings()], rotating: true)
            cases.breaks("nobody may join any more, without an epoch", by: owner, [try open.settings()])
            try cases.obeys(
                "another URL", by: owner, [try open.settings(.readOnly, seat: 0xA1, renewals: 1)], rotating: true)
            cases.breaks(
                "another URL without an epoch", by: owner, [try open.settings(.readOnly, seat: 0xA1, renewals: 1)])
            cases.breaks(
                "another grant in the epoch than in the seat", by: owner,
                [try open.settings(.readOnly, seat: 0xA1, renewals: 1)], rotating: true
            ) { entry in
                if case .settings(let settings) = entry.changes[0], let seat = settings.publicSeat {
                    let other = PublicSeat(
                        id: seat.id, permission: seat.permission, signingKey: seat.signingKey, grantKey: seat.grantKey,
                        grantHash: .zero)
                    entry.changes = [.settings(.init(linkID: settings.linkID, publicSeat: other))]
                }
            }
            cases.breaks(
                "a rotation that leaves the seat out", by: owner, [],
                epoch: open.epoch(without: [.invitation(try open.invitationKeys(0xA0).id)]))
        }
        zone = try VectorZone(isShared: false)
        try zone.append(by: owner, [try zone.settings(.readWrite)])
        try zone.append(by: alice, [try zone.acceptance(0xA0, by: alice)])
        try zone.append(by: owner, [.invite(try zone.invitation(1))])
        try zone.append(by: bob, [try zone.acceptance(1, by: bob)])
        let joined = zone
        try replay("Alice is a public user, Bob a private one; the public may write", from: joined) { cases in
            let renewed = try joined.settings(.readWrite, seat: 0xA1, renewals: 1)
            try cases.obeys(
                "a public user removed, and the URL renewed", by: owner, [.remove(alice.user), renewed], rotating: true)
            try cases.obeys(
                "a private user removed, and the URL renewed", by: owner, [.remove(bob.user), renewed], rotating: true)
            try cases.obeys(
                "a name blocked, and the URL renewed", by: owner, [.block(carol.user), renewed], rotating: true)
            let (seat, newSeat) = (
                GrantSubject.invitation(try joined.invitationKeys(0xA0).id),
                GrantSubject.invitation(try joined.invitationKeys(0xA1).id)
            )
            let everybody: [GrantSubject] = [.member(owner.user), .member(alice.user), .member(bob.user)]
            let (withoutAlice, withoutBob) = (
                everybody.filter { $0 != .member(alice.user) }, everybody.filter { $0 != .member(bob.user) }
            )
            cases.breaks(
                "a public user removed under the same URL", by: owner, [.remove(alice.user)],
                epoch: joined.epoch(covering: withoutAlice + [seat]))
            cases.breaks(
                "a private user removed under the same URL", by: owner, [.remove(bob.user)],
                epoch: joined.epoch(covering: withoutBob + [seat]))
            cases.breaks(
                "a name blocked under the same URL", by: owner, [.block(carol.user)],
                epoch: joined.epoch(covering: everybody + [seat]))
            cases.breaks(
                "a removed user under another seat of the same URL", by: owner,
                [.remove(alice.user), try joined.settings(.readOnly, seat: 0xA1)],
                epoch: joined.epoch(covering: withoutAlice + [newSeat]))
            try cases.obeys(
                "no public permission any more: public users go", by: owner, [try joined.settings()], rotating: true)
            cases.breaks(
                "no public permission any more, public users covered", by: owner, [try joined.settings()],
                epoch: joined.epoch(without: [.invitation(try joined.invitationKeys(0xA0).id)]))
            let lowered = try joined.settings(.readOnly, seat: 0xA1)
            try cases.obeys("the public permission lowered, for public users too", by: owner, [lowered], rotating: true)
            cases.breaks("the public permission lowered without an epoch", by: owner, [lowered])
            var readOnly = joined
            try readOnly.append(by: owner, [lowered], rotating: true)
            let lowering = readOnly.entries[readOnly.entries.count - 1]
            cases.breaks(
                "made an administrator, after the public permission was lowered",
                [lowering, owner.sign(readOnly.entry(by: owner, [.setRole(alice.user, .administrator)]))])
            var gone = joined
            try gone.append(by: alice, [.leave])
            let leaving = gone.entries[gone.entries.count - 1]
            cases.breaks(
                "a member rotates after a public user left, which makes nothing due",
                [leaving, bob.sign(gone.entry(by: bob, [], epoch: gone.epoch()))])
            var due = joined
            try due.append(by: bob, [.leave])
            let left = due.entries[due.entries.count - 1]
            cases.breaks(
                "a public user rotates, though it is due",
                [left, alice.sign(due.entry(by: alice, [], epoch: due.epoch()))])
            cases.breaks(
                "a public user's own permission", by: owner, [.setPermission(alice.user, .readOnly)], rotating: true)
            try cases.obeys("a public user made a private one", by: owner, [.setRole(alice.user, .privateUser)])
        }
    }

    /// A scope that holds as many as it may.
    func fullScope() throws {
        var zone = try VectorZone(isShared: false)
        let seats = try (1..<Limits.participantsPerScope).map { try RosterChange.invite(zone.invitation(UInt8($0))) }
        try zone.append(by: owner, [try zone.settings(.readOnly)] + seats)
        let base = zone
        try replay("public, and 99 invited", from: base) { cases in
            let last = RosterChange.invite(try base.invitation(100))
            try cases.obeys("a hundredth invitation", by: owner, [last])
            try cases.obeys(
                "a hundredth participant by the public seat", by: alice, [try base.acceptance(0xA0, by: alice)])
            cases.breaks("two invitations more", by: owner, [last, .invite(try base.invitation(101))])
            var full = base
            try full.append(by: owner, [last])
            cases.breaks(
                "the public seat after the hundredth invitation",
                [
                    full.entries[full.entries.count - 1],
                    alice.sign(full.entry(by: alice, [try full.acceptance(0xA0, by: alice)])),
                ])
        }
    }
}

extension Invitation {
    fileprivate func with(grantHash other: Digest? = nil, addresses: [SealedAddress] = []) -> Invitation {
        Invitation(
            id: id, permission: permission, invitee: invitee, signingKey: signingKey, grantKey: grantKey,
            grantHash: other ?? grantHash, expires: expires, sealedAddresses: addresses)
    }
}

extension VectorZone {
    fileprivate func sign(_ bytes: [UInt8], by author: VectorPerson) -> SignedRosterEntry {
        SignedRosterEntry(bytes: bytes, signature: author.keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }

    /// `leave`, with another tag in its place.
    fileprivate func entryWithTag(_ tag: UInt8, by author: VectorPerson) -> SignedRosterEntry {
        var bytes = entry(by: author, [.leave]).canonicalBytes()
        bytes[bytes.count - 2] = tag
        return sign(bytes, by: author)
    }

    fileprivate func entryWithTrailingByte(by author: VectorPerson) throws -> SignedRosterEntry {
        sign(entry(by: author, [.invite(try invitation(1))]).canonicalBytes() + [0], by: author)
    }

    fileprivate enum SeatKey {
        case signingKey, grantKey
    }

    /// The entry with the key of its only seat overwritten at its beginning.
    fileprivate func entry(
        _ entry: RosterEntry, replacing key: SeatKey, with replacement: [UInt8], by author: VectorPerson
    ) throws -> SignedRosterEntry {
        var bytes = entry.canonicalBytes()
        // Entry head and tag; then id, permission and flag of an invitation, or permission, link id and id of a public
        // seat.
        var offset = 32 + 8 + 32 + 16 + 8 + 2 + 1
        if case .invite = entry.changes[0] { offset += 16 + 1 + 1 } else { offset += 1 + 32 + 16 }
        if key == .grantKey { offset += 32 }
        bytes.replaceSubrange(offset..<offset + replacement.count, with: replacement)
        return sign(bytes, by: author)
    }
}
