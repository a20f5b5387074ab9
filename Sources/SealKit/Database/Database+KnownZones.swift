import SealClient
import SealPrimitives
import SealStatements

/// Zones that this device knows, held against lists of all: a list says nothing by leaving one out.
extension Database {
    /// The zones of this database whose rosters this device has verified as open, with this account in them, each with
    /// its life.
    func knownZones() async throws(SealKitError) -> [RecordZone.ID: UInt32] {
        var zones: [RecordZone.ID: UInt32] = [:]
        for scope in try await core.knownScopes() {
            let isOwn = scope.owner == core.userID()
            // With an own zone its shares end.
            guard isOwn == (self.scope == .private), !isOwn || scope.shareRecordName.isEmpty,
                let roster = try await core.keeper(of: scope).known(), !roster.isClosed,
                roster.members[core.userID()] != nil
            else { continue }
            let life = roster.incarnations.zone
            zones[core.zoneID(of: scope), default: life] = max(zones[core.zoneID(of: scope)] ?? 0, life)
        }
        return zones
    }

    /// What has become of zones that a list of all has left out. One that nothing signed has ended is there still: it
    /// is given out, and that it was left out is kept as a violation.
    /// - Parameters:
    ///   - zones: with their lives, as they were known before the server was asked.
    ///   - isListComplete: nothing else names the zones.
    func leftOut(
        _ zones: [RecordZone.ID: UInt32], isListComplete: Bool = true
    ) async throws(SealKitError) -> [RecordZone] {
        var left: [RecordZone] = []
        var waiting = zones.keys.sorted { $0.description < $1.description }
        while !waiting.isEmpty {
            let ids = Array(waiting.prefix(Limits.itemsPerRequest))
            waiting.removeFirst(ids.count)
            let results = try await recordZones(for: ids)
            let now = try await isListComplete ? knownZones() : [:]
            for id in ids {
                switch results[id] {
                case .success(let zone):
                    left.append(zone)
                    // Made anew since, it is another zone.
                    guard isListComplete, now[id] == zones[id] else { continue }
                    _ = await core.noted(
                        SealKitError(
                            .rollback, "the server left the zone \(id) out of a list of all zones, and has it",
                            remedy: "it was asked for, and is there; distrust a server that keeps doing so"), zone: id)
                case .failure(let error) where error.code == .zoneNotFound: continue
                case .failure(let error) where error.code == .rollback: left.append(try await known(id))
                case .failure(let error): throw error
                case nil: throw SealKitError.lacking("the zone \(id)")
                }
            }
        }
        return left
    }

    /// A zone as this device knows it, whatever the server says.
    private func known(_ id: RecordZone.ID) async throws(SealKitError) -> RecordZone {
        guard let roster = try await keeper(id).known() else { return RecordZone(zoneID: id) }
        return RecordZone(zoneID: id).described(by: roster)
    }
}

extension RecordZone {
    /// With what the zone's own roster says of it.
    func described(by roster: Roster) -> RecordZone {
        var zone = self
        zone.encryptionScope = .init(roster.encryptionScope)
        // It is shared as a whole or not at all.
        if zone.encryptionScope == .perZone { zone.capabilities.remove(.sharing) }
        zone.isShared = roster.isSharedWithSomebody
        zone.share = roster.isShared ? Record.Reference(recordName: Share.recordName) : nil
        zone.incarnation = roster.incarnations.zone
        return zone
    }
}
