import SealKit

/// Who may do what in a zone that is shared as a whole.
extension ModelStore {
    typealias Permission = Share.Participant.Permission
    typealias Role = Share.Participant.Role

    struct Participant: Equatable {
        var permission: Permission
        /// A public user came by the URL while the share was open to everybody.
        var role = Role.privateUser
    }

    /// What somebody may do in a zone as a whole; nil where it is not there for them.
    func permission(of person: Int, in zone: String) -> Permission? {
        person == 0 ? open(zone).map { _ in .readWrite } : open(zone)?.participants[person]?.permission
    }

    /// Nil where the zone is not there for somebody.
    func role(of person: Int, in zone: String) -> Role? {
        person == 0 ? open(zone).map { _ in .owner } : open(zone)?.participants[person]?.role
    }

    func mayAdminister(_ person: Int, _ zone: String) -> Bool {
        role(of: person, in: zone) == .owner || role(of: person, in: zone) == .administrator
    }

    // MARK: Changes

    /// What somebody asks for in a share.
    enum ShareChange {
        case participant(Int, Participant?)
        case publicPermission(Permission)
    }

    /// One change of a share by somebody who may or may not make it.
    mutating func change(_ zone: String, by person: Int, _ change: ShareChange) -> Code? {
        guard let role = role(of: person, in: zone) else { return .zoneNotFound }
        guard role == .owner || role == .administrator else { return .permissionFailure }
        if open(zone)?.openHierarchies.isEmpty == false { return .alreadyShared }
        switch change {
        case .publicPermission(let wanted):
            guard role == .owner else { return .permissionFailure }
            setPublic(wanted, zone)
        case .participant(let other, let wanted):
            if let refusal = refusal(of: wanted, for: other, isOwner: role == .owner, in: zones[zone]) {
                return refusal
            }
            set(wanted, for: other, zone)
        }
        return nil
    }

    /// - Parameter wanted: nil to take somebody out.
    private func refusal(of wanted: Participant?, for person: Int, isOwner: Bool, in zone: Zone?) -> Code? {
        guard let before = zone?.participants[person] else {
            // Nobody is invited by name to what everybody with the URL may join.
            return zone?.publicPermission == Permission.none ? nil : .invalidArguments
        }
        let changesRole = wanted.map { $0.role != before.role } ?? false
        guard isOwner || (before.role != .administrator && !changesRole) else { return .permissionFailure }
        // Whoever came by the URL has what everybody has.
        return before.role == .publicUser && wanted != nil ? .invalidArguments : nil
    }

    /// Somebody comes by the URL, while the share is open to everybody.
    mutating func join(_ zone: String, _ person: Int) -> Code? {
        guard let known = open(zone) else { return .unknownItem }
        guard known.participants[person] == nil else { return nil }
        guard known.publicPermission != .none else { return .unknownItem }
        set(Participant(permission: known.publicPermission, role: .publicUser), for: person, zone)
        return nil
    }

    /// Whoever writes next opens a new key, unless only somebody who came by the URL has gone.
    mutating func leave(_ zone: String, _ person: Int) -> Code? {
        guard let role = role(of: person, in: zone) else { return .zoneNotFound }
        zones[zone]?.participants[person] = nil
        if role != .publicUser { zones[zone]?.isKeyDue = true }
        changed(zone)
        return nil
    }

    private mutating func set(_ participant: Participant?, for person: Int, _ zone: String) {
        let before = zones[zone]?.participants[person]
        if before == nil {
            let version = nextVersion()
            zones[zone]?.sights[person] = version
        }
        zones[zone]?.participants[person] = participant
        zones[zone]?.markShared()
        if let before,
            participant.map({ $0.permission.rawValue < before.permission.rawValue || isDemoted($0, before) }) ?? true
        {
            zones[zone]?.openKey()
        }
        changed(zone)
    }

    private func isDemoted(_ now: Participant, _ before: Participant) -> Bool {
        before.role == .administrator && now.role != .administrator
    }

    private mutating func setPublic(_ wanted: Permission, _ zone: String) {
        guard var known = open(zone) else { return }
        let before = known.publicPermission
        known.markShared()
        known.publicPermission = wanted
        for (person, participant) in known.participants where participant.role == .publicUser {
            known.participants[person] = wanted == .none ? nil : Participant(permission: wanted, role: .publicUser)
        }
        if wanted.rawValue < before.rawValue { known.openKey() }
        put(known, zone, [])
        changed(zone)
    }

    private mutating func changed(_ zone: String) {
        touch(zone)
        put([News(zone: zone)])
    }

    // MARK: Keys

    /// Somebody opens a new key by hand, or because one is due.
    mutating func rotate(_ zone: String, by person: Int) -> Code? {
        guard let permission = permission(of: person, in: zone) else { return .zoneNotFound }
        if !mayAdminister(person, zone) {
            guard permission == .readWrite else { return .permissionFailure }
            let isDue = zones[zone]?.isKeyDue ?? false
            guard role(of: person, in: zone) != .publicUser else { return isDue ? .rotationDue : .permissionFailure }
            guard isDue else { return .permissionFailure }
        }
        openKey(zone)
        return nil
    }

    /// Who writes, and may open keys, does that first.
    mutating func openDueKey(_ zone: String, by person: Int) {
        guard zones[zone]?.isKeyDue == true, permission(of: person, in: zone) == .readWrite,
            role(of: person, in: zone) != .publicUser
        else { return }
        openKey(zone)
    }

    mutating func openKey(_ zone: String) {
        zones[zone]?.openKey()
        changed(zone)
    }

    struct Rekeyed: Equatable {
        var count = 0
        /// The share's own record, which is not theirs to write.
        var isShareLeft = false
    }

    /// Whoever may write seals again what was written under an older key.
    mutating func rekey(_ name: String, by person: Int) -> Result<Rekeyed, Refusal> {
        guard let permission = permission(of: person, in: name), var zone = open(name) else {
            return .failure(Refusal(code: .zoneNotFound))
        }
        guard permission == .readWrite else { return .failure(Refusal(code: .permissionFailure)) }
        if zone.isKeyDue {
            guard role(of: person, in: name) != .publicUser else { return .failure(Refusal(code: .rotationDue)) }
            zone.openKey()
        }
        var told: [News] = []
        var result = Rekeyed()
        for record in zone.stale {
            guard var stored = zone.records[record] else { continue }
            stored.epoch = zone.epoch
            stored.version = nextVersion()
            for key in stored.marks.keys where ModelFields.sealed.contains(key) { stored.marks[key] = nextVersion() }
            zone.records[record] = stored
            told.append(News(zone: name, record: (record, stored)))
            result.count += 1
        }
        if let written = zone.shareEpoch, written < zone.epoch {
            if mayAdminister(person, name) {
                zone.shareEpoch = zone.epoch
                result.count += 1
                told.append(News(zone: name))
            } else {
                result.isShareLeft = true
            }
        }
        put(zone, name, told)
        if result.count > 0 { touch(name) }
        return .success(result)
    }
}

extension ModelStore.Zone {
    /// The share's own record is written once, under the key of then.
    mutating func markShared() { if shareEpoch == nil { shareEpoch = epoch } }

    /// What is written from now on is sealed under another key.
    mutating func openKey() {
        epoch += 1
        isKeyDue = false
    }
}
