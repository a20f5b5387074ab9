import Foundation
import SealKit
import SealLab

/// The owner of a zone and a guest: the guest is invited, accepts, is taken out or leaves, the zone's key is renewed,
/// and both write a note in it. What was acknowledged is there after a kill, for devices of both that have seen
/// nothing; what was not is as before or as after.
actor Sharers {
    /// All that the two change.
    struct World: Equatable {
        enum Seat: String {
            case free
            case invited
            case taken
        }
        /// The guest's.
        var seat = Seat.free
        /// The zone's newest key.
        var epoch = 0
        /// The guest has left: the next who writes renews the key.
        var isKeyDue = false
        /// What the note says.
        var note = 0
    }

    enum Kind: String, CaseIterable {
        case noted
        case renewed
        case invited
        case accepted
        case left
        /// Or not invited any more.
        case takenOut
    }

    /// One of the two: a device that works, and what others of the account's are made with.
    struct Person: Sendable {
        let device: Container
        let account: Account

        fileprivate func fresh() throws(SealKitError) -> Container {
            try Container(CrashTorture.container, account: account)
        }
    }

    private let owner: Person
    private let guest: Person
    private let guestID: Record.ID
    /// As the guest names it.
    private let zoneOfGuest: RecordZone.ID
    private let acceptances: AcceptanceTransport.Notes
    private let journal: Journal
    private var random: SeededRandom
    private(set) var known = KnownWorld(World())
    /// When the key was renewed and nothing else changed.
    private var renewals: [ContinuousClock.Instant] = []
    /// Acceptances that were sent once more.
    private(set) var repeated = 0
    /// Steps that were acknowledged.
    private(set) var counts: [Kind: Int] = [:]

    private static let zone = RecordZone.ID(zoneName: "shared")
    private static let noteName = "note"
    /// In an hour; a server takes some more.
    private static let mostRenewals = 40

    static func make(_ ground: any Ground, journal: Journal, random: SeededRandom) async throws -> Sharers {
        func working() throws -> any Transport {
            JournalTransport(try ground.transport(), journal: journal, isWriting: false)
        }
        let acceptances = AcceptanceTransport.Notes()
        let owner = try await Account.create(transport: try working(), deviceName: "owner").account
        let guest = try await Account.create(
            transport: AcceptanceTransport(try working(), acceptances), deviceName: "guest"
        ).account
        func person(_ account: Account) throws -> Person {
            Person(
                device: try Container(CrashTorture.container, account: account),
                account: try Devices.more(of: account, through: [ground.transport()])[0])
        }
        return try await Sharers(
            owner: try person(owner), guest: try person(guest), acceptances: acceptances, journal: journal,
            random: random)
    }

    /// - Parameter acceptances: of the guest's device.
    private init(
        owner: Person, guest: Person, acceptances: AcceptanceTransport.Notes, journal: Journal, random: SeededRandom
    ) async throws {
        (self.owner, self.guest) = (owner, guest)
        guestID = try guest.device.userRecordID()
        zoneOfGuest = RecordZone.ID(
            zoneName: Self.zone.zoneName, ownerName: try owner.device.userRecordID().recordName)
        (self.acceptances, self.journal, self.random) = (acceptances, journal, random)
        // The first call tells the server the account's identity in the container.
        _ = try await guest.device.privateDatabase.allRecordZones()
        let database = owner.device.privateDatabase
        try await database.save(RecordZone(zoneID: Self.zone))
        try await database.save(Share(recordZoneID: Self.zone))
        try await saveNote(0, byGuest: false)
        known = KnownWorld(try await look())
    }

    // MARK: Steps

    /// Until the journal says that the server goes down.
    func run() async {
        while !journal.isDown {
            // Each reader checks all entries of the roster: it does not grow as fast as it can.
            try? await Task.sleep(for: .milliseconds(random.below(60)))
            guard !journal.isDown else { return }
            var next = known.world
            do throws(SealKitError) {
                let kind = try await step(&next)
                known.stepped(to: next)
                counts[kind, default: 0] += 1
            } catch {
                if journal.excuses(error) {
                    known.missed(next)
                } else {
                    journal.note(unexpected: "\(error)")
                }
                return
            }
        }
    }

    /// - Parameter next: changed before the server is asked to make it so.
    private func step(_ next: inout World) async throws(SealKitError) -> Kind {
        let choice = random.below(100)
        if known.world.isKeyDue || (choice < 5 && mayRenew) {
            renewals.append(.now)
            (next.epoch, next.isKeyDue) = (next.epoch + 1, false)
            try await owner.device.privateDatabase.rotateKeys(of: Self.zone)
            return .renewed
        } else if choice < 30 {
            next.note = random.below(1_000_000)
            let isByGuest = known.world.seat == .taken && random.chance(50)
            try await saveNote(next.note, byGuest: isByGuest)
            return .noted
        }
        return try await seatStep(&next)
    }

    private var mayRenew: Bool {
        let hourAgo = ContinuousClock.now.advanced(by: .seconds(-3_600))
        return renewals.count { $0 > hourAgo } < Self.mostRenewals
    }

    private func seatStep(_ next: inout World) async throws(SealKitError) -> Kind {
        switch known.world.seat {
        case .free:
            next.seat = .invited
            let invited = try await owner.device.shareParticipant(
                forUserRecordID: guestID, permission: .readWrite)
            try await edit { $0.addParticipant(invited) }
            return .invited
        case .invited where random.chance(80):
            next.seat = .taken
            guard let url = try await owner.device.privateDatabase.share(for: Self.zone).url else {
                throw SealKitError(.internalError, "a share has no URL")
            }
            try await guest.device.accept(try await guest.device.shareMetadata(for: url))
            return .accepted
        case .taken where random.chance(25) && mayRenew:
            (next.seat, next.isKeyDue) = (.free, true)
            try await guest.device.sharedDatabase.leaveShare(of: zoneOfGuest)
            return .left
        case .invited, .taken:
            // Whoever is taken out, or not invited any more, cannot open what comes after that.
            (next.seat, next.epoch) = (.free, next.epoch + 1)
            try await edit { [guestID] share in
                for participant in share.participants where Self.isOf(guestID, participant) {
                    share.removeParticipant(participant)
                }
            }
            return .takenOut
        }
    }

    private func edit(_ change: (inout Share) -> Void) async throws(SealKitError) {
        var share = try await owner.device.privateDatabase.share(for: Self.zone)
        change(&share)
        try await owner.device.privateDatabase.save(share)
    }

    private static func isOf(_ user: Record.ID, _ participant: Share.Participant) -> Bool {
        participant.userIdentity.userRecordID?.recordName == user.recordName
    }

    private func saveNote(_ count: Int, byGuest isGuest: Bool) async throws(SealKitError) {
        let database = isGuest ? guest.device.sharedDatabase : owner.device.privateDatabase
        let zone = isGuest ? zoneOfGuest : Self.zone
        let id = Record.ID(recordName: Self.noteName, zoneID: zone)
        var record = Record(recordType: "Note", recordID: id)
        Worker.fill(&record, with: count)
        let results = try await database.modifyRecords(saving: [record], savePolicy: .allKeys).saveResults
        guard let result = results[id] else { throw SealKitError(.internalError, "a save has no result") }
        _ = try result.get()
    }

    // MARK: After a crash

    /// - Parameter feed: of a server that was started again.
    func inspect(_ feed: Feed) async throws {
        let found = try await look()
        try known.goOn(from: found, Self.text)
        try await checkNoAccusation(owner.device, by: "the owner")
        try await checkNoAccusation(guest.device, by: "the guest")
        guard let sent = acceptances.take() else { return }
        try await repeatAcceptance(sent, feed)
    }

    /// The same acceptance has one effect, and one answer once there was one.
    private func repeatAcceptance(_ sent: AcceptanceTransport.Sent, _ feed: Feed) async throws {
        let before = known.world
        let first = try await feed.transport.post(sent.path, body: sent.body, token: sent.token)
        if let answer = sent.answer {
            try check(first.status == 200, "a repeated acceptance is refused: \(first.failureText)")
            try check(first.body == answer, "a repeated acceptance has another answer")
        } else {
            try check(
                first.status == 200 || before.seat != .taken,
                "an acceptance that happened is refused when it is repeated: \(first.failureText)")
        }
        let again = try await feed.transport.post(sent.path, body: sent.body, token: sent.token)
        try check(
            again.status == first.status && (first.status != 200 || again.body == first.body),
            "a repeated acceptance has another answer")
        var expected = before
        // Only what got no answer was still open.
        if sent.answer == nil, first.status == 200 { expected.seat = .taken }
        let found = try await look()
        try check(
            found == expected,
            "an acceptance was repeated: found \(Self.text(found)), and not \(Self.text(expected))")
        known.moved(to: found)
        repeated += 1
    }

    /// What devices see that have seen nothing yet.
    private func look() async throws -> World {
        var found = World()
        let (ownDevice, theirDevice) = (try owner.fresh(), try guest.fresh())
        let own = ownDevice.privateDatabase
        let keys = try await own.keyStatus(of: Self.zone)
        try check(keys.isNewestHeld, "the owner was not given the newest key of its zone")
        (found.epoch, found.isKeyDue) = (keys.newestEpoch, keys.isRotationDue)
        let share = try await own.share(for: Self.zone)
        switch share.participants.first(where: { Self.isOf(guestID, $0) })?.acceptanceStatus {
        case .pending?: found.seat = .invited
        case .accepted?: found.seat = .taken
        case .removed?, nil: found.seat = .free
        }
        found.note = try await note(in: own, zone: Self.zone)
        let theirs = theirDevice.sharedDatabase
        let zones = try await theirs.allRecordZones().map(\.zoneID)
        try check(
            zones == (found.seat == .taken ? [zoneOfGuest] : []),
            "the owner's device says of the guest: \(found.seat), and the guest's has \(zones.count) zones")
        if found.seat == .taken {
            try check(
                try await note(in: theirs, zone: zoneOfGuest) == found.note, "owner and guest read another note")
        }
        try await checkNoAccusation(ownDevice, by: "a new device of the owner")
        try await checkNoAccusation(theirDevice, by: "a new device of the guest")
        return found
    }

    private func note(in database: Database, zone: RecordZone.ID) async throws -> Int {
        let record = try await database.record(for: Record.ID(recordName: Self.noteName, zoneID: zone))
        try Reader.checkWhole(record)
        guard let count: Int = record["count"] else { throw Finding("the note has lost its number") }
        return count
    }

    private static func text(_ world: World) -> String {
        "[seat \(world.seat), key \(world.epoch)\(world.isKeyDue ? ", another due" : ""), note \(world.note)]"
    }
}
