import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// What an account gives up with its keys: noted before anything happens, so that a reset that was cut off takes no zone along
/// that was made after it began.
extension TrustStore {
    static let resetSchema = """
        CREATE TABLE IF NOT EXISTS givenUp (
            account BLOB NOT NULL, container TEXT NOT NULL, environment INTEGER NOT NULL, owner BLOB NOT NULL,
            zone TEXT NOT NULL, share TEXT NOT NULL, zoneIncarnation INTEGER NOT NULL, scopeIncarnation INTEGER NOT NULL,
            generations INTEGER NOT NULL, PRIMARY KEY (account, container, environment, owner, zone, share)) WITHOUT ROWID;
        """

    /// A scope in the life that it had when the reset began.
    struct GivenUp: Sendable {
        let scope: Scope
        let incarnations: Incarnations
    }

    /// - Parameter generations: how many the account has once its keys are new: until then nothing is given up.
    func noteGivenUp(_ scopes: [GivenUp], of account: Account, generations: Int) async throws(SealKitError) {
        let key = Data(account.keys.rootKey.bytes)
        try await writing { db in
            try db.execute(sql: "DELETE FROM givenUp WHERE account = ?", arguments: [key])
            for given in scopes {
                let scope = given.scope
                try db.execute(
                    sql: "INSERT INTO givenUp VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        key, scope.container, Int64(scope.environment.rawValue), Data(scope.owner.id.bytes), scope.zoneName,
                        scope.shareRecordName, Int64(given.incarnations.zone), Int64(given.incarnations.scope), generations,
                    ])
            }
        }
    }

    func givenUp(of account: Account, generations: Int) async throws(SealKitError) -> [GivenUp] {
        let key = Data(account.keys.rootKey.bytes)
        return try await reading { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT container, environment, owner, zone, share, zoneIncarnation, scopeIncarnation FROM givenUp
                    WHERE account = ? AND generations <= ?
                    """, arguments: [key, generations]
            ).map { row in
                guard let environment = SealStatements.Environment(rawValue: row[1]) else { throw SealError.malformed }
                return GivenUp(
                    scope: Scope(
                        container: row[0], environment: environment, owner: UserID(try ID16(row[2] as Data)), zoneName: row[3],
                        shareRecordName: row[4]),
                    incarnations: Incarnations(zone: row[5], scope: row[6]))
            }
        }
    }
}
