import SealStatements

extension SyncEngine.State {
    /// What is to be looked at again once a key is there.
    enum Awaiting: Sendable, Hashable {
        /// Records by their names.
        case records(Set<String>)
        /// They are too many to be named: the zone, from its beginning.
        case zone
        /// The key is there, and the zone is read from its beginning with it: what does not open all the same waits for
        /// it no more.
        case nothing

        /// nil for all of the zone.
        var recordNames: Set<String>? {
            switch self {
            case .records(let names): names
            case .zone: nil
            case .nothing: []
            }
        }

        /// - Parameter recordNames: nil for all of the zone.
        init(recordNames: [String]?) {
            guard let recordNames else {
                self = .zone
                return
            }
            self = recordNames.isEmpty ? .nothing : .records(Set(recordNames))
        }
    }
}

extension SyncEngine.State.Zone {
    /// Those of one request. A server that withholds a key can make any number of records wait for it.
    private static let mostNames = Limits.itemsPerRequest

    /// Takes note of what came: what opens, is gone, or waits for which key.
    mutating func note(_ event: SyncEngine.Event.FetchedRecordZoneChanges) {
        settle(
            event.modifications.map(\.record.recordID.recordName) + event.deletions.map(\.recordID.recordName)
                + event.unopened.map(\.recordID.recordName))
        for one in event.unopened {
            guard case .lackOf(let key)? = one.error.unopened else { continue }
            guard case .records(var names) = awaiting[key, default: .records([])] else { continue }
            names.insert(one.recordID.recordName)
            awaiting[key] = names.count > Self.mostNames ? .zone : .records(names)
        }
    }

    /// All of it was read.
    mutating func noteEnd() { awaiting = awaiting.filter { $0.value != .nothing } }

    /// These wait no more.
    mutating func settle(_ names: [String]) {
        guard !awaiting.isEmpty else { return }
        for (key, what) in awaiting {
            guard case .records(var left) = what else { continue }
            left.subtract(names)
            awaiting[key] = left.isEmpty ? nil : .records(left)
        }
    }
}

extension SyncEngine {
    /// What came of records, by what is to be told of each.
    struct Came {
        private(set) var modifications: [Event.FetchedRecordZoneChanges.Modification] = []
        private(set) var unopened: [Event.FetchedRecordZoneChanges.UnopenedRecord] = []
        /// Why the first of those is not believed, or not here, that are neither.
        private(set) var failure: SealKitError?

        init(_ results: some Sequence<(recordID: Record.ID, result: Result<Record, SealKitError>)>) {
            for (id, result) in results {
                switch result {
                case .success(let record): modifications.append(.init(record: record))
                case .failure(let error) where error.unopened != nil:
                    unopened.append(.init(recordID: id, error: error))
                case .failure(let error): failure = failure ?? error
                }
            }
        }
    }

    /// Looks again at what did not open for want of keys, where those have come since: no feed brings it once more.
    /// - Returns: why that has failed for some zones, each of which was told.
    /// - Throws: what has ended it for all.
    func lookAgain(_ options: FetchChangesOptions, _ run: Run) async throws(SealKitError) -> [SealKitError] {
        let content = ownState.content
        let leaving = content.zonesToDelete
        let zones = content.zones.filter { zone, known in
            !known.awaiting.isEmpty && options.scope.contains(zone) && !leaving.contains(zone)
        }.mapValues { known in known.awaiting.filter { $0.value != .nothing } }
        var failures: [SealKitError] = []
        for (zone, awaiting) in zones.sorted(by: { $0.key.description < $1.key.description })
        where !awaiting.isEmpty {
            if let failure = try await lookAgain(in: zone, awaiting, run) { failures.append(failure) }
        }
        return failures
    }

    private func lookAgain(
        in zone: RecordZone.ID, _ awaiting: [EpochKeyName: State.Awaiting], _ run: Run
    ) async throws(SealKitError) -> SealKitError? {
        var hasBegun = false
        do throws(SealKitError) {
            let (held, lost) = try await call(run) { (database) async throws(SealKitError) in
                try await database.fate(of: Set(awaiting.keys), in: zone)
            }
            if !lost.isEmpty {
                // How such a record goes on the feed tells.
                try await note { content in for key in lost { content.zones[zone]?.awaiting[key] = nil } }
            }
            guard !held.isEmpty else { return nil }
            var names: Set<String> = []
            for key in held {
                guard case .records(let some)? = awaiting[key] else {
                    try await beginAnew(zone, because: held)
                    return nil
                }
                names.formUnion(some)
            }
            try await tell(.willFetchRecordZoneChanges(Event.WillFetchRecordZoneChanges(zoneID: zone)))
            hasBegun = true
            var failure: SealKitError?
            for part in names.sorted().inParts(of: Limits.itemsPerRequest) {
                let ids = part.map { Record.ID(recordName: $0, zoneID: zone) }
                let results = try await call(run) { (database) async throws(SealKitError) in
                    try await database.records(for: ids)
                }
                let refused = try await take(results, of: zone, under: held)
                failure = failure ?? refused
            }
            try await tellEnd(of: zone, failure)
            return failure
        } catch {
            if !hasBegun {
                try await tell(.willFetchRecordZoneChanges(Event.WillFetchRecordZoneChanges(zoneID: zone)))
            }
            try await tellEnd(of: zone, error)
            guard !error.concernsWholeRequest else { throw error }
            return error
        }
    }

    private func beginAnew(_ zone: RecordZone.ID, because held: Set<EpochKeyName>) async throws(SealKitError) {
        try await note { content in
            content.zones[zone]?.token = nil
            for key in held { content.zones[zone]?.awaiting[key] = .nothing }
            if !content.unfetched.contains(zone) { content.unfetched.append(zone) }
        }
    }

    /// Records that were waiting for a key. Of those that still do not open, those alone are told that never will.
    /// - Parameter held: the keys that are there: what does not open for want of them waits no more.
    private func take(
        _ results: [Record.ID: Result<Record, SealKitError>], of zone: RecordZone.ID, under held: Set<EpochKeyName>
    ) async throws(SealKitError) -> SealKitError? {
        var there: [(recordID: Record.ID, result: Result<Record, SealKitError>)] = []
        var settled: [String] = []
        for (id, result) in results.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            // How it has gone the zone's feed tells.
            if case .failure(let error) = result, error.code == .unknownItem {
                settled.append(id.recordName)
            } else {
                there.append((recordID: id, result: result))
            }
        }
        let came = Came(there)
        let event = Event.FetchedRecordZoneChanges(
            modifications: came.modifications, deletions: [],
            unopened: came.unopened.filter { $0.error.unopened == .author })
        // One that was saved again meanwhile may wait for another key.
        var waiting: [Event.FetchedRecordZoneChanges.UnopenedRecord] = []
        for one in came.unopened {
            guard case .lackOf(let key)? = one.error.unopened else { continue }
            settled.append(one.recordID.recordName)
            if !held.contains(key) { waiting.append(one) }
        }
        let left = Event.FetchedRecordZoneChanges(modifications: [], deletions: [], unopened: waiting)
        let noted: Change = { [settled] content in
            content.zones[zone]?.settle(settled)
            content.zones[zone]?.note(event)
            content.zones[zone]?.note(left)
        }
        if !event.isEmpty {
            try await tell(.fetchedRecordZoneChanges(event), after: noted)
        } else if !settled.isEmpty {
            try await note(noted)
        }
        return came.failure
    }
}

extension SyncEngine.Event.FetchedRecordZoneChanges {
    var isEmpty: Bool { modifications.isEmpty && deletions.isEmpty && unopened.isEmpty }
}
