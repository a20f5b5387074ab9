import Synchronization

/// Where one delegate's engines for one database take turns, and one takes the other's place.
final class SyncPlace: Sendable {
    /// One fetch or send at a time.
    let runs = SyncTurns()
    /// One call of the delegate at a time.
    let events = SyncTurns()
    /// Whose it is.
    private let owner: ObjectIdentifier?
    private let engine = Mutex(Weak())

    private struct Weak: Sendable { weak var engine: SyncEngine? }

    init(owner: ObjectIdentifier?) { self.owner = owner }

    /// Of the same delegate, for this or another database.
    func isBeside(_ other: SyncPlace) -> Bool { self === other || owner != nil && owner == other.owner }

    /// - Returns: the engine whose place it takes.
    func settle(_ engine: SyncEngine) -> SyncEngine? {
        self.engine.withLock { settled in
            defer { settled.engine = engine }
            return settled.engine
        }
    }
}

/// All of the process.
enum SyncPlaces {
    private struct Key: Hashable {
        let delegate: ObjectIdentifier
        let container: String
        let environment: Container.Environment
        let scope: Database.Scope
    }

    /// An object's identifier is another one's once it is gone: the delegate itself says whose the place is.
    private struct Entry: Sendable {
        weak var delegate: (any SyncEngineDelegate)?
        let place: SyncPlace
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    static func place(of configuration: SyncEngine.Configuration) -> SyncPlace {
        guard let delegate = configuration.delegate else { return SyncPlace(owner: nil) }
        let key = Key(
            delegate: ObjectIdentifier(delegate), container: configuration.container.containerIdentifier,
            environment: configuration.container.environment, scope: configuration.databaseScope)
        return entries.withLock { entries in
            entries = entries.filter { $0.value.delegate != nil }
            if let entry = entries[key] { return entry.place }
            let place = SyncPlace(owner: key.delegate)
            entries[key] = Entry(delegate: delegate, place: place)
            return place
        }
    }
}
