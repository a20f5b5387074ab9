import SealKit

/// What CloudKit's documentation says that a database and its shared zones hold, and how they answer: in memory,
/// without keys, statements, positions or a network.
struct ModelStore {
    typealias Code = SealKitError.Code

    /// A record as the store has it.
    struct Stored: Equatable {
        var type: String
        var fields: [String: Int]
        var parent: String?
        /// The hierarchical share that it is in; nil for the zone's own scope.
        var share: String?
        /// The share whose root it is, as the record names it.
        var rootOf: String?
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
        /// Who takes part in its share; its owner is person 0 and not among them.
        var participants: [Int: Participant] = [:]
        /// What everybody who has the share's URL may do.
        var publicPermission = Permission.none
        /// Goes up with every new key, as when somebody loses a right: what is written then is sealed under that.
        var epoch = 0
        /// Somebody has left: nothing is written before a new key is opened, which public users may not do.
        var isKeyDue = false
        /// When the share's own record was written; nil where the zone is not shared as a whole.
        var shareEpoch: Int?
        /// Shares of records with what is below them, by the names of the shares' records; those that have ended too.
        var hierarchies: [String: Hierarchy] = [:]
        /// Whether there were any in an earlier life either: from the first one on, who comes in or gets out begins to
        /// read anew.
        var hadHierarchies = false
        /// The version at which each person came into one of them last, or into the whole zone, or got out of one.
        var sights: [Int: Int] = [:]
        /// To one person: a reading that began before has not come past all that there is for them.
        var since = 0
        /// The people besides its owner who saw it at its last change.
        var viewers: Set<Int> = []
        /// The version at which each of them lost sight of it as a whole who has had it, in this life or before.
        var lost: [Int: Int] = [:]
    }

    /// A zone in somebody's database: the version of the last change there that they are told of.
    struct Sight {
        var version: Int
        var isGone: Bool
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
        var share: String?
        var rootOf: String?
        var creator: Int
        var fields: [String: Int]
        var marks: [String: Int]
        /// Keys that did not come: of them the device has the marks alone.
        var omitted: Set<String>

        /// Nothing that the device could see is different.
        func showsTheSame(as server: Stored) -> Bool {
            type == server.type && parent == server.parent && rootOf == server.rootOf && creator == server.creator
                && fields.count == server.fields.count
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
        /// Where what a device happens to know decides which of several refusals comes.
        case failedByOne(of: Set<Code>)

        /// - Parameter code: what came.
        func settled(by code: Code?) -> Outcome {
            guard case .failedByOne(let codes) = self, let first = codes.min(by: { $0.rawValue < $1.rawValue })
            else { return self }
            return .failed(code.flatMap { codes.contains($0) ? $0 : nil } ?? first)
        }
    }

    var zones: [String: Zone] = [:]
    /// The states of the zone, one of which a conflict shows: the server looks the record up when it has refused the
    /// save, and others may have written by then. Nil for the state that the save met; none while that is not asked.
    var conflictViews: [Zone?]?
    /// The records that came in answers to calls at the same time, each with the state that the model took it for; nil
    /// while nobody asks.
    var sightings: [Sighting]?
    /// What has happened since somebody last asked.
    private(set) var news: [News] = []
    private var lastVersion = 0

    mutating func note(_ record: Record, as stored: Stored) {
        sightings?.append(Sighting(record, as: stored))
    }

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
        zones[name] = Zone(
            life: (zones[name]?.life ?? 0) + 1, touched: nextVersion(),
            hadHierarchies: zones[name]?.hadHierarchies ?? false, lost: zones[name]?.lost ?? [:])
        news.append(News(zone: name))
    }

    mutating func deleteZone(_ name: String) -> Code? {
        guard var zone = open(name) else { return .zoneNotFound }
        zone.isOpen = false
        zone.records = [:]
        zone.participants = [:]
        zone.publicPermission = .none
        zone.hadHierarchies = zone.hadHierarchies || !zone.hierarchies.isEmpty
        zone.hierarchies = [:]
        zone.touched = nextVersion()
        zone.noteLosses()
        zones[name] = zone
        news.append(News(zone: name))
        return nil
    }

    /// Something changed there that is not looked at.
    mutating func touch(_ zone: String) {
        let version = nextVersion()
        zones[zone]?.touched = version
        zones[zone]?.noteLosses()
    }

    /// What somebody's private or shared database tells of its zones; nothing of one that they never had.
    func sights(for person: Int) -> [String: Sight] {
        zones.compactMapValues { zone in
            if person == 0 { return Sight(version: zone.touched, isGone: !zone.isOpen) }
            if zone.participants[person] != nil { return Sight(version: zone.touched, isGone: false) }
            return zone.lost[person].map { Sight(version: $0, isGone: true) }
        }
    }

    /// Takes over what a call led to.
    mutating func put(_ zone: Zone, _ name: String, _ told: [News]) {
        zones[name] = zone
        put(told)
    }

    mutating func put(_ told: [News]) { news += told }
}

extension ModelStore.Zone {
    /// Whoever took part until its last change, and does not any more, lost sight of it by that.
    fileprivate mutating func noteLosses() {
        for person in viewers where participants[person] == nil { lost[person] = touched }
        for person in participants.keys { lost[person] = nil }
        viewers = Set(participants.keys)
    }
}
