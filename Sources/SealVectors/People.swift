import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

/// Somebody in the vectors: seed of one repeated byte.
struct VectorPerson {
    let seed: AccountSeed
    let keys: IdentityKeys
    /// As far as it goes with these keys.
    let identity: IdentityChain
    var user: UserID { identity.userID }

    /// - Parameter time: of the identity; 0 where a client has made it, as each device of an account does.
    init(_ byte: UInt8, container: String = VectorZone.container, time: Int64 = VectorZone.time) throws {
        seed = try AccountSeed(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
        identity = try keys.firstIdentity(time: time)
    }

    /// The same person with the next generation of keys.
    init(_ byte: UInt8, after person: VectorPerson, time: Int64 = VectorZone.time) throws {
        seed = try AccountSeed(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        keys = try seed.identityKeys(container: person.keys.container, using: XWingHPKE.self)
        identity = try keys.nextIdentity(after: person.identity, signedBy: person.keys, time: time)
    }

    /// The newest generation, as a roster entry states it.
    var newGeneration: RosterChange { .identity([identity.signed[identity.signed.count - 1]]) }

    func sign(_ entry: RosterEntry) -> SignedRosterEntry {
        let bytes = entry.canonicalBytes()
        return SignedRosterEntry(bytes: bytes, signature: keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }
}

/// A zone in the vectors, and the entries that may follow its head. Grants are stand-ins, but for those recorded.
struct VectorZone {
    static let container = "com.example.notes"
    static let time: Int64 = 1_700_000_000_000_000

    static let linkBytes = [UInt8](repeating: 0x77, count: 32)
    let owner: VectorPerson
    let scope: Scope
    private(set) var roster: Roster
    private(set) var entries: [SignedRosterEntry]
    private(set) var keys: [EpochKey]

    /// - Parameters:
    ///   - share: the share record's name, for a hierarchical share of the record `Root`.
    ///   - owner: nil for the first of the vectors' people.
    init(
        isShared: Bool = true, share: String? = nil, zoneName: String = "Notes", owner: VectorPerson? = nil
    ) throws {
        self.owner = try owner ?? VectorPerson(1)
        scope = Scope(
            container: VectorZone.container, environment: .production, owner: self.owner.user, zoneName: zoneName,
            shareRecordName: share ?? "")
        let opening = VectorZone.opening(scope, owner: self.owner, following: nil, root: share == nil ? nil : "Root")
        let signed = self.owner.sign(opening.entry)
        roster = try Roster(opening: signed, scope: scope)
        entries = [signed]
        keys = [opening.key]
        if isShared { try append(by: self.owner, [settings()]) }
    }

    static func key(_ context: EpochContext) -> EpochKey {
        var random = ReplayedRandom(
            [UInt8](
                repeating: UInt8(truncatingIfNeeded: 0x40 &+ context.incarnations.scope &* 16 &+ context.epoch),
                count: 32))
        return EpochKey(random: &random, context: context)
    }

    static func grantHash(_ subject: GrantSubject) -> Digest { GrantHash.of(subject.id.bytes) }

    static func opening(
        _ scope: Scope, owner: VectorPerson, following roster: Roster?, incarnations: Incarnations? = nil,
        root: String? = nil,
        abandoned: RosterChange.AbandonedHead? = nil, encryption: EncryptionScope = .perRecord
    ) -> (entry: RosterEntry, key: EpochKey) {
        let life = (roster?.incarnations.scope ?? 0) &+ 1
        let incarnations = incarnations ?? Incarnations(zone: life, scope: life)
        let key = key(EpochContext(scopeID: scope.id, incarnations: incarnations, epoch: 0))
        let opening = RosterChange.Opening(
            scope: scope, incarnations: incarnations, encryptionScope: encryption, rootRecordName: root,
            abandoned: abandoned,
            owner: owner.identity)
        let entry = RosterEntry(
            scopeID: scope.id, sequence: roster?.nextSequence ?? 0, previous: roster?.head ?? .zero, author: owner.user,
            time: time, changes: [.open(opening)],
            epoch: EpochOpening(
                number: 0, keyID: key.keyID, checkpoint: Checkpoint.none, previousKey: [],
                coverage: [.init(subject: .member(owner.user), grantHash: grantHash(.member(owner.user)))]))
        return (entry, key)
    }

    func entry(by author: VectorPerson, _ changes: [RosterChange], epoch: EpochOpening? = nil) -> RosterEntry {
        RosterEntry(
            scopeID: scope.id, sequence: roster.nextSequence, previous: roster.head, author: author.user,
            time: Self.time,
            changes: changes, epoch: epoch)
    }

    var nextKey: EpochKey {
        VectorZone.key(
            EpochContext(
                scopeID: scope.id, incarnations: roster.incarnations, epoch: roster.currentEpoch.context.epoch + 1))
    }

    /// The next epoch, which covers whom it has to after these changes. Where the rules refuse them it covers whom it
    /// would have to if they were taken for what they say.
    func epoch(after changes: [RosterChange] = [], by author: VectorPerson? = nil, without gone: [GrantSubject] = [])
        -> EpochOpening
    {
        let after =
            (try? roster.applying(changes, by: (author ?? owner).user))
            ?? (try? roster.applying(changes, by: owner.user)) ?? roster
        var random = RecordingRandom("previous key")
        let key = nextKey
        return EpochOpening(
            number: key.context.epoch, keyID: key.keyID, checkpoint: Checkpoint.none,
            previousKey: key.seal(previous: keys[keys.count - 1], random: &random),
            coverage: after.subjects.filter { !gone.contains($0) }.map {
                .init(subject: $0, grantHash: VectorZone.grantHash($0))
            })
    }

    /// The next epoch for exactly these.
    func epoch(covering subjects: [GrantSubject]) -> EpochOpening {
        let epoch = epoch()
        return EpochOpening(
            number: epoch.number, keyID: epoch.keyID, checkpoint: Checkpoint.none, previousKey: epoch.previousKey,
            coverage: subjects.sorted().map { .init(subject: $0, grantHash: VectorZone.grantHash($0)) })
    }

    mutating func append(by author: VectorPerson, _ changes: [RosterChange], rotating: Bool = false) throws {
        try append(entry(by: author, changes, epoch: rotating ? epoch(after: changes, by: author) : nil), by: author)
    }

    mutating func append(_ entry: RosterEntry, by author: VectorPerson) throws {
        let key = nextKey
        let signed = author.sign(entry)
        try roster.append(signed)
        entries.append(signed)
        if entry.epoch != nil {
            keys.append(entry.epoch?.number == 0 ? VectorZone.key(roster.currentEpoch.context) : key)
        }
    }

    // MARK: Invitations

    /// The share-wide link secret; `renewals` gives the ones after it.
    static func link(_ renewals: UInt8 = 0) throws -> LinkSecret {
        try LinkSecret(SecretBytes(copying: [UInt8](repeating: 0x77 + renewals, count: 32)))
    }

    /// The scope is shared; with a permission, whoever has the share-wide URL may join, in the seat of that number.
    /// - Parameter grant: the seat's, where it is no stand-in.
    func settings(
        _ permission: Permission? = nil, seat number: UInt8 = 0xA0, renewals: UInt8 = 0, grant: [UInt8]? = nil
    ) throws -> RosterChange {
        let link = try Self.link(renewals)
        var seat: PublicSeat?
        if let permission {
            let keys = try link.invitationKeys(
                scopeID: scope.id, invitationID: ID16([UInt8](repeating: number, count: 16)))
            seat = PublicSeat(
                id: keys.id, permission: permission, signingKey: keys.signingKey.verificationKey,
                grantKey: try XWingHPKE.publicKey(seed: keys.grantSeed),
                grantHash: grant.map(GrantHash.of) ?? VectorZone.grantHash(.invitation(keys.id)))
        }
        return .settings(.init(linkID: link.id(in: scope.id), publicSeat: seat))
    }

    func invitationKeys(_ number: UInt8) throws -> InvitationKeys {
        try VectorZone.link().invitationKeys(
            scopeID: scope.id, invitationID: ID16([UInt8](repeating: number, count: 16)))
    }

    /// - Parameter grant: the invitation's, where it is no stand-in.
    func invitation(
        _ number: UInt8, _ permission: Permission = .readWrite, for invitee: VectorPerson? = nil, grant: [UInt8]? = nil
    ) throws -> Invitation {
        let keys = try invitationKeys(number)
        return Invitation(
            id: keys.id, permission: permission, invitee: invitee?.identity,
            signingKey: keys.signingKey.verificationKey,
            grantKey: try XWingHPKE.publicKey(seed: keys.grantSeed),
            grantHash: grant.map(GrantHash.of) ?? VectorZone.grantHash(.invitation(keys.id)))
    }

    /// - Parameters:
    ///   - keyOf: the invitation whose key signs, where that is another one.
    ///   - renewals: of the link secret that the key comes from.
    func acceptance(
        _ number: UInt8, by person: VectorPerson, head: Digest? = nil, scopeID: Digest? = nil,
        keyOf other: UInt8? = nil,
        renewals: UInt8 = 0
    ) throws -> RosterChange {
        let id = try ID16([UInt8](repeating: number, count: 16))
        let keys = try VectorZone.link(renewals).invitationKeys(
            scopeID: scope.id, invitationID: other.map { try ID16([UInt8](repeating: $0, count: 16)) } ?? id)
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: scopeID ?? scope.id, invitationID: id, acceptor: person.identity, head: head ?? roster.head)
        return .accept(
            .init(invitationID: id, acceptor: person.identity, signature: keys.signingKey.sign(message)))
    }

    mutating func join(_ person: VectorPerson, _ number: UInt8, _ permission: Permission = .readWrite) throws {
        try append(by: owner, [.invite(try invitation(number, permission))])
        try append(by: person, [try acceptance(number, by: person)])
    }

    /// A first save by `author` under the epoch in force.
    func statement(_ record: String = "Note-1", by author: VectorPerson) -> Statement {
        Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName,
            zoneIncarnation: roster.incarnations.zone, recordName: record, recordType: "Note", creator: author.user,
            author: author.user, clientTime: Self.time, revision: 1, previous: .zero, scopeID: scope.id,
            scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [UInt8](repeating: 6, count: Statement.wrappedKeyBytes), rosterSequence: roster.sequence,
            rosterHead: roster.head, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }
}
