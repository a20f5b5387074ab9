import SealStatements
import SealStorage
import Synchronization

/// What one user's saves in one zone rest on, besides the zone's roster and its container's schema, which have their
/// own memory: who the user is, and which zone it is. None of it ever changes.
struct SaveGround: Sendable {
    struct Key: Hashable {
        let account: Int64
        let path: DatabasePath
        let ownerName: String
        let zoneName: String
    }

    let callerID: Int64
    let userID: UserID
    let owner: Int64
    let zone: Int64
    /// The account that pays for what is in the zone, until it is closed.
    let bill: Int64

    /// Of a save here that changes what is the zone's: all but counters, the feeds of those who see it, their
    /// notifications, and the answer that is kept.
    var home: Home { .zone(owner: owner, zone: zone) }

    /// What such a save relies on beside its zone: the session, the schema, and how much is stored by whoever pays.
    func beside(_ session: Session, _ path: DatabasePath) -> Set<Home> {
        [.account(session.accountID), .container(path), .bill(session.accountID), .bill(bill)]
    }

    /// Whether it is this one that has the name: another one may by now.
    func isStill(_ zone: ZoneRow) -> Bool { zone.owner == owner && zone.number == self.zone }
}

/// The grounds of saves, remembered: who saves again is judged by what held the last time, without a look into the
/// database, and the transaction finds out whether that still holds.
final class SaveGrounds: Sendable {
    private static let most = 4_096
    private let grounds = Mutex<[SaveGround.Key: SaveGround]>([:])

    func find(_ key: SaveGround.Key) -> SaveGround? { grounds.withLock { $0[key] } }

    func keep(_ ground: SaveGround, _ key: SaveGround.Key) {
        grounds.withLock { grounds in
            if grounds.count >= Self.most { grounds.removeAll(keepingCapacity: true) }
            grounds[key] = ground
        }
    }
}
