import SealKit
import SealLab
import SealStatements

/// People come and go, and may do more or less than before.
extension ModelRun {
    mutating func share(_ zone: String, _ random: inout SeededRandom) async throws {
        let owner = random.below(Self.owners)
        let guest = Self.owners + random.below(devices.count - Self.owners)
        // Mostly by who may.
        let administrators = devices.indices.filter { store.role(of: devices[$0].person, in: zone) == .administrator }
        let helper = random.chance(50) ? random.one(of: administrators) : nil
        let actor = helper ?? (random.chance(80) ? owner : random.below(devices.count))
        switch random.below(20) {
        case 0..<4: try await changePublicPermission(random.chance(80) ? owner : actor, zone, &random)
        case 4..<7: try await join(guest, zone, owner)
        case 7..<9: try await leave(guest, zone)
        case 9: try await leaveBehind(zone, &random)
        default: try await changeParticipant(actor, devices[guest].person, guest, zone, &random)
        }
    }

    /// Somebody leaves whose going makes a new key due; whoever came by the URL writes nothing before that.
    private mutating func leaveBehind(_ zone: String, _ random: inout SeededRandom) async throws {
        let roles = devices.map { store.role(of: $0.person, in: zone) }
        let leaving = devices.indices.filter { roles[$0] == .privateUser || roles[$0] == .administrator }
        guard let leaver = random.one(of: leaving) else { return }
        try await leave(leaver, zone)
        guard let writer = random.one(of: devices.indices.filter { roles[$0] == .publicUser }) else { return }
        try await modify(writer, zone, &random)
    }

    // MARK: By name

    mutating func changeParticipant(
        _ actor: Int, _ person: Int, _ guest: Int, _ zone: String, _ random: inout SeededRandom
    ) async throws {
        let before = store.open(zone)?.participants[person]
        let wanted = Self.wanted(instead: before, &random)
        doing =
            "device \(actor) makes person \(person) in \(zone) \(wanted.map { "\($0.role) \($0.permission)" } ?? "nobody")"
        let name = try devices[guest].container.userRecordID()
        let container = devices[actor].container
        let saved = try await edit(actor, zone) { share async throws in
            let found = share.participants.first { $0.userIdentity.userRecordID?.recordName == name.recordName }
            switch (found, wanted) {
            case (let found?, nil): share.removeParticipant(found)
            case (var changed?, let wanted?):
                (changed.role, changed.permission) = (wanted.role, wanted.permission)
                share.addParticipant(changed)
            case (nil, let wanted?):
                share.addParticipant(
                    try await container.shareParticipant(forUserRecordID: name, permission: wanted.permission))
            case (nil, nil): break
            }
        }
        let role = store.role(of: devices[actor].person, in: zone)
        try checkCode(saved.code, store.change(zone, by: devices[actor].person, .participant(person, wanted)))
        guard let share = saved.share else { return count(.refusedChange) }
        if before == nil { try await accept(share, on: guest) }
        tell(from: actor)
        if role == .administrator { count(.changedByAdministrator) }
        count(Self.kind(from: before, to: wanted))
    }

    /// Somebody new, another permission or role, or nobody.
    private static func wanted(instead before: ModelStore.Participant?, _ random: inout SeededRandom) -> ModelStore
        .Participant?
    {
        guard let before else { return ModelStore.Participant(permission: random.chance(30) ? .readOnly : .readWrite) }
        if random.chance(25) { return nil }
        if before.role == .administrator {
            return ModelStore.Participant(permission: random.chance(50) ? .readWrite : .readOnly)
        }
        if random.chance(50) { return ModelStore.Participant(permission: .readWrite, role: .administrator) }
        return ModelStore.Participant(permission: before.permission == .readWrite ? .readOnly : .readWrite)
    }

    private static func kind(from before: ModelStore.Participant?, to now: ModelStore.Participant?) -> ModelKind {
        guard let before else { return .invited }
        guard let now else { return .takenOut }
        if before.role != now.role { return now.role == .administrator ? .madeAdministrator : .madePrivateUser }
        return now.permission == .readWrite ? .permissionRaised : .permissionLowered
    }

    // MARK: By the URL

    private mutating func changePublicPermission(_ actor: Int, _ zone: String, _ random: inout SeededRandom)
        async throws
    {
        let before = store.open(zone)?.publicPermission ?? .none
        let others: [ModelStore.Permission] = [.none, .readOnly, .readWrite].filter { $0 != before }
        let wanted = others[random.below(others.count)]
        doing = "device \(actor) lets everybody with the URL of \(zone) have \(wanted)"
        let saved = try await edit(actor, zone) { $0.publicPermission = wanted }
        try checkCode(saved.code, store.change(zone, by: devices[actor].person, .publicPermission(wanted)))
        guard saved.share != nil else { return count(.refusedChange) }
        tell(from: actor)
        count(
            wanted == .none
                ? .closedToPublic
                : before == .none ? .openedToPublic : wanted == .readWrite ? .publicRaised : .publicLowered)
    }

    /// With the URL that the owner sees now.
    private mutating func join(_ guest: Int, _ zone: String, _ owner: Int) async throws {
        guard store.open(zone)?.shareEpoch != nil else { return }
        let person = devices[guest].person
        doing = "device \(guest) of person \(person) comes by the URL of \(zone)"
        let share = try await devices[owner].database.share(for: devices[owner].zoneID(zone))
        let isNew = store.role(of: person, in: zone) == nil
        var found: SealKitError.Code?
        do { try await accept(share, on: guest) } catch let error as SealKitError { found = error.code }
        try checkCode(found, store.join(zone, person))
        tell(from: guest)
        if isNew { count(found == nil ? .joinedByURL : .refusedURL) }
    }

    func accept(_ share: Share, on guest: Int) async throws {
        guard let url = share.url else { throw Finding("a saved share has no URL") }
        let container = devices[guest].container
        try await container.accept(try await container.shareMetadata(for: url))
    }

    private mutating func leave(_ guest: Int, _ zone: String) async throws {
        let device = devices[guest]
        doing = "device \(guest) of person \(device.person) leaves \(zone)"
        let found = await code { () throws(SealKitError) in
            try await device.database.leaveShare(of: device.zoneID(zone))
        }
        try checkCode(found, store.leave(zone, device.person))
        tell(from: guest)
        if found == nil { count(.left) }
    }

    // MARK: Saving a share

    /// Fetches a zone's share, or begins one, changes it and saves it.
    private func edit(
        _ device: Int, _ zone: String, _ change: (inout Share) async throws -> Void
    ) async throws -> (share: Share?, code: SealKitError.Code?) {
        let (database, id) = (devices[device].database, devices[device].zoneID(zone))
        do {
            var share = try await Self.share(of: id, in: database)
            try await change(&share)
            return (try await database.save(share), nil)
        } catch let error as SealKitError {
            return (nil, error.code)
        }
    }

    /// As it is, or a new one.
    private static func share(of zone: RecordZone.ID, in database: Database) async throws(SealKitError) -> Share {
        do {
            return try await database.share(for: zone)
        } catch {
            guard error.code == .unknownItem else { throw error }
            return Share(recordZoneID: zone)
        }
    }
}
