import Foundation
import GRDB
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Which device this is, which others of the account it has seen, and what came along when it was enrolled.
extension TrustStore {
    static let devicesSchema = """
        CREATE TABLE ownDevice (
            account BLOB NOT NULL PRIMARY KEY, id BLOB NOT NULL, added INTEGER NOT NULL, name TEXT,
            revision INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE device (
            account BLOB NOT NULL, id BLOB NOT NULL, name TEXT NOT NULL, added INTEGER NOT NULL, lastSeen INTEGER NOT NULL,
            isNew INTEGER NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID;
        CREATE TABLE floor (
            scope BLOB NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
        """

    // MARK: This device

    /// The device that this store is of: the one given, unless there is one already.
    /// - Returns: also the revision of the list of devices that was seen last; 0 for none.
    func adopt(
        _ own: DeviceKeeper.Identity, account: [UInt8]
    ) async throws(SealKitError) -> (DeviceKeeper.Identity, UInt64) {
        let account = Data(account)
        return try await writing { db in
            try db.execute(
                sql: "INSERT INTO ownDevice (account, id, added, revision) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING",
                arguments: [account, Data(own.id.bytes), own.added])
            let row = try Row.fetchOne(
                db, sql: "SELECT id, added, name, revision FROM ownDevice WHERE account = ?", arguments: [account])
            guard let row, let id = try? ID16(row[0] as Data) else { return (own, 0) }
            // What logged in before there was this store was this device too.
            if id != own.id { try Self.know([own.id], account, db) }
            return (DeviceKeeper.Identity(id: id, added: row[1], name: row[2]), UInt64(bitPattern: row[3] as Int64))
        }
    }

    /// This store is of another device from now on, which knows nothing of the others yet.
    func replace(_ own: DeviceKeeper.Identity, account: [UInt8]) async throws(SealKitError) {
        let account = Data(account)
        try await writingDurably { db in
            try db.execute(sql: "DELETE FROM device WHERE account = ?", arguments: [account])
            try db.execute(
                sql: """
                    INSERT INTO ownDevice (account, id, added, revision) VALUES (?, ?, ?, 0)
                    ON CONFLICT (account) DO UPDATE SET id = excluded.id, added = excluded.added, name = NULL, revision = 0
                    """, arguments: [account, Data(own.id.bytes), own.added])
        }
    }

    // MARK: The others

    /// Remembers a list.
    /// - Returns: the devices in it that are new, and those among them that were not there before.
    func note(
        _ listed: [ListedDevice], own: ID16, revision: UInt64, account: [UInt8]
    ) async throws(SealKitError) -> (new: Set<ID16>, fresh: Set<ID16>) {
        let account = Data(account)
        return try await writing { db in
            let last = UInt64(
                bitPattern: try Int64.fetchOne(
                    db, sql: "SELECT revision FROM ownDevice WHERE account = ?", arguments: [account]) ?? 0)
            var known: [ID16: Bool] = [:]
            for row in try Row.fetchAll(
                db, sql: "SELECT id, isNew FROM device WHERE account = ?", arguments: [account])
            {
                if let id = try? ID16(row[0] as Data) { known[id] = row[1] as Bool }
            }
            let news = DeviceNews(listed: listed.map(\.id), own: own, revision: revision, last: last, known: known)
            for device in listed {
                try db.execute(
                    sql: """
                        INSERT INTO device (account, id, name, added, lastSeen, isNew) VALUES (?, ?, ?, ?, ?, ?)
                        ON CONFLICT (account, id) DO UPDATE SET name = excluded.name, added = excluded.added,
                            lastSeen = excluded.lastSeen
                        """,
                    arguments: [
                        account, Data(device.id.bytes), device.name, device.added, device.lastSeen,
                        news.new.contains(device.id),
                    ])
            }
            for id in news.gone {
                try db.execute(
                    sql: "DELETE FROM device WHERE account = ? AND id = ?", arguments: [account, Data(id.bytes)])
            }
            if news.isNewest {
                try db.execute(
                    sql: "UPDATE ownDevice SET revision = ?, name = ? WHERE account = ?",
                    arguments: [Int64(bitPattern: revision), listed.first { $0.id == own }?.name, account])
            }
            return (news.new, news.fresh)
        }
    }

    func newDevices(account: [UInt8]) async throws(SealKitError) -> [ListedDevice] {
        let account = Data(account)
        return try await reading { db in
            try Row.fetchAll(
                db,
                sql: "SELECT id, name, added, lastSeen FROM device WHERE account = ? AND isNew = 1 ORDER BY added, id",
                arguments: [account]
            ).compactMap { row in
                guard let id = try? ID16(row[0] as Data) else { return nil }
                return ListedDevice(id: id, name: row[1], added: row[2], lastSeen: row[3])
            }
        }
    }

    func acknowledge(_ ids: [ID16], account: [UInt8]) async throws(SealKitError) {
        let account = Data(account)
        try await writing { db in
            for id in ids {
                try db.execute(
                    sql: "UPDATE device SET isNew = 0 WHERE account = ? AND id = ?",
                    arguments: [account, Data(id.bytes)])
            }
        }
    }

    func acknowledgeAll(account: [UInt8]) async throws(SealKitError) {
        let account = Data(account)
        try await writing { try $0.execute(sql: "UPDATE device SET isNew = 0 WHERE account = ?", arguments: [account]) }
    }

    /// A device that this one brings to the account itself is no news.
    func expect(_ id: ID16, account: [UInt8]) async throws(SealKitError) {
        let account = Data(account)
        try await writing { try Self.know([id], account, $0) }
    }

    /// It is news after all, should it come or be there: its user was told that it does not come.
    func expectNoMore(_ id: ID16, account: [UInt8]) async throws(SealKitError) {
        let (account, id) = (Data(account), Data(id.bytes))
        try await writing { db in
            // One that no list has named has no time yet.
            try db.execute(
                sql: "DELETE FROM device WHERE account = ? AND id = ? AND added = 0", arguments: [account, id])
            try db.execute(sql: "UPDATE device SET isNew = 1 WHERE account = ? AND id = ?", arguments: [account, id])
        }
    }

    private static func know(_ ids: [ID16], _ account: Data, _ db: GRDB.Database) throws {
        for id in ids {
            try db.execute(
                sql: """
                    INSERT INTO device (account, id, name, added, lastSeen, isNew) VALUES (?, ?, '', 0, 0, 0)
                    ON CONFLICT (account, id) DO UPDATE SET isNew = 0
                    """, arguments: [account, Data(id.bytes)])
        }
    }

    // MARK: Heads

    /// The highest head of every roster that this device has verified, or that came along when it was enrolled.
    func heads() async throws(SealKitError) -> [Enrolment.Head] {
        try await reading { db in
            var heads: [Digest: Enrolment.Head] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT scope, sequence, hash FROM floor") {
                guard let scope = try? Digest(row[0] as Data), let hash = try? Digest(row[2] as Data) else { continue }
                heads[scope] = Enrolment.Head(scopeID: scope, sequence: UInt64(bitPattern: row[1] as Int64), hash: hash)
            }
            let newest = """
                SELECT entry.scope, entry.sequence, entry.bytes FROM entry
                JOIN (SELECT scope, MAX(sequence) AS last FROM entry GROUP BY scope) AS newest
                    ON newest.scope = entry.scope AND newest.last = entry.sequence
                """
            for row in try Row.fetchAll(db, sql: newest) {
                guard let scope = try? Digest(row[0] as Data) else { continue }
                let sequence = UInt64(bitPattern: row[1] as Int64)
                if let floor = heads[scope], floor.sequence > sequence { continue }
                heads[scope] = Enrolment.Head(
                    scopeID: scope, sequence: sequence, hash: RosterEntry.hash([UInt8](row[2] as Data)))
            }
            return Array(heads.values)
        }
    }

    /// Below these no roster is believed from now on. A higher one that is there stays.
    func raiseFloors(to heads: [Enrolment.Head]) async throws(SealKitError) {
        try await writingDurably { db in
            for head in heads {
                try db.execute(
                    sql: """
                        INSERT INTO floor (scope, sequence, hash) VALUES (?, ?, ?)
                        ON CONFLICT (scope) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash
                        WHERE excluded.sequence > floor.sequence
                        """,
                    arguments: [Data(head.scopeID.bytes), Int64(bitPattern: head.sequence), Data(head.hash.bytes)])
            }
        }
    }

    func floor(scope: Digest) async throws(SealKitError) -> Enrolment.Head? {
        let key = Data(scope.bytes)
        return try await reading { db in
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT sequence, hash FROM floor WHERE scope = ?", arguments: [key]),
                let hash = try? Digest(row[1] as Data)
            else { return nil }
            return Enrolment.Head(scopeID: scope, sequence: UInt64(bitPattern: row[0] as Int64), hash: hash)
        }
    }
}
