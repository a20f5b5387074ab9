import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// What an account gives up with its keys: noted before anything happens, so that a reset that was cut off takes no
/// zone along that was made after it began.
extension TrustStore {
    static let resetSchema = """
        CREATE TABLE resetScope (
            account BLOB NOT NULL, container TEXT NOT NULL, environment INTEGER NOT NULL, owner BLOB NOT NULL,
            zone TEXT NOT NULL, share TEXT NOT NULL, zoneIncarnation INTEGER NOT NULL, scopeIncarnation INTEGER NOT NULL,
            loginKey BLOB NOT NULL, PRIMARY KEY (account, container, environment, owner, zone, share)) WITHOUT ROWID;
        """

    /// A scope in the life that it had when the reset began.
    struct GivenUp: Sendable {
        let scope: Scope
        let incarnations: Incarnations
    }

    /// In the place of what was noted before.
    /// - Parameter loginKey: the new one. Nothing is given up until the account has it: whatever else gives the account
    ///   new keys, a reset that came to nothing is never gone on with.
    func noteGivenUp(_ scopes: [GivenUp], of account: Account, for loginKey: VerificationKey) async throws(SealKitError)
    {
        let (key, loginKey) = (Data(account.keys.rootKey.bytes), Data(loginKey.bytes))
        try await writingDurably { db in
            try db.execute(sql: "DELETE FROM resetScope WHERE account = ?", arguments: [key])
            for given in scopes {
                let scope = given.scope
                try db.execute(
                    sql: "INSERT INTO resetScope VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        key, scope.container, Int64(scope.environment.rawValue), Data(scope.owner.id.bytes),
                        scope.zoneName,
                        scope.shareRecordName, Int64(given.incarnations.zone), Int64(given.incarnations.scope),
                        loginKey,
                    ])
            }
        }
    }

    func forgetGivenUp(of account: Account) async throws(SealKitError) {
        let key = Data(account.keys.rootKey.bytes)
        try await writing { try $0.execute(sql: "DELETE FROM resetScope WHERE account = ?", arguments: [key]) }
    }

    /// What was noted for one of the keys that the account has.
    func givenUp(of account: Account) async throws(SealKitError) -> [GivenUp] {
        let key = Data(account.keys.rootKey.bytes)
        let loginKeys = Set(account.keys.toldKeys.map { Data($0.bytes) })
        return try await reading { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT container, environment, owner, zone, share, zoneIncarnation, scopeIncarnation, loginKey FROM resetScope
                    WHERE account = ?
                    """, arguments: [key]
            ).filter { loginKeys.contains($0[7]) }.map { row in
                guard let environment = SealStatements.Environment(rawValue: row[1]) else { throw SealError.malformed }
                return GivenUp(
                    scope: Scope(
                        container: row[0], environment: environment, owner: UserID(try ID16(row[2] as Data)),
                        zoneName: row[3],
                        shareRecordName: row[4]),
                    incarnations: Incarnations(zone: row[5], scope: row[6]))
            }
        }
    }
}
