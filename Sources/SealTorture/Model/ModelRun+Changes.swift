import SealKit
import SealLab

extension ModelRun {
    /// One page after a token that this device has, old ones too; or all of it.
    mutating func zoneChanges(_ device: Int, _ zone: String, _ random: inout SeededRandom) async throws {
        if random.chance(15) { return try await readAll(device, zone) }
        let token = random.chance(85) ? random.one(of: devices[device].zoneTokens[zone] ?? []) : nil
        let limit = random.chance(60) ? 1 + random.below(4) : nil
        let desired = random.chance(20) ? ModelFields.keys.filter { _ in random.chance(50) } : nil
        doing =
            "device \(device) reads a page of \(zone) \(token == nil ? "from the start" : "since a token"), limit \(limit ?? 0)"
        if try await page(device, zone, since: token, limit: limit, desired: desired) != nil { count(.zoneFeeds) }
    }

    mutating func readAll(_ device: Int, _ zone: String) async throws {
        doing = "device \(device) reads all of \(zone)"
        var token: (sdk: ServerChangeToken, model: ModelToken)?
        repeat {
            guard let (next, isMore) = try await page(device, zone, since: token, limit: 3, desired: nil) else {
                return
            }
            token = isMore ? next : nil
        } while token != nil
    }

    /// - Returns: nil where the zone or the token is gone, as it should be.
    private mutating func page(
        _ device: Int, _ zone: String, since token: (sdk: ServerChangeToken, model: ModelToken)?, limit: Int?,
        desired: [String]?
    ) async throws -> (token: (sdk: ServerChangeToken, model: ModelToken), isMore: Bool)? {
        let known = store.zone(zone, for: devices[device].person)
        let page: Database.RecordZoneChanges
        do {
            page = try await devices[device].database.recordZoneChanges(
                inZoneWith: devices[device].zoneID(zone), since: token?.sdk, desiredKeys: desired, resultsLimit: limit)
        } catch {
            let isOld = token.map { $0.model.life != known?.life || $0.model.began < known?.since ?? 0 } ?? false
            try checkCode(error.code, known == nil ? .zoneNotFound : isOld ? .changeTokenExpired : nil)
            return nil
        }
        guard let known else { throw Finding("a zone that is not there answers") }
        var next = token?.model ?? ModelToken(life: known.life, began: store.nextVersion())
        try check(next.began >= known.since, "a token is good from before another share was joined or left")
        try check(next.life == known.life, "a token of an earlier life of the zone is good")
        let mayRepeat = next.isMidway && !page.moreComing
        next.isMidway = (token == nil || next.isMidway) && page.moreComing
        try check(
            mayRepeat || limit.map { page.modifications.count + page.deletions.count <= $0 } ?? true,
            "a page is longer than its limit")
        // Shares' own records are not the model's.
        for (id, result) in page.modifications where Self.recordNames.contains(id.recordName) {
            guard let stored = known.records[id.recordName] else {
                throw Finding("\(id.recordName) comes and never was")
            }
            let record = try result.get()
            try check(!stored.isDeleted, "\(id.recordName) comes as a change and is not there")
            try record.checkEqual(stored, desired: desired)
            try next.deliver(id.recordName, stored.version, "the zone's feed", mayRepeat: mayRepeat)
            next.held.insert(id.recordName)
            devices[device].copies[ModelDevice.Key(zone: zone, name: id.recordName)] = record.copy(
                stored, life: known.life)
        }
        for (id, type) in page.deletions where Self.recordNames.contains(id.recordName) {
            guard let stored = known.records[id.recordName], stored.isDeleted else {
                throw Finding("\(id.recordName) comes as a deletion and is there")
            }
            try check(type == stored.type, "\(id.recordName) was of type \(stored.type)")
            try next.deliver(id.recordName, stored.version, "the zone's feed", mayRepeat: mayRepeat)
            next.held.remove(id.recordName)
        }
        if !page.moreComing {
            try next.checkComplete(known.records.mapValues { ($0.version, $0.isDeleted) }, "the zone's feed")
        }
        devices[device].zoneTokens[zone, default: []].append((page.changeToken, next))
        return ((page.changeToken, next), page.moreComing)
    }

    /// One page of what there is to tell of the zones, after a token that this device has, old ones too.
    mutating func databaseChanges(_ device: Int, _ random: inout SeededRandom) async throws {
        let token = random.chance(85) ? random.one(of: devices[device].databaseTokens) : nil
        let limit = random.chance(50) ? 1 : nil
        doing =
            "device \(device) reads the database's changes \(token == nil ? "from the start" : "since a token"), limit \(limit ?? 0)"
        _ = try await databasePage(device, since: token, limit: limit)
    }

    mutating func readDatabase(_ device: Int) async throws {
        doing = "device \(device) reads all of the database's changes"
        var token: ModelDevice.Token?
        repeat {
            let (next, isMore) = try await databasePage(device, since: token, limit: 1)
            token = isMore ? next : nil
        } while token != nil
    }

    private mutating func databasePage(
        _ device: Int, since token: ModelDevice.Token?, limit: Int?
    ) async throws -> (token: ModelDevice.Token, isMore: Bool) {
        let person = devices[device].person
        let page = try await devices[device].database.databaseChanges(since: token?.sdk, resultsLimit: limit)
        var next = token?.model ?? ModelToken()
        let mayRepeat = next.isMidway && !page.moreComing
        next.isMidway = (token == nil || next.isMidway) && page.moreComing
        // What moves records in hierarchies, and how often, is nobody's to count.
        let zones = store.sights(for: person).filter { $0.key != Self.hierarchyZone }
        for zone in page.modifications where zone.zoneID.zoneName != Self.hierarchyZone {
            let name = zone.zoneID.zoneName
            try check(zones[name]?.isGone == false, "zone \(name) comes as a change and is not there")
            try next.deliver(name, zones[name]?.version, "the database's feed", mayRepeat: mayRepeat)
        }
        // Whoever took part is told no more than that it is not shared with them now.
        let expected: Database.DatabaseChanges.DeletionReason = person == 0 ? .deleted : .unshared
        for (id, reason) in page.deletions where id.zoneName != Self.hierarchyZone {
            let name = id.zoneName
            try check(
                zones[name]?.isGone == true && reason == expected, "zone \(name) comes as \(reason) and is there")
            try next.deliver(name, zones[name]?.version, "the database's feed")
        }
        if !page.moreComing {
            try next.checkComplete(zones.mapValues { ($0.version, $0.isGone) }, "the database's feed")
        }
        devices[device].databaseTokens.append((page.changeToken, next))
        count(person == 0 ? .databaseFeeds : .sharedDatabaseFeeds)
        return ((page.changeToken, next), page.moreComing)
    }
}
