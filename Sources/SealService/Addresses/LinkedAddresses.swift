import Foundation
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Which addresses have been proven to be whose, by hash.
package enum LinkedAddresses {
    static func isLinked(_ hash: [UInt8], to account: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM linked_address WHERE address_hash = $1 AND account = $2", [.blob(hash), .integer(account)])
    }

    package static func hashes(of account: Int64, in connection: any SQLConnection) throws -> [[UInt8]] {
        try connection.rows(
            "SELECT address_hash FROM linked_address WHERE account = $1 ORDER BY linked", [.integer(account)]
        ) { try $0.bytes("address_hash") }
    }

    /// The newest proof counts: mailboxes and numbers change hands. Whether look-ups find an address is up to whoever
    /// has it now: a new holder begins without, and proving it again for a share hides nothing.
    package static func link(
        _ hash: [UInt8], _ kind: Address.Kind, to account: Int64, isDiscoverable: Bool, now: Int64,
        in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO linked_address (address_hash, account, linked, kind, discoverable) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (address_hash) DO UPDATE SET
                discoverable = CASE WHEN linked_address.account = excluded.account AND excluded.discoverable = 0
                    THEN linked_address.discoverable ELSE excluded.discoverable END,
                account = excluded.account, linked = excluded.linked, kind = excluded.kind
            """,
            [
                .blob(hash), .integer(account), .integer(now), .text(kind.rawValue), .integer(isDiscoverable ? 1 : 0),
            ])
    }

    // MARK: What their account may see and do

    private static let columns = "address_hash, kind, linked, discoverable"

    package static func all(
        of account: Int64, _ addresses: AddressHasher, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_LinkedAddress] {
        try connection.rows(
            "SELECT \(columns) FROM linked_address WHERE account = $1 ORDER BY linked, address_hash",
            [.integer(account)]
        ) { try wire($0, addresses) }
    }

    /// - Throws: `unknownItem` where it is not the account's: whether it is anybody's is not told apart.
    package static func setDiscoverable(
        _ isDiscoverable: Bool, _ handle: AddressHandle, of account: Int64, _ addresses: AddressHasher,
        in connection: any SQLConnection
    ) throws -> Sealkit_V1_LinkedAddress {
        let changed = try handle.hash(of: account, addresses, in: connection).flatMap { hash in
            try connection.first(
                """
                UPDATE linked_address SET discoverable = $3 WHERE address_hash = $1 AND account = $2
                RETURNING \(columns)
                """, [.blob(hash), .integer(account), .integer(isDiscoverable ? 1 : 0)]
            ) { try wire($0, addresses) }
        }
        guard let changed else {
            throw ServerError(
                .unknownItem, "This address is not linked to the account.",
                remedy: "Prove it first: begin a verification of it.")
        }
        return changed
    }

    /// - Returns: whether it was linked.
    package static func unlink(
        _ handle: AddressHandle, from account: Int64, _ addresses: AddressHasher, in connection: any SQLConnection
    ) throws -> Bool {
        guard let hash = try handle.hash(of: account, addresses, in: connection) else { return false }
        return try connection.execute(
            "DELETE FROM linked_address WHERE address_hash = $1 AND account = $2", [.blob(hash), .integer(account)]) > 0
    }

    private static func wire(_ row: any SQLRow, _ addresses: AddressHasher) throws -> Sealkit_V1_LinkedAddress {
        let (hash, kind) = (try row.bytes("address_hash"), try row.text("kind"))
        let (linked, isDiscoverable) = (try row.int64("linked"), try row.bool("discoverable"))
        return .with {
            $0.id = Data(addresses.publicID(of: hash))
            $0.kind = kind
            $0.linked = linked
            $0.isDiscoverable = isDiscoverable
        }
    }
}
