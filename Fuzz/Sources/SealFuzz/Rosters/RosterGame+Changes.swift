import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Single changes, of every kind.
extension RosterGame {
    /// Kinds of changes, for seeds.
    static let kinds: UInt8 = 16

    /// Some changes have an author of their own.
    func change(_ choices: inout Choices, _ author: inout Person, _ roster: Roster) -> RosterChange {
        let kind = choices.byte() % Self.kinds
        let user = somebody(in: roster, &choices).userID
        let permission: Permission = choices.flag() ? .readWrite : .readOnly
        switch kind {
        case 0:
            let next: Permission? = [roster.publicSeat?.permission, nil, .readOnly, .readWrite][
                choices.number(below: 4)]
            return .settings(settings(in: roster, renewing: !choices.often(), next, &choices))
        case 1, 2:
            let invitee = choices.flag() ? choices.oneOf(World.people).known(to: roster) : nil
            return .invite(invitation(seat(in: roster, &choices), permission, invitee, &choices))
        case 3: return .revoke(seat(in: roster, &choices).keys.id)
        case 4, 5, 6: return .accept(acceptance(in: roster, &choices, &author))
        case 7: return .setPermission(user, permission)
        case 8: return .setRole(user, choices.rarely() ? .publicUser : choices.flag() ? .privateUser : .administrator)
        case 9: return .remove(user)
        case 10: return .leave
        case 11:
            return .identity(generations(of: choices.rarely() ? choices.oneOf(World.people) : author, roster, &choices))
        case 12: return .block(choices.flag() ? user : choices.oneOf(World.people).userID)
        case 13: return .unblock(roster.blocked.min() ?? user)
        case 14: return .close
        default: return .setPermission(choices.oneOf(World.people).userID, permission)
        }
    }

    /// Mostly a member, with the keys that the roster knows of it.
    func somebody(in roster: Roster, _ choices: inout Choices) -> Person {
        let members = World.people.prefix(6).filter { roster.members[$0.userID] != nil }
        return choices.oneOf(members.isEmpty || choices.often() ? World.people : members).known(to: roster)
    }

    /// An open one, or any: new invitations take one that was never used.
    private func seat(in roster: Roster, _ choices: inout Choices) -> Seat {
        let open = home.seats.filter { roster.invitations[$0.keys.id] != nil }
        return choices.oneOf(open.isEmpty || choices.flag() ? home.seats : open)
    }

    /// One that was never used, where there is one.
    private func freshSeat(in roster: Roster, _ choices: inout Choices) -> Seat {
        let fresh = home.seats.filter { roster.usedInvitations[$0.keys.id] == nil }
        return choices.oneOf(fresh.isEmpty || choices.rarely() ? home.seats : fresh)
    }

    func settings(
        in roster: Roster, renewing: Bool, _ permission: Permission?, _ choices: inout Choices
    ) -> RosterChange.Settings {
        let linkID = renewing ? Hash.digest(.linkID, roster.head.bytes, [choices.byte()]) : roster.linkID ?? .zero
        guard let permission else { return .init(linkID: linkID) }
        let seat = freshSeat(in: roster, &choices)
        return .init(
            linkID: linkID,
            publicSeat: PublicSeat(
                id: seat.keys.id, permission: permission, signingKey: seat.keys.signingKey.verificationKey,
                grantKey: seat.grantKey, grantHash: sampleDigest(8)))
    }

    /// Somebody comes, or comes back: perhaps with a generation that nobody has seen.
    private func acceptance(
        in roster: Roster, _ choices: inout Choices, _ author: inout Person
    ) -> RosterChange.Acceptance {
        let seats = home.seats.filter { roster.invitations[$0.keys.id] != nil || roster.publicSeat?.id == $0.keys.id }
        let seat = choices.oneOf(seats.isEmpty || choices.rarely() ? home.seats : seats)
        var acceptor = choices.oneOf(World.people)
        let invitee = roster.invitations[seat.keys.id]?.invitee
        if let known = World.people.first(where: { $0.userID == invitee?.userID }), !choices.often() {
            acceptor = known
        }
        if !choices.rarely() { acceptor = acceptor.known(to: roster) }
        if let invitee, !acceptor.chain.continues(invitee), let keys = World.keyring[invitee.current.signingKey] {
            acceptor = acceptor.next(keys) ?? acceptor
        }
        if choices.often() { acceptor = acceptor.next(choices.oneOf(World.spareKeys)) ?? acceptor }
        author = acceptor
        let head = choices.rarely() ? choices.digest() : roster.head
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: roster.scopeID, invitationID: seat.keys.id, acceptor: acceptor.chain, head: head)
        return .init(
            invitationID: seat.keys.id, acceptor: acceptor.chain, signature: seat.keys.signingKey.sign(message))
    }

    /// What comes after the chain that the roster has; rarely what comes after another.
    private func generations(of person: Person, _ roster: Roster, _ choices: inout Choices) -> [SignedIdentity] {
        var next = person
        for _ in 0...choices.number(below: 2) {
            next = next.next(choices.oneOf(World.spareKeys), time: choices.number()) ?? next
        }
        let known = choices.rarely() ? choices.number(below: 3) : person.chain.signed.count
        return Array(next.chain.signed.dropFirst(known))
    }

    private func invitation(
        _ seat: Seat, _ permission: Permission, _ invitee: Person?, _ choices: inout Choices
    ) -> Invitation {
        var addresses: [SealedAddress] = []
        // In any order, and twice: only ascending ones are read.
        for _ in 0..<choices.number(below: 3) {
            addresses.append(
                SealedAddress(reader: choices.oneOf(World.people).userID, sealed: choices.bytes(atMost: 8)))
        }
        return Invitation(
            id: seat.keys.id, permission: permission, invitee: invitee?.chain,
            signingKey: seat.keys.signingKey.verificationKey,
            grantKey: seat.grantKey, grantHash: sampleDigest(7), expires: 0, sealedAddresses: addresses)
    }
}
