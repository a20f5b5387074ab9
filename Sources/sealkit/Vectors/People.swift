import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Somebody in the vectors: seed of one repeated byte.
struct VectorPerson {
    let seed: AccountSeed
    let keys: IdentityKeys
    let identity: IdentityChain
    var user: UserID { identity.userID }

    init(_ byte: UInt8, container: String = VectorZone.container) throws {
        seed = try AccountSeed(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
        keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
        identity = try keys.firstIdentity(time: 1_700_000_000_000_000)
    }

    func sign(_ entry: RosterEntry) -> SignedRosterEntry {
        let bytes = entry.canonicalBytes()
        return SignedRosterEntry(bytes: bytes, signature: keys.signingKey.sign(RosterEntry.signedBytes(bytes)))
    }
}

/// A zone in the vectors, and the entries that may follow its head. Grants are stand-ins, but for those recorded.
struct VectorZone {
    static let container = "com.example.notes"
    static let time: Int64 = 1_700_000_000_000_000

    let owner: VectorPerson
    let scope: Scope
    private(set) var roster: Roster
    private(set) var entries: [SignedRosterEntry]
    private(set) var keys: [EpochKey]

    init(isShared: Bool = true) throws {
        owner = try VectorPerson(1)
        scope = Scope(container: VectorZone.container, environment: .production, owner: owner.user, zoneName: "Notes")
        let opening = VectorZone.opening(scope, owner: owner, following: nil)
        let signed = owner.sign(opening.entry)
        roster = try Roster(opening: signed, scope: scope)
        entries = [signed]
        keys = [opening.key]
        if isShared { try append(by: owner, [.settings]) }
    }

    static func key(_ context: EpochContext) -> EpochKey {
        var random = ReplayedRandom([UInt8](repeating: UInt8(0x40 + context.incarnations.scope * 16 + context.epoch), count: 32))
        return EpochKey(random: &random, context: context)
    }

    static func grantHash(_ subject: GrantSubject) -> Digest { GrantHash.of(subject.id.bytes) }

    static func opening(
        _ scope: Scope, owner: VectorPerson, following roster: Roster?
    ) -> (entry: RosterEntry, key: EpochKey) {
        let life = (roster?.incarnations.scope ?? 0) + 1
        let incarnations = Incarnations(zone: life, scope: life)
        let key = key(EpochContext(scopeID: scope.id, incarnations: incarnations, epoch: 0))
        let entry = RosterEntry(
            scopeID: scope.id, sequence: roster?.nextSequence ?? 0, previous: roster?.head ?? .zero, author: owner.user,
            time: time, changes: [.open(.init(scope: scope, incarnations: incarnations, owner: owner.identity))],
            epoch: EpochOpening(
                number: 0, keyID: key.keyID, previousKey: [],
                coverage: [.init(subject: .member(owner.user), grantHash: grantHash(.member(owner.user)))]))
        return (entry, key)
    }

    func entry(by author: VectorPerson, _ changes: [RosterChange], epoch: EpochOpening? = nil) -> RosterEntry {
        RosterEntry(
            scopeID: scope.id, sequence: roster.nextSequence, previous: roster.head, author: author.user, time: Self.time,
            changes: changes, epoch: epoch)
    }

    var nextKey: EpochKey {
        VectorZone.key(
            EpochContext(
                scopeID: scope.id, incarnations: roster.incarnations, epoch: roster.currentEpoch.context.epoch + 1))
    }

    func epoch(without gone: [GrantSubject] = []) -> EpochOpening {
        var random = RecordingRandom("previous key")
        let key = nextKey
        return EpochOpening(
            number: key.context.epoch, keyID: key.keyID,
            previousKey: key.seal(previous: keys[keys.count - 1], random: &random),
            coverage: roster.subjects.filter { !gone.contains($0) }.map {
                .init(subject: $0, grantHash: VectorZone.grantHash($0))
            })
    }

    mutating func append(by author: VectorPerson, _ changes: [RosterChange], epoch: EpochOpening? = nil) throws {
        let key = nextKey
        let signed = author.sign(entry(by: author, changes, epoch: epoch))
        try roster.append(signed)
        entries.append(signed)
        if epoch != nil { keys.append(key) }
    }

    // MARK: Invitations

    static let link = [UInt8](repeating: 0x77, count: 32)

    func invitationKeys(_ number: UInt8) throws -> InvitationKeys {
        try LinkSecret(SecretBytes(copying: VectorZone.link)).invitationKeys(
            scopeID: scope.id, invitationID: ID16([UInt8](repeating: number, count: 16)))
    }

    func invitation(_ number: UInt8, _ permission: Permission = .readWrite, for invitee: VectorPerson? = nil) throws -> Invitation {
        let keys = try invitationKeys(number)
        return Invitation(
            id: keys.id, permission: permission, invitee: invitee?.identity, signingKey: keys.signingKey.verificationKey,
            grantKey: try XWingHPKE.publicKey(seed: keys.grantSeed), grantHash: VectorZone.grantHash(.invitation(keys.id)))
    }

    func acceptance(_ number: UInt8, by person: VectorPerson, head: Digest? = nil, scopeID: Digest? = nil) throws -> RosterChange {
        let keys = try invitationKeys(number)
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: scopeID ?? scope.id, invitationID: keys.id, acceptor: person.identity, head: head ?? roster.head)
        return .accept(
            .init(invitationID: keys.id, acceptor: person.identity, signature: keys.signingKey.sign(message)))
    }

    mutating func join(_ person: VectorPerson, _ number: UInt8, _ permission: Permission = .readWrite) throws {
        try append(by: owner, [.invite(try invitation(number, permission))])
        try append(by: person, [try acceptance(number, by: person)])
    }

    /// A first save by `author` under the epoch in force.
    func statement(_ record: String = "Note-1", by author: VectorPerson) -> Statement {
        Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner, zoneName: scope.zoneName,
            zoneIncarnation: roster.incarnations.zone, recordName: record, recordType: "Note", creator: author.user,
            author: author.user, clientTime: Self.time, revision: 1, previous: .zero, scopeID: scope.id,
            scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [UInt8](repeating: 6, count: Statement.wrappedKeyBytes), rosterSequence: roster.sequence,
            rosterHead: roster.head, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
    }
}

// MARK: In JSON

extension JSON {
    static func scope(_ scope: Scope) -> JSON {
        .object([
            "container": .string(scope.container), "environment": .string(scope.environment.name),
            "owner": .string(scope.owner.recordName), "zoneName": .string(scope.zoneName),
            "shareRecordName": .string(scope.shareRecordName),
        ])
    }

    static func entries(_ entries: [SignedRosterEntry]) -> JSON {
        .array(entries.map { .object(["entry": .hex($0.bytes), "signature": .hex($0.signature)]) })
    }

    static func context(_ context: EpochContext) -> JSON {
        .object([
            "scopeID": .hex(context.scopeID), "zoneIncarnation": .number(context.incarnations.zone),
            "scopeIncarnation": .number(context.incarnations.scope), "epoch": .number(context.epoch),
        ])
    }

    static func proof(_ proof: StatementProof) -> JSON {
        .object([
            "signature": .hex(proof.signature), "leafCount": .int(proof.leafCount), "index": .int(proof.index),
            "path": .array(proof.path.map { .hex($0) }),
        ])
    }
}

extension Fields {
    func scope(_ key: String = "scope") throws -> Scope {
        let fields = try object(key)
        guard let environment = Environment(name: try fields.string("environment")) else { throw VectorError.missing(key) }
        return Scope(
            container: try fields.string("container"), environment: environment, owner: try fields.user("owner"),
            zoneName: try fields.string("zoneName"), shareRecordName: try fields.string("shareRecordName"))
    }

    func entries(_ key: String) throws -> [SignedRosterEntry] {
        try objects(key).map { SignedRosterEntry(bytes: try $0.bytes("entry"), signature: try $0.bytes("signature")) }
    }

    /// The roster that `scope` and `entries` give.
    func roster(adding more: [SignedRosterEntry] = []) throws -> Roster {
        let entries = try (has("entries") ? entries("entries") : []) + more
        guard let first = entries.first else { throw VectorError.missing("entries") }
        var roster = try Roster(opening: first, scope: scope())
        for entry in entries.dropFirst() { try roster.append(entry) }
        return roster
    }

    func context(_ key: String = "context") throws -> EpochContext {
        let fields = try object(key)
        return EpochContext(
            scopeID: try fields.digest("scopeID"),
            incarnations: Incarnations(zone: try fields.number("zoneIncarnation"), scope: try fields.number("scopeIncarnation")),
            epoch: try fields.number("epoch"))
    }

    func epochKey(_ key: String = "key", context name: String = "context") throws -> EpochKey {
        var random = ReplayedRandom(try bytes(key))
        return EpochKey(random: &random, context: try context(name))
    }

    func proof(_ key: String = "proof") throws -> StatementProof {
        let fields = try object(key)
        return StatementProof(
            signature: try fields.bytes("signature"), leafCount: try fields.int("leafCount"), index: try fields.int("index"),
            path: try fields.array("path").map { json in
                guard case .string(let text) = json else { throw VectorError.missing("path") }
                return try Digest(Hex.decode(text))
            })
    }
}

/// For keys of which the grant key is not needed.
enum NoGrants: HybridEncryption {
    static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8] { [] }
    static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] { throw .invalidKey }
    static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] { throw .authenticationFailed }
}
