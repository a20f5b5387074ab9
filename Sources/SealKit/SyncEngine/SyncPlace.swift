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
        let owner: ObjectIdentifier
        let container: String
        let environment: Container.Environment
        let scope: Database.Scope
    }

    /// An object's identifier is another one's once it is gone: the owner itself says whose the place is.
    private struct Entry: Sendable {
        weak var owner: (any AnyObject & Sendable)?
        let place: SyncPlace
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    static func place(of configuration: SyncEngine.Configuration) -> SyncPlace {
        let delegate: (any AnyObject & Sendable)? = configuration.delegate
        guard let owner = configuration.owner ?? delegate else { return SyncPlace(owner: nil) }
        let key = Key(
            owner: ObjectIdentifier(owner), container: configuration.container.containerIdentifier,
            environment: configuration.container.environment, scope: configuration.databaseScope)
        return entries.withLock { entries in
            entries = entries.filter { $0.value.owner != nil }
            if let entry = entries[key] { return entry.place }
            let place = SyncPlace(owner: key.owner)
            entries[key] = Entry(owner: owner, place: place)
            return place
        }
    }
}
