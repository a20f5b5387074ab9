import SealKit

/// Saves in a zone with hierarchical shares: each record by the scope that it is in, and comes into.
extension ModelStore {
    mutating func modifyHierarchies(
        _ zoneName: String, by person: Int, saving: [Draft], deleting: [String], _ policy: Database.SavePolicy,
        atomically: Bool
    ) -> [String: Outcome] {
        let names = saving.map(\.name) + deleting
        guard zone(zoneName, for: person) != nil else { return outcomes(names, .failed(.zoneNotFound)) }
        // Whatever is written next is.
        if open(zoneName)?.isKeyDue == true { zones[zoneName]?.openKey() }
        guard let seen = zone(zoneName, for: person), var zone = open(zoneName) else { return [:] }
        let place = Place(person: person, zone: zone, seen: seen, saving: saving)
        var refused: [String: Set<Code>] = [:]
        var saves: [String: Stored] = [:]
        for draft in saving {
            switch judged(draft, place, policy) {
            case .success(let stored): saves[draft.name] = stored
            case .failure(let refusal): refused[draft.name] = refusal.codes
            }
        }
        // Deleting what is not there is a success, whatever becomes of the others.
        var deletes = Set(deleting.filter { seen.live[$0] != nil })
        for name in deletes where !mayWrite(place, seen.live[name]?.share) {
            deletes.remove(name)
            refused[name] = [.permissionFailure]
        }
        func mayGo(_ name: String) -> Bool { !zone.isRoot(name) && mayWrite(place, zone.live[name]?.share) }
        let asked = deletes
        var broken: [String: Code] = [:]
        let gone = Self.refuseBrokenReferences(&saves, &deletes, &broken, in: zone, where: mayGo)
        for (name, code) in broken {
            // What is in the way may be a record of another scope, which the device deletes beside the target.
            let along = asked.contains(name) ? zone.goingWith(name, where: mayGo) : []
            let isAlone = along.allSatisfy { zone.live[$0]?.share == zone.live[name]?.share }
            refused[name] = isAlone ? [code] : [code, .batchRequestFailed]
        }
        var result: [String: Outcome] = [:]
        for name in deleting where refused[name] == nil { result[name] = .deleted }
        for (name, codes) in refused { result[name] = .failedByOne(of: codes) }
        if atomically, !refused.isEmpty {
            for name in Array(saves.keys) + Array(deletes) { result[name] = .failed(.batchRequestFailed) }
            return result
        }
        let alone = zone.deletedAlone(deletes, beside: Set(saves.keys), where: mayGo)
        for name in deletes.sorted() + gone.keys.sorted() {
            delete(name, along: alone.contains(name) ? nil : gone[name], in: &zone)
        }
        for (name, stored) in saves.sorted(by: { $0.key < $1.key }) {
            var stored = stored
            stored.version = nextVersion()
            let former = zone.records[name]
            zone.records[name] = stored
            // Deleted in a share and made again elsewhere, it has left the share by that.
            if let former, former.isDeleted, let share = former.share, share != zone.scope(of: name),
                former.version > zone.hierarchies[share]?.began ?? 0
            {
                zone.depart(name, from: share, as: stored)
            }
        }
        settle(&zone, written: Set(saves.keys))
        for name in saves.keys { if let stored = zone.records[name] { result[name] = .saved(stored) } }
        put(zone, zoneName, [News(zone: zoneName)])
        return result
    }

    /// A root takes its share along.
    private mutating func delete(_ name: String, along target: String?, in zone: inout Zone) {
        if let share = zone.live[name]?.rootOf { close(share, in: &zone) }
        zone.records[name]?.isDeleted = true
        zone.records[name]?.wentWith = target
        zone.records[name]?.version = nextVersion()
    }

    // MARK: Judging

    /// Who saves, what is there, and what the save makes of it.
    private struct Place {
        let person: Int
        let zone: Zone
        let seen: Zone
        /// The parents that records will have.
        var parents: [String: String?] = [:]
        /// Only what is below a root is theirs to write.
        let seesShares: Bool

        init(person: Int, zone: Zone, seen: Zone, saving: [Draft]) {
            (self.person, self.zone, self.seen) = (person, zone, seen)
            seesShares = person != 0 && zone.participants[person] == nil
            for draft in saving {
                guard let server = zone.live[draft.name], server.version != draft.base?.version,
                    draft.parent == draft.base?.parent
                else {
                    parents.updateValue(draft.parent, forKey: draft.name)
                    continue
                }
                parents.updateValue(server.parent, forKey: draft.name)
            }
        }
    }

    private struct Refused: Error {
        let codes: Set<Code>
        init(_ codes: Code...) { self.codes = Set(codes) }
        init(_ codes: Set<Code>) { self.codes = codes }
    }

    private func mayWrite(_ place: Place, _ share: String?) -> Bool {
        permission(of: place.person, in: share, of: place.zone) == .readWrite
    }

    private mutating func judged(
        _ draft: Draft, _ place: Place, _ policy: Database.SavePolicy
    ) -> Result<Stored, Refused> {
        if let base = draft.base, base.life != place.zone.life { return .failure(Refused(.unknownItem)) }
        if let refusal = refusal(of: draft, place, policy) {
            // A copy of a scope that they are out of, which a device may take for one of an earlier share.
            let isOut = draft.base.map { permission(of: place.person, in: $0.share, of: place.zone) == nil } ?? false
            guard isOut, refusal.codes.contains(.permissionFailure) else { return .failure(refusal) }
            return .failure(Refused(refusal.codes.union([.unknownItem])))
        }
        var scoped = place.zone
        scoped.epoch = scoped.epoch(of: scoped.scope(of: draft.name, with: place.parents))
        switch merged(draft, by: place.person, in: scoped, policy) {
        case .success(var stored):
            stored.share = scoped.live[draft.name]?.share
            stored.rootOf = scoped.live[draft.name]?.rootOf
            return .success(stored)
        case .failure(let refusal): return .failure(Refused(refusal.code))
        }
    }

    /// Why somebody does not save this at this place; nil where the record's versions alone decide.
    private func refusal(of draft: Draft, _ place: Place, _ policy: Database.SavePolicy) -> Refused? {
        guard place.person != 0 else { return nil }
        let there = place.seen.live[draft.name]
        let isHidden =
            there == nil && place.zone.records[draft.name] != nil
            && place.seen.records[draft.name] != place.zone.records[draft.name]
        // A copy of a share that they are out of: of where the record is now the device may know nothing at all.
        let isOut = draft.base.map { permission(of: place.person, in: $0.share, of: place.zone) == nil } ?? false
        guard let there else {
            if isOut { return Refused(.permissionFailure, .unknownItem) }
            if isHidden { return Refused(.permissionFailure) }
            if let base = draft.base {
                guard !isElsewhere(draft, base.share, place), mayWrite(place, base.share) else {
                    return Refused(.permissionFailure)
                }
                return hasUnseenParent(draft, place) ? Refused(.permissionFailure, .unknownItem) : nil
            }
            if let former = place.seen.records[draft.name]?.share, isElsewhere(draft, former, place) {
                return Refused(.permissionFailure)
            }
            return refusalToPut(draft.parent, place)
        }
        // Only what reaches the record can meet another version of it.
        let isSame = draft.base?.version == there.version
        let conflicts = !isSame && policy == .ifServerRecordUnchanged && !(draft.base?.showsTheSame(as: there) ?? false)
        let isNew = draft.base == nil
        let stays = draft.base.map { $0.rootOf != nil || $0.parent == draft.parent } ?? false
        let target = stays ? draft.base?.share : scope(ofParent: draft.parent, place)
        if hasUnseenParent(draft, place), !stays {
            var codes: Set<Code> = [.permissionFailure]
            if conflicts { codes.insert(.serverRecordChanged) }
            if place.zone.live[draft.parent ?? ""] == nil { codes.insert(.referenceViolation) }
            return there.rootOf == nil || conflicts ? Refused(codes) : refusalToWrite(there, place)
        }
        let isSent =
            isNew && (draft.parent != nil || !place.seesShares)
            ? mayWrite(place, target) : !isOut && (stays || target == draft.base?.share) && mayWrite(place, target)
        guard isSent || (mayWrite(place, there.share) && (!isSame && (!isNew || draft.parent == nil))) else {
            return Refused(.permissionFailure)
        }
        if conflicts {
            // Where they may only read what it has become, either comes first.
            return mayWrite(place, there.share) ? nil : Refused(.permissionFailure, .serverRecordChanged)
        }
        guard mayWrite(place, there.share) else { return Refused(.permissionFailure) }
        // A root's own parent counts for nothing.
        guard place.seesShares, there.rootOf == nil else { return nil }
        let parent = place.parents[draft.name] ?? nil
        guard scope(ofParent: parent, place) == there.share else { return Refused(.permissionFailure) }
        return nil
    }

    private func refusalToWrite(_ there: Stored, _ place: Place) -> Refused? {
        mayWrite(place, there.share) ? nil : Refused(.permissionFailure)
    }

    /// Whether a save with this parent would not be in that share.
    private func isElsewhere(_ draft: Draft, _ share: String?, _ place: Place) -> Bool {
        guard place.seesShares, draft.base == nil || draft.base?.parent != draft.parent, draft.base?.rootOf == nil
        else { return false }
        return !hasUnseenParent(draft, place) && scope(ofParent: draft.parent, place) != share
    }

    /// Of a parent out of sight nobody but the server knows where it is.
    private func hasUnseenParent(_ draft: Draft, _ place: Place) -> Bool {
        place.seesShares && draft.parent != nil && draft.parent != draft.base?.parent
            && scope(ofParent: draft.parent, place) == nil
    }

    /// Why no record is made below this parent.
    private func refusalToPut(_ parent: String?, _ place: Place) -> Refused? {
        guard place.seesShares else { return mayWrite(place, nil) ? nil : Refused(.permissionFailure) }
        guard let parent else { return Refused(.permissionFailure) }
        guard let scope = scope(ofParent: parent, place) else {
            let isNowhere = place.zone.live[parent] == nil
            return isNowhere ? Refused(.permissionFailure, .referenceViolation) : Refused(.permissionFailure)
        }
        return mayWrite(place, scope) ? nil : Refused(.permissionFailure)
    }

    /// The share that what has this parent is in, as far as the person sees it.
    private func scope(ofParent parent: String?, _ place: Place) -> String? {
        parent.flatMap { place.seen.live[$0]?.share }
    }
}

extension ModelStore.Zone {
    /// Of the records that go with deletions, those that get deletions of their own: the ones in other scopes than
    /// their targets, with all that leads there; and the targets.
    fileprivate func deletedAlone(
        _ targets: Set<String>, beside saved: Set<String>, where mayGo: (String) -> Bool
    ) -> Set<String> {
        var alone = targets
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for target in alone.sorted() {
                var next = [target]
                var ways: [String: String] = [:]
                while let name = next.popLast() {
                    for (source, stored) in live.sorted(by: { $0.key < $1.key })
                    where ModelFields.target(of: stored.fields) == name && source != target && ways[source] == nil
                        && !saved.contains(source) && !alone.contains(source) && mayGo(source)
                    {
                        ways[source] = name
                        guard stored.share != live[target]?.share else {
                            next.append(source)
                            continue
                        }
                        var way: String? = source
                        while let current = way, current != target {
                            alone.insert(current)
                            way = ways[current]
                        }
                        hasGrown = true
                    }
                }
            }
        }
        return alone
    }
}
