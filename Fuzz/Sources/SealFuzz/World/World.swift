import SealPrimitives
import SealStatements

@testable import SealEnvelope

/// One zone and its people, made once: what the targets open, verify and continue.
enum World {
    static let container = "com.example.notes"
    /// No secret of the vectors': none of their sealed bytes opens here.
    static let link = certain("a link secret") { try LinkSecret(secret(0xA1)) }
    static let scope = Scope(container: container, environment: .production, owner: Person(1).userID, zoneName: "Notes")
    /// The owner first. The last is the one before with a newer generation.
    static let people: [Person] = {
        let six = (1...6).map { Person($0) }
        return six + [Person(six[5], next: 7)]
    }()
    static let seats: [Seat] = (1...6).map { Seat($0) }
    static let zone = Zone()
    static let record = Record()

    static func prepare() { _ = (people, seats, zone, record) }
}

/// The zone's roster after each of its entries.
struct Zone: Sendable {
    /// Opened; shared; a placeholder invited; who came as Bob; Carol invited, and there; a third seat open; rotated; Carol
    /// gone.
    private(set) var entries: [SignedRosterEntry] = []
    private(set) var rosters: [Roster] = []
    private(set) var keys: [EpochKey] = []

    var roster: Roster { rosters[rosters.count - 1] }
    var key: EpochKey { keys[keys.count - 1] }

    fileprivate init() {
        var random = FixedRandom()
        let (owner, bob, carol) = (World.people[0], World.people[1], World.people[2])
        let opening = certain("the opening") {
            try owner.author.open(World.scope, following: nil, identity: owner.chain, time: 1, random: &random)
        }
        entries = [opening.entry]
        rosters = [certain("entry 0") { try Roster(opening: opening.entry, scope: World.scope) }]
        if let key = opening.epochKey { keys = [key] }
        append(owner.author.plain(.settings, on: roster, time: 1))
        invite(World.seats[0].draft(.readWrite), &random)
        accept(World.seats[0], by: bob)
        invite(World.seats[1].draft(.readOnly, for: carol), &random)
        accept(World.seats[1], by: carol)
        invite(World.seats[2].draft(.readOnly), &random)
        rotate([], &random)
        rotate([.remove(carol.userID)], &random)
    }

    private mutating func append(_ draft: RosterAuthor<StandInHPKE>.Draft) {
        var next = roster
        certain("an entry of the zone's") { try next.append(draft.entry) }
        rosters.append(next)
        entries.append(draft.entry)
        if let key = draft.epochKey { keys.append(key) }
    }

    private mutating func invite(_ invitation: InvitationDraft, _ random: inout FixedRandom) {
        let (owner, roster, key) = (World.people[0], roster, key)
        append(
            certain("an invitation") {
                try owner.author.next(
                    on: roster, changes: [], invitations: [invitation], rotating: false, current: key, time: 1, random: &random)
            })
    }

    private mutating func accept(_ seat: Seat, by person: Person) {
        let (roster, key) = (roster, key)
        guard let invitation = roster.invitations[seat.keys.id] else { violated("the seat is there") }
        append(
            certain("an acceptance") {
                try person.author.accept(
                    invitation, on: roster, invitationKeys: seat.keys, identity: person.chain, epochKey: key, time: 1)
            })
    }

    private mutating func rotate(_ changes: [RosterChange], _ random: inout FixedRandom) {
        let (owner, roster, key) = (World.people[0], roster, key)
        append(
            certain("a rotation") {
                try owner.author.next(
                    on: roster, changes: changes, rotating: true, current: key, time: 1, random: &random)
            })
    }
}

/// A record of the zone's, verified and opened.
struct Record: Sendable {
    let statement: Statement
    let opener: RecordOpener

    /// `H("record-context", …)`, as PROTOCOL.md has it.
    var context: Digest {
        var pae = PAE(.recordContext, pieces: 7)
        pae.add(statement.container)
        pae.add(statement.environment.rawValue)
        pae.add(statement.owner.id)
        pae.add(statement.zoneName)
        pae.add(statement.zoneIncarnation)
        pae.add(statement.recordName)
        pae.add(statement.recordType)
        return Hash.digest(pae)
    }

    fileprivate init() {
        let zone = World.zone
        let owner = World.people[0]
        var random = FixedRandom()
        let draft = RecordDraft(statement: Record.statement(zone.roster, by: owner.userID), recordKey: nil, fields: [])
        (statement, opener) = certain("a record") {
            let sealed = try RecordSealer.seal([draft], epochKey: zone.key, signingKey: owner.signingKey, random: &random)
            let proof = StatementProof(signature: sealed.signature, leafCount: 1, index: 0, path: [])
            var verifier = StatementVerifier(roster: zone.roster)
            let verified = try verifier.verify(sealed.records[0].statementBytes, proof: proof, recordName: "Note-1")
            return (verified.statement, try RecordOpener(verified, epochKey: zone.key))
        }
    }

    /// A first save at the head of `roster`.
    static func statement(_ roster: Roster, by author: UserID) -> Statement {
        Statement(
            kind: .save, container: roster.scope.container, environment: roster.scope.environment, owner: roster.owner,
            zoneName: roster.scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: "Note-1",
            recordType: "Note", creator: author, author: author, clientTime: 1, revision: 1, previous: .zero,
            scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: [UInt8](repeating: 6, count: Statement.wrappedKeyBytes), rosterSequence: roster.sequence,
            rosterHead: roster.head, parent: nil, share: nil, salt: .zero, fieldsDigest: .zero)
    }
}
