import SealKit
import SealLab
import SealStatements

extension ModelRun {
    /// Somebody is invited and accepts, may do more or less than before, is taken out, or leaves.
    mutating func share(_ owner: Int, _ zone: String, _ random: inout SeededRandom) async throws {
        let person = 1 + random.below(Self.participants)
        guard let guest = devices.firstIndex(where: { $0.person == person }) else { return }
        let before = store.open(zone)?.participants[person]
        guard store.open(zone) != nil, before == nil || random.chance(50) else {
            return try await leave(guest, zone)
        }
        let permission: Share.Participant.Permission = before == .readWrite || (before == nil && random.chance(30)) ? .readOnly : .readWrite
        let isEnding = before != nil && random.chance(40)
        doing = "device \(owner) \(isEnding ? "takes person \(person) out of" : "shares \(permission) with person \(person)") \(zone)"
        let database = devices[owner].database
        let id = RecordZone.ID(zoneName: zone)
        var share = try await Self.share(of: id, in: database)
        let name = try devices[guest].container.userRecordID()
        if isEnding {
            guard let found = share.participants.first(where: { $0.userIdentity.userRecordID?.recordName == name.recordName }) else {
                throw Finding("person \(person) is not among the participants")
            }
            share.removeParticipant(found)
        } else {
            share.addParticipant(try await devices[owner].container.shareParticipant(forUserRecordID: name, permission: permission))
        }
        share = try await database.save(share)
        if before == nil {
            guard let url = share.url else { throw Finding("a saved share has no URL") }
            let container = devices[guest].container
            try await container.accept(try await container.shareMetadata(for: url))
        }
        store.share(zone, with: person, isEnding ? nil : permission)
        tell(from: owner)
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

    private mutating func leave(_ guest: Int, _ zone: String) async throws {
        let device = devices[guest]
        doing = "person \(device.person) leaves \(zone)"
        let isIn = store.permission(of: device.person, in: zone) != nil
        let found = await code { () throws(SealKitError) in try await device.database.leaveShare(of: device.zoneID(zone)) }
        try checkCode(found, isIn ? nil : .zoneNotFound)
        guard isIn else { return }
        store.share(zone, with: device.person, nil)
        tell(from: guest)
    }
}
