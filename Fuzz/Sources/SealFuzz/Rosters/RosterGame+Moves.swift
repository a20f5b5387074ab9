import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Entries as the fuzzer chooses them. A choice of 0 is what an honest author does.
extension RosterGame {
    mutating func move(_ choices: inout Choices) {
        guard let roster else { return play(sign(opening(&choices), &choices)) }
        if roster.isClosed, !choices.rarely() { return play(sign(opening(&choices), &choices)) }
        var author = choices.flag() ? somebody(in: roster, &choices) : World.people[0]
        var changes: [RosterChange] = []
        for _ in 0..<[1, 0, 2, 3][choices.number(below: 4)] {
            let change = change(&choices, &author, roster)
            changes.append(change)
        }
        var needsEpoch = changes.isEmpty || changes.contains { $0.alwaysNeedsEpoch }
        for case .setPermission(let user, let permission) in changes {
            if let now = roster.permission(of: user), permission < now { needsEpoch = true }
        }
        if choices.often() { needsEpoch.toggle() }
        var entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: author.userID, time: 1,
            changes: changes, epoch: needsEpoch ? epoch(after: changes, roster, &choices) : nil)
        if choices.rarely() { spoil(&entry, &choices) }
        play(sign(entry, &choices))
    }

    private func sign(_ entry: RosterEntry, _ choices: inout Choices) -> SignedRosterEntry {
        var bytes = entry.canonicalBytes()
        if choices.rarely() { bytes[choices.number(below: bytes.count)] ^= choices.byte() }
        var signer = World.people.last { person in
            // An opening and an acceptance are signed with the key that they bring.
            switch entry.changes.first {
            case .open(let opening): person.chain == opening.owner
            case .accept(let acceptance): person.chain == acceptance.acceptor
            default: person.chain == roster?.members[entry.author]?.identity
            }
        }
        // Checked last: what such an entry has changed by then has to be taken back.
        if choices.often() { signer = choices.oneOf(World.people) }
        let signature = (signer ?? World.people[0]).signingKey.sign(RosterEntry.signedBytes(bytes))
        return SignedRosterEntry(bytes: bytes, signature: signature)
    }

    private func opening(_ choices: inout Choices) -> RosterEntry {
        let owner = choices.rarely() ? choices.oneOf(World.people) : World.people[0]
        var life = (roster?.incarnations.scope ?? 0) &+ 1
        if choices.rarely() { life = choices.number() }
        let zone = choices.rarely() ? choices.number() : life
        let scope =
            choices.rarely()
            ? Scope(container: World.container, environment: .development, owner: owner.userID, zoneName: choices.name())
            : World.scope
        let change = RosterChange.open(
            .init(
                scope: scope, incarnations: Incarnations(zone: zone, scope: life),
                rootRecordName: choices.rarely() ? choices.name() : nil, owner: owner.chain))
        var entry = RosterEntry(
            scopeID: scope.id, sequence: roster?.nextSequence ?? 0, previous: roster?.head ?? .zero, author: owner.userID, time: 1,
            changes: choices.rarely() ? [change, .settings] : [change],
            epoch: EpochOpening(
                number: 0, keyID: sampleDigest(UInt8(truncatingIfNeeded: life)), previousKey: [],
                coverage: [.init(subject: .member(owner.userID), grantHash: choices.digest())]))
        if choices.rarely() { spoil(&entry, &choices) }
        return entry
    }

    /// Mostly a member.
    private func somebody(in roster: Roster, _ choices: inout Choices) -> Person {
        let members = World.people.filter { roster.members[$0.userID]?.identity == $0.chain }
        return choices.oneOf(members.isEmpty || choices.often() ? World.people : members)
    }

    /// An open one, or any: new invitations take one that was never used.
    private func seat(in roster: Roster, _ choices: inout Choices) -> Seat {
        let open = World.seats.filter { roster.invitations[$0.keys.id] != nil }
        return choices.oneOf(open.isEmpty || choices.flag() ? World.seats : open)
    }

    /// Some changes have an author of their own.
    private func change(_ choices: inout Choices, _ author: inout Person, _ roster: Roster) -> RosterChange {
        let user = somebody(in: roster, &choices).userID
        let seat = seat(in: roster, &choices)
        let permission: Permission = choices.flag() ? .readWrite : .readOnly
        switch choices.byte() % 12 {
        case 0: return .settings
        case 1, 2, 3:
            let invitee = choices.flag() ? choices.oneOf(World.people) : nil
            return .invite(invitation(seat, permission, invitee, &choices))
        case 4: return .revoke(seat.keys.id)
        case 5, 6, 7:
            let acceptor = choices.oneOf(World.people)
            author = acceptor
            let head = choices.rarely() ? choices.digest() : roster.head
            let message = RosterChange.Acceptance.signedBytes(
                scopeID: roster.scopeID, invitationID: seat.keys.id, acceptor: acceptor.chain, head: head)
            return .accept(
                .init(invitationID: seat.keys.id, acceptor: acceptor.chain, signature: seat.keys.signingKey.sign(message)))
        case 8: return .setPermission(user, permission)
        case 9: return .remove(user)
        case 10: return .leave
        default: return .close
        }
    }

    private func invitation(
        _ seat: Seat, _ permission: Permission, _ invitee: Person?, _ choices: inout Choices
    ) -> Invitation {
        var addresses: [SealedAddress] = []
        // In any order, and twice: only ascending ones are read.
        for _ in 0..<choices.number(below: 3) {
            addresses.append(SealedAddress(reader: choices.oneOf(World.people).userID, sealed: choices.bytes(atMost: 8)))
        }
        return Invitation(
            id: seat.keys.id, permission: permission, invitee: invitee?.chain, signingKey: seat.keys.signingKey.verificationKey,
            grantKey: seat.grantKey, grantHash: sampleDigest(7), expires: 0, sealedAddresses: addresses)
    }

    /// Covers who is there after the changes.
    private func epoch(after changes: [RosterChange], _ roster: Roster, _ choices: inout Choices) -> EpochOpening {
        var covered = Dictionary(uniqueKeysWithValues: roster.subjects.map { ($0, sampleDigest(9)) })
        for change in changes {
            switch change {
            case .invite(let invitation): covered[.invitation(invitation.id)] = invitation.grantHash
            case .revoke(let id): covered[.invitation(id)] = nil
            case .remove(let user): covered[.member(user)] = nil
            default: break
            }
        }
        let last = roster.currentEpoch
        var (number, keyID) = (last.number &+ 1, Hash.digest(.keyID, last.keyID.bytes))
        var previousKey = [UInt8](repeating: 5, count: EpochOpening.previousKeyBytes)
        if choices.rarely() {
            switch choices.byte() % 6 {
            case 0: number = choices.number()
            case 1: keyID = last.keyID
            case 2: previousKey = choices.bytes(atMost: 80)
            case 3: covered[.member(choices.oneOf(World.people).userID)] = nil
            case 4: covered[.invitation(choices.oneOf(World.seats).keys.id)] = choices.digest()
            default: covered = [:]
            }
        }
        return EpochOpening(
            number: number, keyID: keyID, previousKey: previousKey,
            coverage: covered.map { .init(subject: $0.key, grantHash: $0.value) }.sorted { $0.subject < $1.subject })
    }

    private func spoil(_ entry: inout RosterEntry, _ choices: inout Choices) {
        switch choices.byte() % 5 {
        case 0: entry.scopeID = choices.digest()
        case 1: entry.sequence = choices.number()
        case 2: entry.previous = choices.digest()
        case 3: entry.author = choices.oneOf(World.people).userID
        default: entry.time = choices.number()
        }
    }
}
