import SealStatements
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
