extension SyncEngine {
    /// A record that is to be saved or deleted, by its name: its values are asked for when they are sent.
    public enum PendingRecordZoneChange: Sendable, Hashable {
        /// It is to be saved.
        case saveRecord(Record.ID)
        /// It is to be deleted.
        case deleteRecord(Record.ID)

        /// Which record.
        public var recordID: Record.ID {
            switch self {
            case .saveRecord(let id), .deleteRecord(let id): id
            }
        }
    }

    /// A zone that is to be made or deleted.
    public enum PendingDatabaseChange: Sendable, Hashable {
        /// It is to be made.
        case saveZone(RecordZone)
        /// It is to be deleted, with all that is in it.
        case deleteZone(RecordZone.ID)

        /// Which zone.
        public var zoneID: RecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let id): id
            }
        }
    }
}

/// Changes in the order in which they were added, one for each subject: adding one twice is once, and an opposite one
/// takes the other's place at the end.
struct PendingChanges<Subject: Hashable & Sendable, Change: Hashable & Sendable>: Sendable {
    private struct Entry {
        let change: Change
        /// When it was added last.
        var moment: Int
    }

    /// nil where something was removed, until there are too many of those.
    private var entries: [Entry?] = []
    private var places: [Subject: Int] = [:]
    private let subject: @Sendable (Change) -> Subject

    init(_ subject: @escaping @Sendable (Change) -> Subject) { self.subject = subject }

    var all: [Change] { entries.compactMap { $0?.change } }
    var isEmpty: Bool { places.isEmpty }
    /// When something was added last.
    var newest: Int { entries.reduce(0) { max($0, $1?.moment ?? 0) } }

    /// - Returns: whether the changes are others than before.
    mutating func add(_ change: Change, at moment: Int) -> Bool {
        let key = subject(change)
        if let place = places[key] {
            if entries[place]?.change == change {
                entries[place]?.moment = moment
                return false
            }
            entries[place] = nil
        }
        places[key] = entries.count
        entries.append(Entry(change: change, moment: moment))
        compact()
        return true
    }

    /// - Parameter moment: what was added again after it stays; nil removes it in any case.
    mutating func remove(_ change: Change, addedBy moment: Int? = nil) -> Bool {
        let key = subject(change)
        guard let place = places[key], let entry = entries[place], entry.change == change,
            entry.moment <= moment ?? .max
        else {
            return false
        }
        entries[place] = nil
        places[key] = nil
        compact()
        return true
    }

    private mutating func compact() {
        guard entries.count > 64, entries.count > 2 * places.count else { return }
        entries.removeAll { $0 == nil }
        for (place, entry) in entries.enumerated() { if let entry { places[subject(entry.change)] = place } }
    }
}
