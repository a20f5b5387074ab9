import SealKit

/// Records that are shared with what is below them.
extension ModelStore {
    struct Hierarchy {
        var root: String
        var participants: [Int: Participant] = [:]
        /// Of what is written in it from now on; different from those of all other scopes.
        var epoch: Int
        /// The version at which its present life began: of what was deleted in it before, or left it, nobody is told.
        var began: Int
        var isOpen = true
        /// Records that left it, each as of when it did.
        var departed: [String: Stored] = [:]
    }

    // MARK: Sight

    /// The zone as somebody sees it; nil where it is not there for them.
    func zone(_ name: String, for person: Int) -> Zone? {
        guard var zone = open(name) else { return nil }
        let isWhole = permission(of: person, in: name) != nil
        guard person != 0, zone.hadHierarchies || !zone.hierarchies.isEmpty else { return isWhole ? zone : nil }
        let mine = zone.openHierarchies.filter { $0.value.participants[person] != nil }
        guard isWhole || !mine.isEmpty else { return nil }
        zone.since = zone.sights[person] ?? 0
        var seen: [String: Stored] = [:]
        for share in mine.values {
            for (record, stored) in share.departed where stored.version > max(share.began, seen[record]?.version ?? 0) {
                seen[record] = stored
            }
        }
        for (record, stored) in zone.records {
            let isSeen =
                if let share = stored.share {
                    mine[share].map { !stored.isDeleted || stored.version > $0.began } ?? false
                } else {
                    isWhole
                }
            if isSeen { seen[record] = stored }
        }
        zone.records = seen
        return zone
    }

    /// What somebody may do in a scope of a zone; nil where it is not there for them.
    /// - Parameter share: nil for the zone's own.
    func permission(of person: Int, in share: String?, of zone: Zone) -> Permission? {
        guard person != 0 else { return .readWrite }
        guard let share else { return zone.participants[person]?.permission }
        return zone.openHierarchies[share]?.participants[person]?.permission
    }

    // MARK: Shares

    /// The owner shares a record, with some people who join at once.
    mutating func share(
        _ root: String, as name: String, with people: [Int: Participant], in zoneName: String
    ) -> Code? {
        guard var zone = open(zoneName) else { return .zoneNotFound }
        let isFree = zone.shareEpoch == nil && zone.openHierarchies[name] == nil
        guard isFree, zone.mayBeShared(root) else { return .alreadyShared }
        let version = nextVersion()
        zone.hierarchies[name] = Hierarchy(root: root, participants: people, epoch: newEpoch(), began: version)
        zone.records[root]?.rootOf = name
        write(root, in: &zone)
        for person in people.keys { zone.sights[person] = nextVersion() }
        settle(&zone, written: [root])
        put(zone, zoneName, [News(zone: zoneName)])
        return nil
    }

    /// The owner ends a share whose root stays.
    mutating func stop(_ name: String, in zoneName: String) {
        guard var zone = open(zoneName), let share = zone.openHierarchies[name] else { return }
        close(name, in: &zone)
        write(share.root, in: &zone)
        settle(&zone, written: [share.root])
        put(zone, zoneName, [News(zone: zoneName)])
    }

    /// The owner ends the share of the zone as a whole.
    mutating func stopWhole(_ zoneName: String) {
        guard var zone = open(zoneName), zone.shareEpoch != nil else { return }
        zone.participants = [:]
        zone.shareEpoch = nil
        zone.openKey()
        put(zone, zoneName, [News(zone: zoneName)])
    }

    /// - Parameter participant: nil for somebody who leaves, or is put out.
    mutating func set(_ participant: Participant?, for person: Int, inShare name: String, _ zoneName: String) {
        guard var zone = open(zoneName), let share = zone.openHierarchies[name] else { return }
        let before = share.participants[person]
        zone.hierarchies[name]?.participants[person] = participant
        if let before, participant.map({ $0.permission.rawValue < before.permission.rawValue }) ?? true {
            zone.hierarchies[name]?.epoch = newEpoch()
        }
        if before == nil || participant == nil { zone.sights[person] = nextVersion() }
        put(zone, zoneName, [News(zone: zoneName)])
    }

    /// Somebody leaves all that is shared of a zone.
    mutating func leaveAll(_ zoneName: String, _ person: Int) -> Code? {
        let mine = open(zoneName)?.openHierarchies.filter { $0.value.participants[person] != nil } ?? [:]
        guard !mine.isEmpty else { return leave(zoneName, person) }
        for name in mine.keys { set(nil, for: person, inShare: name, zoneName) }
        return nil
    }

    /// Nobody sees it any more.
    mutating func close(_ name: String, in zone: inout Zone) {
        guard let share = zone.hierarchies[name] else { return }
        for person in share.participants.keys { zone.sights[person] = nextVersion() }
        zone.hierarchies[name]?.isOpen = false
        zone.hierarchies[name]?.participants = [:]
        zone.records[share.root]?.rootOf = nil
    }

    private mutating func newEpoch() -> Int { 1_000_000 + nextVersion() }

    /// The owner's devices save a record as it is, into the scope that it belongs into now: all is sealed anew.
    private mutating func write(_ name: String, in zone: inout Zone) {
        guard var stored = zone.records[name] else { return }
        stored.version = nextVersion()
        stored.epoch = zone.epoch(of: zone.scope(of: name))
        for key in stored.marks.keys where ModelFields.sealed.contains(key) { stored.marks[key] = nextVersion() }
        zone.records[name] = stored
    }

    /// Every record comes where its parent is: what was written just now by that, the others by their owner's devices.
    mutating func settle(_ zone: inout Zone, written: Set<String>) {
        for (name, stored) in zone.live.sorted(by: { $0.key < $1.key }) {
            let scope = zone.scope(of: name)
            guard stored.share != scope else { continue }
            var moved = stored
            moved.share = scope
            if !written.contains(name) {
                moved.version = nextVersion()
                // Its key is carried: what is written next is sealed under a new one.
                moved.epoch = -1
            }
            zone.records[name] = moved
            if let scope { zone.hierarchies[scope]?.departed[name] = nil }
            zone.depart(name, from: stored.share, as: moved)
        }
    }
}

extension ModelStore.Zone {
    var openHierarchies: [String: ModelStore.Hierarchy] { hierarchies.filter(\.value.isOpen) }

    func isRoot(_ name: String) -> Bool { openHierarchies.values.contains { $0.root == name } }

    func epoch(of share: String?) -> Int { share.flatMap { hierarchies[$0]?.epoch } ?? epoch }

    /// Where a record belongs: into the nearest share whose root it is, or is below.
    /// - Parameter parents: those that records are to have.
    func scope(of name: String, with parents: [String: String?] = [:]) -> String? {
        var next: String? = name
        while let current = next {
            if let share = openHierarchies.first(where: { $0.value.root == current }) { return share.key }
            next = parents[current] ?? live[current]?.parent
        }
        return nil
    }

    /// Neither it nor anything above or below it is shared.
    func mayBeShared(_ name: String) -> Bool {
        scope(of: name) == nil
            && !openHierarchies.values.contains { share in
                var next = live[share.root]?.parent
                while let current = next {
                    if current == name { return true }
                    next = live[current]?.parent
                }
                return false
            }
    }

    /// The participants of a share are told that a record left it.
    mutating func depart(_ name: String, from share: String?, as stored: ModelStore.Stored) {
        guard let share, hierarchies[share]?.isOpen == true else { return }
        var tombstone = stored
        tombstone.isDeleted = true
        hierarchies[share]?.departed[name] = tombstone
    }
}
