import SealPrimitives

@testable import SealStatements

/// Somebody with keys. The grant key is a stand-in: no rule looks inside.
struct Person: Sendable {
    let signingKey: SigningKey
    let chain: IdentityChain
    var userID: UserID { chain.userID }

    init(_ number: UInt8, container: String = World.container, time: Int64 = 1) throws {
        signingKey = try SigningKey(seed: secret(number))
        let identity = Identity(
            container: container, generation: 0, signingKey: signingKey.verificationKey, grantKey: grantKey(number),
            time: time, previous: .zero)
        let bytes = identity.canonicalBytes()
        chain = try IdentityChain(
            verifying: [SignedIdentity(bytes: bytes, signature: signingKey.sign(Identity.signedBytes(bytes)))],
            container: container)
    }

    /// The same person with another generation.
    init(_ person: Person, next number: UInt8) throws {
        signingKey = try SigningKey(seed: secret(number))
        let last = person.chain.current
        let identity = Identity(
            container: last.container, generation: last.generation + 1, signingKey: signingKey.verificationKey,
            grantKey: grantKey(number), time: 2, previous: Identity.hash(last.canonicalBytes()))
        let bytes = identity.canonicalBytes()
        let signed = SignedIdentity(
            bytes: bytes, signature: signingKey.sign(Identity.signedBytes(bytes)),
            previousSignature: person.signingKey.sign(Identity.signedBytes(bytes)))
        chain = try IdentityChain(verifying: person.chain.signed + [signed], container: last.container)
    }
}

/// What an invitation's URL gives.
struct Seat: Sendable {
    let id: ID16
    let signingKey: SigningKey

    init(_ number: UInt8) throws {
        id = try ID16([UInt8](repeating: number, count: 16))
        signingKey = try SigningKey(seed: secret(number))
    }

    func invitation(
        _ permission: Permission = .readWrite, for invitee: Person? = nil, grant: UInt8 = 1,
        addresses: [SealedAddress] = []
    ) -> Invitation {
        Invitation(
            id: id, permission: permission, invitee: invitee?.chain, signingKey: signingKey.verificationKey,
            grantKey: grantKey(9), grantHash: GrantHash.of([grant]), sealedAddresses: addresses)
    }
}

func secret(_ byte: UInt8) -> SecretBytes { SecretBytes(copying: [UInt8](repeating: byte, count: 32)) }
func grantKey(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: Identity.grantKeyBytes) }
func digest(_ byte: UInt8) -> Digest { GrantHash.of([byte, byte]) }

/// A zone of the owner's, and everything needed to write to its roster, rightly and wrongly.
struct World {
    static let container = "com.example.notes"

    let owner: Person
    let scope: Scope
    var roster: Roster
    /// Entry 0.
    let opening: RosterEntry

    /// The scope is shared, nobody joins by the share-wide URL alone.
    static let settings = RosterChange.settings(.init(linkID: digest(77)))

    init(isShared: Bool = true) throws {
        owner = try Person(1)
        scope = Scope(container: World.container, environment: .production, owner: owner.userID, zoneName: "Notes")
        opening = World.opening(of: scope, by: owner)
        roster = try Roster(opening: World.sign(opening, with: owner.signingKey), scope: scope)
        if isShared { try append(by: owner, [World.settings]) }
    }

    static func opening(of scope: Scope, by owner: Person, following roster: Roster? = nil) -> RosterEntry {
        let life = (roster?.incarnations.scope ?? 0) + 1
        return RosterEntry(
            scopeID: scope.id, sequence: roster?.nextSequence ?? 0, previous: roster?.head ?? .zero,
            author: owner.userID,
            time: 1,
            changes: [
                .open(
                    .init(
                        scope: scope, incarnations: Incarnations(zone: life, scope: life), encryptionScope: .perRecord,
                        owner: owner.chain))
            ],
            epoch: EpochOpening(
                number: 0, keyID: digest(UInt8(life)), checkpoint: Checkpoint.none, previousKey: [],
                coverage: [.init(subject: .member(owner.userID), grantHash: digest(1))]))
    }

    static func sign(_ entry: RosterEntry, with key: SigningKey) -> SignedRosterEntry {
        let bytes = entry.canonicalBytes()
        return SignedRosterEntry(bytes: bytes, signature: key.sign(RosterEntry.signedBytes(bytes)))
    }

    /// The next entry, as an honest author writes it.
    func entry(by author: Person, _ changes: [RosterChange], epoch: EpochOpening? = nil) -> RosterEntry {
        RosterEntry(
            scopeID: scope.id, sequence: roster.nextSequence, previous: roster.head, author: author.userID, time: 1,
            changes: changes, epoch: epoch)
    }

    /// The next epoch, covering who is there after removals and with newcomers.
    func epoch(without gone: Set<GrantSubject> = [], with new: [Invitation] = []) -> EpochOpening {
        let covered =
            roster.subjects.filter { !gone.contains($0) }.map {
                EpochOpening.Coverage(subject: $0, grantHash: digest(200))
            } + new.map { .init(subject: .invitation($0.id), grantHash: $0.grantHash) }
        let number = roster.currentEpoch.number + 1
        return EpochOpening(
            number: number, keyID: digest(UInt8(truncatingIfNeeded: 100 + number)), checkpoint: Checkpoint.none,
            previousKey: [UInt8](repeating: 5, count: EpochOpening.previousKeyBytes),
            coverage: covered.sorted { $0.subject < $1.subject })
    }

    func acceptance(of seat: Seat, by person: Person) -> RosterChange.Acceptance {
        RosterChange.Acceptance(
            invitationID: seat.id, acceptor: person.chain,
            signature: seat.signingKey.sign(
                RosterChange.Acceptance.signedBytes(
                    scopeID: scope.id, invitationID: seat.id, acceptor: person.chain, head: roster.head)))
    }

    mutating func append(_ entry: RosterEntry, by author: Person) throws(SealError) {
        try roster.append(World.sign(entry, with: author.signingKey))
    }

    mutating func append(by author: Person, _ changes: [RosterChange], epoch: EpochOpening? = nil) throws(SealError) {
        try append(entry(by: author, changes, epoch: epoch), by: author)
    }

    /// Invites and has accepted.
    mutating func join(_ person: Person, seat: Seat, _ permission: Permission = .readWrite) throws(SealError) {
        try append(by: owner, [.invite(seat.invitation(permission))])
        try append(by: person, [.accept(acceptance(of: seat, by: person))])
    }

    mutating func rotate(by author: Person) throws(SealError) { try append(by: author, [], epoch: epoch()) }
}

/// Everything in a roster's state that a refused entry must not touch.
struct RosterState: Equatable {
    let hashes: [Digest]
    let incarnations: Incarnations
    let isClosed, rotationDue: Bool
    let linkID: Digest?
    let publicSeat: PublicSeat?
    let blocked: Set<UserID>
    let inviters: [ID16: UserID]
    let abandoned: [RosterChange.AbandonedHead]
    let members: [UserID: [String]]
    let invitations: [ID16: Invitation]
    let epochs: [[String]]
    let rootRecordName: String?
    let used: [ID16: UInt64]
    let history: [UserID: [String]]

    init(_ roster: Roster) {
        hashes = roster.hashes
        incarnations = roster.incarnations
        isClosed = roster.isClosed
        linkID = roster.linkID
        publicSeat = roster.publicSeat
        blocked = roster.blocked
        inviters = roster.inviters
        abandoned = roster.abandonments.map(\.head)
        rotationDue = roster.rotationDue
        members = roster.members.mapValues {
            ["\($0.permission)", "\($0.role)", "\($0.since)", "\($0.identity.signed.count)"]
        }
        invitations = roster.invitations
        epochs = roster.epochs.map { epoch in
            ["\(epoch.number)", epoch.keyID.hex, "\(epoch.openedAt)"]
                + epoch.grantHashes.map { "\($0.key.id.hex) \($0.value.hex)" }.sorted()
        }
        rootRecordName = roster.rootRecordName
        used = roster.usedInvitations
        history = roster.history.mapValues {
            $0.map { "\($0.from) \(String(describing: $0.permission)) \($0.role) \($0.identity.hash.hex)" }
        }
    }
}
