import Foundation
package import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// The rows of an account's devices, in the caller's transaction.
package enum Devices {
    /// More than anyone has: with one more, the one goes that was seen longest ago.
    package static let mostPerAccount = 100

    package struct Entered: Sendable {
        package let row: Int64
        /// Of the account's list of devices.
        package let revision: Int64
    }

    /// The device that logs in: a new one, or one that there is, whose name others may have changed meanwhile.
    /// - Throws: `permissionFailure` for one that was revoked.
    package static func enter(
        _ device: DeviceStatement, account: Int64, loginKey: VerificationKey, now: Int64,
        in connection: any SQLConnection
    ) throws -> Entered {
        let known = try find(device.id, account: account, in: connection)
        if let known, known.signer == loginKey.bytes {
            try saw(known.entered.row, now: now, in: connection)
            return known.entered
        }
        if known == nil { try makeRoom(account: account, in: connection) }
        // One of the account's keys before has signed what there is: the new key's statement takes its place.
        guard
            let row = try connection.first(
                """
                INSERT INTO device (account, device_id, name, added, signer, signature, last_seen, revoked)
                VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
                ON CONFLICT (account, device_id) DO UPDATE SET name = excluded.name, added = excluded.added,
                    signer = excluded.signer, signature = excluded.signature, last_seen = excluded.last_seen
                RETURNING id
                """,
                [
                    .integer(account), .blob(device.id.bytes), .text(device.name), .integer(device.added),
                    .blob(loginKey.bytes),
                    .blob(device.signature), .integer(now),
                ], { try $0.int64("id") })
        else { throw StorageError.failed(code: 0, message: "RETURNING gave no row") }
        return Entered(row: row, revision: try advance(account: account, now: now, in: connection))
    }

    /// A device that can log in without anything being written; nil for one that would have to be entered first.
    /// - Throws: `permissionFailure` for one that was revoked.
    package static func entered(
        _ device: DeviceStatement, account: Int64, loginKey: VerificationKey, in connection: any SQLConnection
    ) throws -> Entered? {
        guard let known = try find(device.id, account: account, in: connection), known.signer == loginKey.bytes else {
            return nil
        }
        return known.entered
    }

    private static func find(
        _ device: ID16, account: Int64, in connection: any SQLConnection
    ) throws -> (entered: Entered, signer: [UInt8])? {
        let known = try connection.first(
            """
            SELECT device.id, device.revoked, device.signer, account.device_revision
            FROM device JOIN account ON account.id = device.account WHERE account = $1 AND device_id = $2
            """, [.integer(account), .blob(device.bytes)]
        ) {
            (
                entered: Entered(row: try $0.int64("id"), revision: try $0.int64("device_revision")),
                isRevoked: try $0.bool("revoked"), signer: try $0.bytes("signer")
            )
        }
        guard let known else { return nil }
        guard !known.isRevoked else { throw revoked }
        return (known.entered, known.signer)
    }

    /// All that may log in, oldest first.
    package static func list(
        account: Int64, revision: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_DevicesResponse {
        let devices = try connection.rows(
            """
            SELECT device_id, name, added, signature, last_seen FROM device WHERE account = $1 AND revoked = 0 ORDER BY id
            """, [.integer(account)]
        ) { row in
            let (id, name, added, signature, lastSeen) =
                (
                    try row.data("device_id"), try row.text("name"), try row.int64("added"), try row.data("signature"),
                    try row.int64("last_seen")
                )
            return Sealkit_V1_Device.with {
                $0.id = id
                $0.name = name
                $0.added = added
                $0.signature = signature
                $0.lastSeen = lastSeen
            }
        }
        return .with {
            $0.revision = UInt64(clamping: revision)
            $0.devices = devices
        }
    }

    package static func revision(account: Int64, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT device_revision FROM account WHERE id = $1", [.integer(account)]) {
            try $0.int64("device_revision")
        } ?? 0
    }

    /// Takes another statement of a device that there is.
    /// - Throws: `unknownItem`; `serverRejectedRequest` for another time than it was added at.
    package static func rename(
        _ device: DeviceStatement, account: Int64, loginKey: VerificationKey, now: Int64,
        in connection: any SQLConnection
    ) throws -> Int64 {
        let changed = try connection.execute(
            """
            UPDATE device SET name = $1, signature = $2, signer = $3
            WHERE account = $4 AND device_id = $5 AND added = $6 AND revoked = 0
            """,
            [
                .text(device.name), .blob(device.signature), .blob(loginKey.bytes), .integer(account),
                .blob(device.id.bytes),
                .integer(device.added),
            ])
        guard changed > 0 else { throw unknown }
        return try advance(account: account, now: now, in: connection)
    }

    /// Ends the device's sessions and refuses its logins from now on. The same again changes nothing.
    /// - Throws: `unknownItem`.
    package static func revoke(
        _ id: ID16, account: Int64, now: Int64, in connection: any SQLConnection
    ) throws -> Int64 {
        let found = try connection.first(
            "SELECT id, revoked FROM device WHERE account = $1 AND device_id = $2",
            [.integer(account), .blob(id.bytes)]
        ) { (row: try $0.int64("id"), isRevoked: try $0.bool("revoked")) }
        guard let found else { throw unknown }
        guard !found.isRevoked else { return try revision(account: account, in: connection) }
        try connection.execute("UPDATE device SET revoked = 1 WHERE id = $1", [.integer(found.row)])
        try connection.execute("DELETE FROM session WHERE device = $1", [.integer(found.row)])
        return try advance(account: account, now: now, in: connection)
    }

    /// All that had the account's former keys, and no session any more: whoever has the new ones logs in as a new one.
    /// Those that were revoked stay so.
    static func forgetAll(of account: Int64, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM device WHERE account = $1 AND revoked = 0", [.integer(account)])
    }

    static func saw(_ row: Int64, now: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE device SET last_seen = $1 WHERE id = $2 AND last_seen < $1", [.integer(now), .integer(row)])
    }

    private static func makeRoom(account: Int64, in connection: any SQLConnection) throws {
        let old = """
            (SELECT id FROM device WHERE account = $1 AND id NOT IN
                (SELECT id FROM device WHERE account = $1 ORDER BY revoked, last_seen DESC, id DESC LIMIT $2))
            """
        let values: [SQLValue] = [.integer(account), .integer(Int64(mostPerAccount - 1))]
        try connection.execute("DELETE FROM session WHERE device IN \(old)", values)
        try connection.execute("DELETE FROM device WHERE id IN \(old)", values)
    }

    /// The list has changed: whoever has a session is told, and what is remembered of sessions is read again.
    ///
    /// By the clock, so that a server that was restored from a backup gives no revision out a second time: who knows
    /// one of the lost future would take another list for that.
    private static func advance(account: Int64, now: Int64, in connection: any SQLConnection) throws -> Int64 {
        let revision = try connection.first(
            """
            UPDATE account SET device_revision = CASE WHEN device_revision < $2 THEN $2 ELSE device_revision + 1 END
            WHERE id = $1 RETURNING device_revision
            """, [.integer(account), .integer(now)]
        ) { try $0.int64("device_revision") }
        connection.announce(.sessions(account: account))
        return revision ?? 0
    }

    private static let unknown = ServerError(
        .unknownItem, "The account has no such device.", remedy: "List its devices again.")

    private static let revoked = ServerError(
        .permissionFailure, "This device was removed from the account.",
        remedy: "Enrol it again from another device, or with the recovery key.")
}
