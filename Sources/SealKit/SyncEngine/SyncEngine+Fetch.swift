extension SyncEngine {
    /// A fetch from the account to its end.
    /// - Returns: what has failed without keeping the rest from being fetched: zones, and what the server says of which
    ///   there are.
    /// - Throws: what has ended it.
    func fetch(_ given: FetchChangesOptions, _ reason: SyncReason) async throws(SealKitError) -> [SealKitError] {
        let database = try await settleAccount()
        let offer = FetchChangesContext(reason: reason, options: given)
        let options = try await ask { [self] in await $0.nextFetchChangesOptions(offer, syncEngine: self) }
        let context = FetchChangesContext(reason: reason, options: options)
        let run = Run(database: database.readingAhead(), group: options.operationGroup)
        try await tell(.willFetchChanges(Event.WillFetchChanges(context: context)))
        var failures: [SealKitError] = []
        var end: SealKitError?
        do throws(SealKitError) {
            do throws(SealKitError) { try await fetchDatabase(run) } catch {
                // What is known of zones already is fetched all the same.
                guard error.isViolation else { throw error }
                failures.append(error)
            }
            failures += try await lookAgain(options, run)
            failures += try await fetchZones(options, run)
        } catch {
            end = error
        }
        let failure = end ?? SealKitError.syncFailure(failures, of: "zones")
        try await tell(.didFetchChanges(Event.DidFetchChanges(context: context, error: failure)))
        try checkGoingOn()
        if let end { throw end }
        return failures
    }

    /// One fetch or send, all of it for one account.
    struct Run: Sendable {
        let database: Database
        let group: OperationGroup?
    }

    /// A call of the run's database, unless the run was ended.
    func call<T: Sendable>(
        _ run: Run, _ body: (Database) async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        try checkGoingOn()
        return try await run.database.configuredWith(group: run.group) { (database) async throws(SealKitError) in
            try await body(database)
        }
    }

    // MARK: Which zones there are

    private func fetchDatabase(_ run: Run) async throws(SealKitError) {
        var hasBegunAnew = false
        var isMoreComing = true
        while isMoreComing {
            let token = ownState.content.databaseToken
            let changes: Database.DatabaseChanges
            do throws(SealKitError) {
                changes = try await call(run) { (database) async throws(SealKitError) in
                    try await database.databaseChanges(since: token)
                }
            } catch {
                guard error.code == .changeTokenExpired, token != nil, !hasBegunAnew else { throw error }
                hasBegunAnew = true
                try await note { $0.databaseToken = nil }
                continue
            }
            try await take(changes)
            isMoreComing = changes.moreComing
        }
    }

    private func take(_ changes: Database.DatabaseChanges) async throws(SealKitError) {
        let content = ownState.content
        let remade = changes.modifications.filter { zone in
            guard let known = content.zones[zone.zoneID]?.incarnation, let now = zone.incarnation else { return false }
            return known != now
        }.map(\.zoneID)
        if !remade.isEmpty {
            let event = Event.FetchedDatabaseChanges(
                modifications: [],
                deletions: remade.map { Event.FetchedDatabaseChanges.Deletion(zoneID: $0, reason: .deleted) })
            try await tell(.fetchedDatabaseChanges(event), after: { $0.forget(remade) })
        }

        let came = changes.modifications.map { (id: $0.zoneID, incarnation: $0.incarnation) }
        // The end of a zone that this device has nothing of is none of what it is about to save in the next life.
        let begun = content.zonesToSave
        let deletions = changes.deletions.filter { content.zones[$0.zoneID] != nil || !begun.contains($0.zoneID) }
        let gone = deletions.map(\.zoneID)
        let noted: Change = { content in
            content.forget(gone)
            for zone in came {
                content.zones[zone.id, default: State.Zone()].incarnation = zone.incarnation
                if !content.unfetched.contains(zone.id) { content.unfetched.append(zone.id) }
            }
            content.databaseToken = changes.changeToken
        }
        guard !came.isEmpty || !gone.isEmpty else {
            return changes.changeToken == content.databaseToken ? () : try await note(noted)
        }
        let event = Event.FetchedDatabaseChanges(
            modifications: changes.modifications,
            deletions: deletions.map {
                Event.FetchedDatabaseChanges.Deletion(zoneID: $0.zoneID, reason: $0.reason)
            })
        try await tell(.fetchedDatabaseChanges(event), after: noted)
    }

    // MARK: What is in them

    /// - Returns: why some zones did not come to their end.
    private func fetchZones(_ options: FetchChangesOptions, _ run: Run) async throws(SealKitError) -> [SealKitError] {
        let content = ownState.content
        let leaving = content.zonesToDelete
        let wanted = content.unfetched.filter { options.scope.contains($0) && !leaving.contains($0) }
        var first: [RecordZone.ID] = []
        for zone in options.prioritizedZoneIDs where wanted.contains(zone) && !first.contains(zone) {
            first.append(zone)
        }
        var failures: [SealKitError] = []
        for zones in [first, wanted.filter { !first.contains($0) }] {
            for part in zones.inParts(of: SyncEngine.zonesPerRequest) { failures += try await fetch(part, run) }
        }
        return failures
    }

    /// They share a page of the feed: with more at once, most of each answer would be zones that found no room in it.
    private static let zonesPerRequest = 20

    /// Several zones at once, each to its end.
    private func fetch(_ zones: [RecordZone.ID], _ run: Run) async throws(SealKitError) -> [SealKitError] {
        for zone in zones {
            try await tell(.willFetchRecordZoneChanges(Event.WillFetchRecordZoneChanges(zoneID: zone)))
        }
        var underWay = zones
        // Assets of several zones at once have no room beside each other.
        var isCramped = false
        var begunAnew: Set<RecordZone.ID> = []
        var failures: [SealKitError] = []
        while !underWay.isEmpty {
            let known = ownState.content.zones
            let asked = isCramped ? Array(underWay.prefix(1)) : underWay
            let results: [RecordZone.ID: Result<Database.RecordZoneChanges, SealKitError>]
            do throws(SealKitError) {
                results = try await call(run) { (database) async throws(SealKitError) in
                    try await database.recordZoneChanges(
                        inZonesWith: Dictionary(
                            uniqueKeysWithValues: asked.map { ($0, .init(previousServerChangeToken: known[$0]?.token)) }
                        ))
                }
            } catch {
                for zone in asked { try await tellEnd(of: zone, error) }
                throw error
            }
            for zone in asked {
                switch results[zone] ?? .failure(.lacking("the zone \(zone)")) {
                case .success(let changes):
                    if let failure = try await take(changes, of: zone) {
                        failures.append(failure)
                    } else if changes.moreComing {
                        continue
                    }
                case .failure(let error):
                    if error.code == .limitExceeded, asked.count > 1 {
                        isCramped = true
                        continue
                    }
                    if error.code == .changeTokenExpired, known[zone]?.token != nil, begunAnew.insert(zone).inserted {
                        try await note { $0.zones[zone]?.token = nil }
                        continue
                    }
                    failures.append(error)
                    try await tellEnd(of: zone, error)
                }
                underWay.removeAll { $0 == zone }
            }
        }
        return failures
    }

    /// A part of a zone's changes. Where one of its records does not verify, or has an asset that is not there, the
    /// others are told, and the zone's place in its feed stays before all of them. The part ends before one whose asset
    /// does not come for now. One that verifies and does not open is told as such, and passed by.
    /// - Returns: why the zone's fetch ends here.
    private func take(_ changes: Database.RecordZoneChanges, of zone: RecordZone.ID) async throws(SealKitError)
        -> SealKitError?
    {
        let came = Came(changes.modifications)
        let event = Event.FetchedRecordZoneChanges(
            modifications: came.modifications,
            deletions: changes.deletions.map {
                Event.FetchedRecordZoneChanges.Deletion(recordID: $0.recordID, recordType: $0.recordType)
            }, unopened: came.unopened)
        let isNews = !event.isEmpty
        if let failure = came.failure {
            if isNews { try await tell(.fetchedRecordZoneChanges(event)) }
            try await tellEnd(of: zone, failure)
            return failure
        }
        // It found no room in the answer.
        if !isNews, changes.moreComing, changes.changeToken == ownState.content.zones[zone]?.token { return nil }
        let noted: Change = { content in
            content.zones[zone, default: State.Zone()].token = changes.changeToken
            content.zones[zone]?.note(event)
            if !changes.moreComing {
                content.unfetched.removeAll { $0 == zone }
                content.zones[zone]?.noteEnd()
            }
        }
        if isNews { try await tell(.fetchedRecordZoneChanges(event), after: noted) } else { try await note(noted) }
        if !changes.moreComing { try await tellEnd(of: zone, nil) }
        return nil
    }

    func tellEnd(of zone: RecordZone.ID, _ error: SealKitError?) async throws(SealKitError) {
        try await tell(.didFetchRecordZoneChanges(Event.DidFetchRecordZoneChanges(zoneID: zone, error: error)))
    }
}

extension SyncEngine.State.Content {
    /// What comes of a zone that is to be deleted would stay with the app when the zone is made again in the place of
    /// the deleted one.
    var zonesToDelete: Set<RecordZone.ID> {
        Set(database.all.compactMap { if case .deleteZone(let zone) = $0 { zone } else { nil } })
    }

    /// Those that are to be made.
    fileprivate var zonesToSave: Set<RecordZone.ID> {
        Set(database.all.compactMap { if case .saveZone(let zone) = $0 { zone.zoneID } else { nil } })
    }

    /// What was known of zones that are gone. What is to be sent to them stays: what becomes of it is the app's to say.
    mutating func forget(_ zones: [RecordZone.ID]) {
        for zone in zones { self.zones[zone] = nil }
        unfetched.removeAll(where: zones.contains)
    }

    /// In which life of each zone the app has something, so that the zone's next life is not taken for it. Of a zone
    /// that was made again in the place of one that the app knows, the next fetch tells the end first.
    mutating func note(_ lives: [RecordZone.ID: UInt32]) {
        for (zone, incarnation) in lives where zones[zone]?.incarnation == nil {
            zones[zone, default: SyncEngine.State.Zone()].incarnation = incarnation
        }
    }
}
