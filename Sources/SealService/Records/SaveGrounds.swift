package import SealStatements
import Synchronization

/// What one user's saves in one zone rest on, besides the zone's roster and its container's schema, which have their
/// own memory: who the user is, and which zone it is. None of it ever changes.
package struct SaveGround: Sendable {
    package struct Key: Hashable {
        package let account: Int64
        package let path: DatabasePath
        package let ownerName: String
        package let zoneName: String

        package init(account: Int64, path: DatabasePath, ownerName: String, zoneName: String) {
            self.account = account
            self.path = path
            self.ownerName = ownerName
            self.zoneName = zoneName
        }
    }

    package let callerID: Int64
    package let userID: UserID
    package let owner: Int64
    package let zone: Int64

    package init(callerID: Int64, userID: UserID, owner: Int64, zone: Int64) {
        self.callerID = callerID
        self.userID = userID
        self.owner = owner
        self.zone = zone
    }
}

/// The grounds of saves, remembered: who saves again is judged by what held the last time, without a look into the
/// database, and the transaction finds out whether that still holds.
package final class SaveGrounds: Sendable {
    private static let most = 4_096
    private let grounds = Mutex<[SaveGround.Key: SaveGround]>([:])

    package init() {}

    package func find(_ key: SaveGround.Key) -> SaveGround? { grounds.withLock { $0[key] } }

    package func keep(_ ground: SaveGround, _ key: SaveGround.Key) {
        grounds.withLock { grounds in
            if grounds.count >= Self.most { grounds.removeAll(keepingCapacity: true) }
            grounds[key] = ground
        }
    }
}
