import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// A scope's roster after each of its entries.
struct Zone: Sendable {
    let scope: Scope
    let seats: [Seat]
    private(set) var entries: [SignedRosterEntry] = []
    private(set) var rosters: [Roster] = []
    private(set) var keys: [EpochKey] = []
    private var random = FixedRandom()

    var roster: Roster { rosters[rosters.count - 1] }
    var key: EpochKey { keys[keys.count - 1] }

    private init(_ scope: Scope, seats: [Seat]) {
        self.scope = scope
        self.seats = seats
    }

    /// Opened; shared; a placeholder invited; who came as Bob; Carol invited, and there; a third seat open; rotated;
    /// Carol gone.
    static func wholeZone() -> Zone {
        let (bob, carol) = (World.people[1], World.people[2])
        var zone = Zone(World.scope, seats: World.seats)
        zone.open(life: 1)
        zone.next(settings: SettingsDraft(secret: World.link))
        zone.next(invitations: [zone.seats[0].draft(.readWrite)])
        zone.accept(zone.seats[0], by: bob)
        zone.next(invitations: [zone.seats[1].draft(.readOnly, for: carol)])
        zone.accept(zone.seats[1], by: carol)
        zone.next(invitations: [zone.seats[2].draft(.readOnly)])
        zone.next(rotating: true)
        zone.next([.remove(carol.userID)], rotating: true)
        return zone
    }

    /// A first life in which Dora wrote. In the second Bob is administrator, and has invited a placeholder; Carol
    /// reads; whoever has the URL reads too, as Eve does; Frank is blocked, and the URL another one since.
    static func hierarchicalShare() -> Zone {
        let (bob, carol, dora) = (World.people[1], World.people[2], World.people[3])
        var share = Zone(World.shareScope, seats: World.shareSeats)
        let seats = share.seats
        share.open(life: 1)
        share.next(settings: SettingsDraft(secret: World.link), invitations: [seats[0].draft(.readWrite)])
        share.accept(seats[0], by: dora)
        share.append(World.people[0].author.plain(.close, on: share.roster, time: 1))
        share.open(life: 2)
        share.next(
            settings: SettingsDraft(secret: World.link),
            invitations: [seats[1].draft(.readWrite), seats[2].draft(.readOnly, for: carol)])
        share.accept(seats[1], by: bob)
        share.accept(seats[2], by: carol)
        share.next([.setRole(bob.userID, .administrator)])
        share.next(by: bob, invitations: [seats[3].draft(.readOnly)])
        share.next(settings: SettingsDraft(secret: World.link, publicAccess: (seats[4].keys.id, .readOnly)))
        share.accept(seats[4], by: World.people[4])
        share.next(
            [.block(World.people[5].userID)],
            settings: SettingsDraft(secret: World.nextLink, publicAccess: (seats[5].keys.id, .readOnly)), rotating: true
        )
        return share
    }

    private mutating func open(life: UInt32) {
        let owner = World.people[0]
        let following = rosters.last
        let isZone = scope.shareRecordName.isEmpty
        let opening = certain("an opening") {
            try owner.author.open(
                scope, following: following, encryptionScope: .perRecord,
                incarnations: isZone ? nil : Incarnations(zone: 1, scope: life),
                rootRecordName: isZone ? nil : "Root-1", identity: owner.chain, time: 1, random: &random)
        }
        guard following == nil else { return append(opening) }
        entries = [opening.entry]
        rosters = [certain("entry 0") { try Roster(opening: opening.entry, scope: scope) }]
        if let key = opening.epochKey { keys = [key] }
    }

    private mutating func append(_ draft: RosterAuthor<StandInHPKE>.Draft) {
        var next = roster
        certain("an entry of the zone's") { try next.append(draft.entry) }
        rosters.append(next)
        entries.append(draft.entry)
        if let key = draft.epochKey { keys.append(key) }
    }

    private mutating func next(
        by author: Person = World.people[0], _ changes: [RosterChange] = [], settings: SettingsDraft? = nil,
        invitations: [InvitationDraft] = [], rotating: Bool = false
    ) {
        let (roster, key) = (roster, key)
        append(
            certain("an entry") {
                try author.author.next(
                    on: roster, changes: changes, settings: settings, invitations: invitations, rotating: rotating,
                    current: key, time: 1, random: &random)
            })
    }

    private mutating func accept(_ seat: Seat, by person: Person) {
        let (roster, key) = (roster, key)
        append(
            certain("an acceptance") {
                try person.author.accept(seat.keys, on: roster, identity: person.chain, epochKey: key, time: 1)
            })
    }
}
