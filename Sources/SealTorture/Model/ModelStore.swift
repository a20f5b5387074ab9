import SealKit

/// What CloudKit's documentation says that a database and its shared zones hold, and how they answer: in memory, without
/// keys, statements, positions or a network.
struct ModelStore {
    typealias Code = SealKitError.Code

    /// A record as the store has it.
    struct Stored: Equatable {
        var type: String
        var fields: [String: Int]
        var parent: String?
        /// Who made it; for a record that went with another, who made that one.
        var creator: Int
        /// Different for each change of any record: what a change tag stands for.
        var version: Int
        /// What can be told of each field without opening it: a plain one's value, a sealed one's writing.
        var marks: [String: Int] = [:]
        /// Of the zone, when it was written.
        var epoch = 0
        var isDeleted = false
        /// The deleted record that it went with. Under its name only a record of its type can be made again.
        var wentWith: String?
    }

    struct Zone {
        /// Goes up when the zone is deleted and made again.
        var life: Int
        var isOpen = true
        var records: [String: Stored] = [:]
        /// The version of its last change.
        var touched: Int
        /// Who takes part in its share, and may write or only read; its owner is person 0 and not among them.
        var participants: [Int: Share.Participant.Permission] = [:]
        /// Goes up whenever somebody loses a right: what is written then is sealed under a new key, all of it.
        var epoch = 0
    }

    /// Something that subscriptions are told of.
    struct News {
        let zone: String
        /// The record as it is now, or, where it was deleted, as it was; nil when something of the zone itself changed.
        var record: (name: String, stored: Stored)?
        /// The zone came or went, or somebody did.
        var isOfZone: Bool { record == nil }
    }

    /// A record as a device is about to save it.
    struct Draft {
        var name: String
        var type: String
        var fields: [String: Int]
        /// Keys that were set or removed since it was fetched.
        var changed: Set<String>
        /// Keys that exist, but were not fetched: they are carried over, or stay as the server has them.
        var omitted: Set<String> = []
        var parent: String?
        var base: Base?
    }

    /// What a device's copy was when it was fetched or saved.
    struct Base {
        var version: Int
        var life: Int
        var type: String
        var parent: String?
        var creator: Int
        var fields: [String: Int]
        var marks: [String: Int]
        /// Keys that did not come: of them the device has the marks alone.
        var omitted: Set<String>

        /// Nothing that the device could see is different.
        func showsTheSame(as server: Stored) -> Bool {
            type == server.type && parent == server.parent && creator == server.creator && fields.count == server.fields.count
                && fields.allSatisfy { key, value in
                    guard let other = server.fields[key] else { return false }
                    return omitted.contains(key) ? marks[key] == server.marks[key] : value == other
                }
        }
    }

    enum Outcome: Equatable {
        case saved(Stored)
        case deleted
        case failed(Code)
    }

    private(set) var zones: [String: Zone] = [:]
    /// What has happened since somebody last asked.
    private(set) var news: [News] = []
    private var lastVersion = 0

    func open(_ zone: String) -> Zone? { zones[zone].flatMap { $0.isOpen ? $0 : nil } }

    mutating func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    mutating func nextVersion() -> Int {
        lastVersion += 1
        return lastVersion
    }

    // MARK: Zones

    /// One that is open stays as it is, with its records.
    mutating func makeZone(_ name: String) {
        guard open(name) == nil else { return }
        zones[name] = Zone(life: (zones[name]?.life ?? 0) + 1, touched: nextVersion())
        news.append(News(zone: name))
    }

    mutating func deleteZone(_ name: String) -> Code? {
        guard var zone = open(name) else { return .zoneNotFound }
        zone.isOpen = false
        zone.records = [:]
        zone.participants = [:]
        zone.touched = nextVersion()
        zones[name] = zone
        news.append(News(zone: name))
        return nil
    }

    // MARK: Sharing

    /// What somebody may do in a zone; nil where the zone is not there for them.
    func permission(of person: Int, in zone: String) -> Share.Participant.Permission? {
        open(zone).flatMap { person == 0 ? .readWrite : $0.participants[person] }
    }

    /// - Parameter permission: nil takes the person out of the share.
    mutating func share(_ zoneName: String, with person: Int, _ permission: Share.Participant.Permission?) {
        guard let before = open(zoneName)?.participants else { return }
        zones[zoneName]?.participants[person] = permission
        if permission != .readWrite, before[person] != nil { zones[zoneName]?.epoch += 1 }
        let version = nextVersion()
        zones[zoneName]?.touched = version
        news.append(News(zone: zoneName))
    }

    /// The zone as somebody sees it; nil where it is not there for them.
    func zone(_ name: String, for person: Int) -> Zone? { permission(of: person, in: name) == nil ? nil : zones[name] }

    /// Something changed there that is not looked at.
    mutating func touch(_ zone: String) {
        let version = nextVersion()
        zones[zone]?.touched = version
    }

    /// Seals again what was written under an older key.
    /// - Returns: how many records that were.
    mutating func rekey(_ name: String) -> Int {
        guard var zone = open(name) else { return 0 }
        let stale = zone.stale
        for record in stale {
            guard var stored = zone.records[record] else { continue }
            stored.epoch = zone.epoch
            stored.version = nextVersion()
            for key in stored.marks.keys where ModelFields.sealed.contains(key) { stored.marks[key] = nextVersion() }
            zone.records[record] = stored
            news.append(News(zone: name, record: (record, stored)))
        }
        if !stale.isEmpty { zone.touched = nextVersion() }
        zones[name] = zone
        return stale.count
    }

    /// Takes over what a call led to.
    mutating func put(_ zone: Zone, _ name: String, _ told: [News]) {
        zones[name] = zone
        news += told
    }
}
