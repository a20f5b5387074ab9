import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// What the user calls people on this device. It is no part of what was verified, and lies here since it belongs to the
/// same people, account and device.
extension TrustStore {
    static let namesSchema = """
        CREATE TABLE localName (
            container TEXT NOT NULL, user BLOB NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
            PRIMARY KEY (container, user), UNIQUE (container, folded)) WITHOUT ROWID;
        """

    func localNames(container: String) async throws(SealKitError) -> [(user: UserID, name: LocalName)] {
        try await reading { db in
            try Row.fetchAll(
                db, sql: "SELECT user, name, folded FROM localName WHERE container = ?", arguments: [container]
            )
            .map { (UserID(try ID16($0[0] as Data)), LocalName(text: $0[1], folded: $0[2])) }
        }
    }

    /// Gives somebody a name, in the place of the one before.
    /// - Returns: whose name it is already; nil when it was given.
    func setName(_ name: LocalName, of user: UserID, container: String) async throws(SealKitError) -> UserID? {
        try await writing { db in
            let holder = try Data.fetchOne(
                db, sql: "SELECT user FROM localName WHERE container = ? AND folded = ? AND user <> ?",
                arguments: [container, name.folded, Data(user.id.bytes)])
            if let holder { return UserID(try ID16(holder)) }
            try db.execute(
                sql: "INSERT OR REPLACE INTO localName (container, user, name, folded) VALUES (?, ?, ?, ?)",
                arguments: [container, Data(user.id.bytes), name.text, name.folded])
            return nil
        }
    }

    func removeName(of user: UserID, container: String) async throws(SealKitError) {
        try await writing { db in
            try db.execute(
                sql: "DELETE FROM localName WHERE container = ? AND user = ?",
                arguments: [container, Data(user.id.bytes)])
        }
    }
}
