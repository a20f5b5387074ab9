import SealKit
import SealLab
import SealStatements

/// Records are shared with what is below them, move between the shares, and leave with them.
extension ModelRun {
    /// Of a hundred steps.
    static let hierarchyShare = 20

    mutating func playHierarchies(_ device: Int, _ owner: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        guard store.open(zone) != nil || random.chance(20) else { return try await makeZone(owner, zone) }
        switch random.below(100) {
        case 0..<4: try await makeZone(owner, zone)
        case 4: try await deleteZone(owner, zone)
        case 5..<17: try await shareRecord(owner, &random)
        case 17..<24: try await changeHierarchy(owner, &random)
        case 24..<29: try await leaveHierarchy(Self.owners + random.below(devices.count - Self.owners), &random)
        case 29..<35: try await stopHierarchy(owner, &random)
        case 35..<40: try await changeWhole(owner, &random)
        case 40..<74: try await modify(device, zone, &random)
        case 74..<83:
            guard let call = lookUp(device, zone, &random) else { return }
            try await play(call)
        case 83..<87: try await play(ModelQuery(device: device, zone: zone, &random))
        default: try await zoneChanges(device, zone, &random)
        }
    }

    /// Whether a record can go while the same call ends its share or leaves it, and where one belongs whose parent is
    /// saved by the same call and may be refused, is for scripted tests.
    func keepToHierarchies(_ person: Int, _ copies: inout [String: ModelDevice.Copy], _ deletes: inout Set<String>) {
        guard let known = store.open(Self.hierarchyZone) else { return }
        deletes = deletes.filter { !known.isRoot($0) }
        guard person != 0 else { return }
        let names = Set(copies.keys)
        let seen = store.zone(Self.hierarchyZone, for: person)
        copies = copies.filter { name, copy in
            guard let parent = copy.draft.parent else { return true }
            // Of a new copy of a root whose parent is out of sight a device knows the place only if it is in one share.
            let isLost = copy.draft.base == nil && known.isRoot(name) && seen?.live[parent] == nil
            return !names.contains(parent) && !isLost
        }
    }

    // MARK: Beginning and ending

    private mutating func shareRecord(_ owner: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        guard let known = store.open(zone),
            let root = random.one(of: known.live.keys.sorted().filter { !known.isRoot($0) })
        else { return }
        let name = Self.shareNames[random.below(Self.shareNames.count)]
        var guests: [(device: Int, permission: ModelStore.Permission)] = []
        for person in 1...Self.participants where random.chance(50) {
            guard let guest = random.one(of: devices.indices.filter { devices[$0].person == person }) else { continue }
            guests.append((guest, random.chance(30) ? .readOnly : .readWrite))
        }
        let invited = guests.map { "\($0.permission) device \($0.device)" }
        doing = "device \(owner) shares \(root) of \(zone) as \(name) with \(invited)"
        let device = devices[owner]
        var saved: Share?
        var found: SealKitError.Code?
        do {
            let record = try await device.database.record(for: device.recordID(root, zone))
            var share = Share(rootRecord: record, shareID: device.recordID(name, zone))
            for (guest, permission) in guests {
                let id = try devices[guest].container.userRecordID()
                share.addParticipant(
                    try await device.container.shareParticipant(forUserRecordID: id, permission: permission))
            }
            saved = try await device.database.save(share, rootRecord: record).share
        } catch {
            found = error.code
        }
        let people = guests.map { (devices[$0.device].person, ModelStore.Participant(permission: $0.permission)) }
        try checkCode(found, store.share(root, as: name, with: Dictionary(uniqueKeysWithValues: people), in: zone))
        if let saved { for guest in guests { try await accept(saved, on: guest.device) } }
        tell(from: owner)
        count(found == nil ? .hierarchyShared : .refusedHierarchy)
    }

    /// By its record, or with its root, which goes with all that is below it or stays for that.
    private mutating func stopHierarchy(_ owner: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        guard let known = store.open(zone),
            let (name, share) = random.one(of: known.openHierarchies.sorted(by: { $0.key < $1.key }))
        else { return }
        guard random.chance(50) else {
            doing = "device \(owner) ends \(name) of \(zone)"
            let device = devices[owner]
            let found = await code { () throws(SealKitError) in
                try await device.database.deleteRecord(withID: device.recordID(name, zone))
            }
            try checkCode(found, nil)
            store.stop(name, in: zone)
            tell(from: owner)
            return count(.hierarchyStopped)
        }
        let below = random.chance(70) ? known.live.keys.sorted().filter { known.isBelow($0, share.root) } : []
        try await play(
            Modification(
                device: owner, zone: zone, saving: [], deleting: ([share.root] + below).sorted(),
                policy: .ifServerRecordUnchanged, isAtomic: true, keeps: []))
        if store.open(zone)?.openHierarchies[name] == nil { count(.rootDeleted) }
    }

    /// A zone is shared as a whole, or hierarchies in it are.
    private mutating func changeWhole(_ owner: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        let guest = Self.owners + random.below(devices.count - Self.owners)
        guard let known = store.open(zone) else { return }
        guard known.shareEpoch != nil, random.chance(50) else {
            return try await changeParticipant(owner, devices[guest].person, guest, zone, &random)
        }
        doing = "device \(owner) ends the share of \(zone) as a whole"
        let device = devices[owner]
        let found = await code { () throws(SealKitError) in
            try await device.database.deleteRecord(withID: device.recordID(Share.recordName, zone))
        }
        try checkCode(found, nil)
        store.stopWhole(zone)
        tell(from: owner)
        count(.wholeStopped)
    }

    // MARK: People

    private mutating func changeHierarchy(_ owner: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        let open = store.open(zone)?.openHierarchies ?? [:]
        guard let (name, known) = random.one(of: open.sorted(by: { $0.key < $1.key })) else { return }
        let guest = Self.owners + random.below(devices.count - Self.owners)
        let person = devices[guest].person
        let before = known.participants[person]
        let permission: ModelStore.Permission = random.chance(30) ? .readOnly : .readWrite
        let wanted = before != nil && random.chance(50) ? nil : ModelStore.Participant(permission: permission)
        let role = wanted.map { "\($0.permission)" } ?? "nobody"
        doing = "device \(owner) makes person \(person) in \(name) of \(zone) \(role)"
        let device = devices[owner]
        let id = try devices[guest].container.userRecordID()
        var share = try await device.database.share(withID: device.recordID(name, zone))
        let found = share.participants.first { $0.userIdentity.userRecordID?.recordName == id.recordName }
        try check((found != nil) == (before != nil), "the share has other participants than it should have")
        switch (found, wanted) {
        case (let found?, nil): share.removeParticipant(found)
        case (var changed?, let wanted?):
            changed.permission = wanted.permission
            share.addParticipant(changed)
        case (nil, let wanted?):
            share.addParticipant(
                try await device.container.shareParticipant(forUserRecordID: id, permission: wanted.permission))
        case (nil, nil): break
        }
        let saved = try await device.database.save(share)
        store.set(wanted, for: person, inShare: name, zone)
        if before == nil { try await accept(saved, on: guest) }
        tell(from: owner)
        count(before == nil ? .hierarchyJoined : wanted == nil ? .hierarchyTakenOut : .hierarchyRightChanged)
    }

    /// Everything at once, or one share by its record or its root.
    private mutating func leaveHierarchy(_ guest: Int, _ random: inout SeededRandom) async throws {
        let zone = Self.hierarchyZone
        let device = devices[guest]
        let mine = (store.open(zone)?.openHierarchies ?? [:]).filter { $0.value.participants[device.person] != nil }
        guard random.chance(70), let (name, share) = random.one(of: mine.sorted(by: { $0.key < $1.key })) else {
            doing = "device \(guest) of person \(device.person) leaves \(zone)"
            let found = await code { () throws(SealKitError) in
                try await device.database.leaveShare(of: device.zoneID(zone))
            }
            try checkCode(found, store.leaveAll(zone, device.person))
            return tell(from: guest)
        }
        let deleted = random.chance(50) ? share.root : name
        doing = "device \(guest) of person \(device.person) leaves \(name) of \(zone) by deleting \(deleted)"
        let found = await code { () throws(SealKitError) in
            try await device.database.deleteRecord(withID: device.recordID(deleted, zone))
        }
        try checkCode(found, nil)
        store.set(nil, for: device.person, inShare: name, zone)
        tell(from: guest)
        count(.hierarchyLeft)
    }
}

extension ModelStore.Zone {
    /// Through whatever scopes.
    func isBelow(_ name: String, _ ancestor: String) -> Bool {
        var next = live[name]?.parent
        while let current = next {
            if current == ancestor { return true }
            next = live[current]?.parent
        }
        return false
    }
}
