import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Entries as the fuzzer chooses them. A choice of 0 is what an honest author does.
extension RosterGame {
    mutating func move(_ choices: inout Choices) {
        guard let roster else { return play(sign(opening(&choices), &choices)) }
        let reopens = roster.isClosed ? !choices.rarely() : choices.rarely() && choices.often()
        if reopens { return play(sign(opening(&choices), &choices)) }
        var author = choices.flag() ? somebody(in: roster, &choices) : World.people[0]
        var changes: [RosterChange] = []
        for _ in 0..<[1, 0, 2, 3][choices.number(below: 4)] {
            let change = change(&choices, &author, roster)
            changes.append(change)
        }
        // What an honest author adds: another URL where one is needed, and an epoch.
        let isPutOut = changes.contains {
            switch $0 {
            case .remove, .block: true
            default: false
            }
        }
        if isPutOut, let seat = roster.publicSeat, !choices.rarely() {
            changes.insert(.settings(settings(in: roster, renewing: true, seat.permission, &choices)), at: 0)
        }
        var needsEpoch = changes.isEmpty || isPutOut
        if let next = try? roster.applying(changes, by: author.userID), !next.isClosed, changes != [.leave] {
            needsEpoch = needsEpoch || RosterStep.takesAway(from: roster, to: next)
        }
        if choices.often() { needsEpoch.toggle() }
        var entry = RosterEntry(
            scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: author.userID,
            time: 1,
            changes: changes, epoch: needsEpoch ? epoch(after: changes, by: author.userID, roster, &choices) : nil)
        if choices.rarely() { spoil(&entry, &choices) }
        play(sign(entry, &choices))
    }

    private func sign(_ entry: RosterEntry, _ choices: inout Choices) -> SignedRosterEntry {
        var bytes = entry.canonicalBytes()
        if choices.rarely() { bytes[choices.number(below: bytes.count)] ^= choices.byte() }
        // An opening and an acceptance are signed with the key that they bring.
        var key =
            switch entry.changes.first {
            case .open(let opening): opening.owner.current.signingKey
            case .accept(let acceptance): acceptance.acceptor.current.signingKey
            default: roster?.members[entry.author]?.identity.current.signingKey
            }
        // Checked last: what such an entry has changed by then has to be taken back.
        if choices.often() { key = choices.oneOf(World.people).signingKey.verificationKey }
        let signer = key.flatMap { World.keyring[$0] } ?? World.people[0].keys
        return SignedRosterEntry(bytes: bytes, signature: signer.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }

    func opening(_ choices: inout Choices, abandoning: RosterChange.AbandonedHead? = nil) -> RosterEntry {
        let owner = choices.rarely() ? choices.oneOf(World.people) : World.people[0].known(to: roster)
        var abandoned = abandoning
        if abandoned == nil, roster?.isClosed == false || choices.often() {
            // One of another branch, or one of this very log.
            let hashes = roster?.hashes ?? []
            let sequence = choices.flag() ? choices.number() : UInt64(choices.number(below: hashes.count + 1))
            let isOwn = sequence < hashes.count && choices.flag()
            abandoned = .init(sequence: sequence, hash: isOwn ? hashes[Int(sequence)] : choices.digest())
        }
        var life = (roster?.incarnations.scope ?? 0) &+ 1
        if abandoned != nil { life = life &+ UInt32(choices.byte() & 3) }
        if choices.rarely() { life = choices.flag() ? .max : choices.number() }
        let isZone = home.scope.shareRecordName.isEmpty
        var zone = isZone ? life : (roster?.incarnations.zone ?? 1) &+ UInt32(choices.byte() & 1)
        if choices.rarely() { zone = choices.number() }
        let scope = choices.rarely() ? World.shareScope : home.scope
        var root = isZone ? nil : "Root-1"
        if choices.rarely() { root = choices.flag() ? choices.name() : nil }
        var encryption = roster?.encryptionScope ?? .perRecord
        if choices.rarely() { encryption = encryption == .perRecord ? .perZone : .perRecord }
        let change = RosterChange.open(
            .init(
                scope: scope, incarnations: Incarnations(zone: zone, scope: life), encryptionScope: encryption,
                rootRecordName: root, abandoned: abandoned, owner: owner.chain))
        var entry = RosterEntry(
            scopeID: scope.id, sequence: roster?.nextSequence ?? 0, previous: roster?.head ?? .zero,
            author: owner.userID, time: 1,
            changes: choices.rarely() ? [change, .unblock(owner.userID)] : [change],
            epoch: EpochOpening(
                number: 0, keyID: sampleDigest(UInt8(truncatingIfNeeded: life)), checkpoint: Checkpoint.none,
                previousKey: [],
                coverage: [.init(subject: .member(owner.userID), grantHash: choices.digest())]))
        if choices.rarely() { entry.epoch = nil }
        if choices.rarely() { spoil(&entry, &choices) }
        return entry
    }

    /// Covers who is there after the changes.
    private func epoch(
        after changes: [RosterChange], by author: UserID, _ roster: Roster, _ choices: inout Choices
    ) -> EpochOpening {
        let subjects = (try? roster.applying(changes, by: author))?.subjects ?? roster.subjects
        var covered = Dictionary(uniqueKeysWithValues: subjects.map { ($0, sampleDigest(9)) })
        for change in changes {
            switch change {
            case .invite(let invitation): covered[.invitation(invitation.id)]? = invitation.grantHash
            case .settings(let settings): settings.publicSeat.map { covered[.invitation($0.id)]? = $0.grantHash }
            default: break
            }
        }
        let last = roster.currentEpoch
        var (number, keyID) = (last.number &+ 1, Hash.digest(.keyID, last.keyID.bytes))
        var previousKey = [UInt8](repeating: 5, count: EpochOpening.previousKeyBytes)
        var checkpoint = Checkpoint.none
        if choices.rarely() {
            switch choices.byte() % 7 {
            case 0: number = choices.number()
            case 1: keyID = last.keyID
            case 2: previousKey = choices.bytes(atMost: 80)
            case 3: covered[.member(choices.oneOf(World.people).userID)] = nil
            case 4: covered[.invitation(choices.oneOf(home.seats).keys.id)] = choices.digest()
            case 5: checkpoint = choices.digest()
            default: covered = [:]
            }
        }
        return EpochOpening(
            number: number, keyID: keyID, checkpoint: checkpoint, previousKey: previousKey,
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
