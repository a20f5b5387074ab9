import Synchronization

/// Where one delegate's engines for one database of one account take turns, and one takes the other's place.
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

    /// Of the same delegate, for this or another database, of whomever.
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

    /// An object's identifier is another one's once it is gone: the objects themselves say whose the place is.
    private struct Entry: Sendable {
        weak var owner: (any AnyObject & Sendable)?
        /// Of the engine that was made last: another account's database is another database, whatever its name.
        weak var accounts: AccountProvider?
        let place: SyncPlace
    }

    private static let entries = Mutex<[Key: [Entry]]>([:])

    static func place(of configuration: SyncEngine.Configuration) -> SyncPlace {
        let delegate: (any AnyObject & Sendable)? = configuration.delegate
        guard let owner = configuration.owner ?? delegate else { return SyncPlace(owner: nil) }
        let accounts = configuration.container.accounts
        let key = Key(
            owner: ObjectIdentifier(owner), container: configuration.container.containerIdentifier,
            environment: configuration.container.environment, scope: configuration.databaseScope)
        return entries.withLock { entries in
            entries = entries.compactMapValues { places in
                let left = places.filter { $0.owner != nil && $0.accounts != nil }
                return left.isEmpty ? nil : left
            }
            var places = entries[key] ?? []
            defer { entries[key] = places }
            if let index = places.firstIndex(where: { $0.accounts?.isAsOne(with: accounts) ?? false }) {
                places[index].accounts = accounts
                return places[index].place
            }
            let place = SyncPlace(owner: key.owner)
            places.append(Entry(owner: owner, accounts: accounts, place: place))
            return place
        }
    }
}
