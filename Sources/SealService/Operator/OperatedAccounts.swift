import Foundation
import SealPrimitives
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Accounts as the server's operator sees them: when they came and were seen, how much they store, and whether they are
/// suspended. The server could tell nothing of what they store.
///
/// Accounts are those that somebody can log in to: neither deleted ones, nor those of server-to-server keys.
package struct OperatedAccounts: Sendable {
    /// What is looked for, in UTF-8.
    private static let mostFindBytes = 512
    private static let day: Int64 = 86_400_000_000

    let addresses: AddressHasher
    let quotas: Quotas

    package init(addresses: AddressHasher, quotas: Quotas) {
        (self.addresses, self.quotas) = (addresses, quotas)
    }

    /// One statement, from a snapshot. Looking for a part of a name reads every account.
    /// - Throws: `invalidArguments` for a cursor that is none, and for what is too long to be found.
    package func list(
        _ message: Sealkit_V1_ListAccountsRequest, in connection: any SQLConnection
    ) throws -> Sealkit_V1_ListAccountsResponse {
        guard message.find.utf8.count <= Self.mostFindBytes else {
            throw ServerError(
                .invalidArguments, "What is looked for is longer than \(Self.mostFindBytes) bytes.",
                remedy: "Give a part of an account's name or of a user record name, or a whole address.")
        }
        let last = try ListCursor.number(message.cursor) ?? 0
        let limit = ListCursor.limit(message.limit)
        let condition: String
        let sought: SQLValue
        if Self.looksLikeAnAddress(message.find) {
            (condition, sought) = (Self.hasAddress, .blob(try addresses.hash(message.find)))
        } else {
            (condition, sought) = (Self.hasPart, .text(message.find))
        }
        // One more than a page holds tells whether there is another one.
        let found = try connection.rows(
            """
            SELECT \(Self.columns) FROM account a WHERE a.id > $1 AND \(Self.isLiving) AND \(condition)
                \(message.suspendedOnly ? "AND a.suspended IS NOT NULL" : "") ORDER BY a.id LIMIT $3
            """, [.integer(last), sought, .integer(Int64(limit + 1))]
        ) { (id: try $0.int64("id"), account: try account($0)) }
        let page = found.prefix(limit)
        var accounts: [Sealkit_V1_OperatedAccount] = []
        for (id, account) in page { accounts.append(try naming(account, id, in: connection)) }
        return .with {
            $0.accounts = accounts
            if found.count > limit, let last = page.last { $0.cursor = ListCursor.data(last.id) }
        }
    }

    func account(_ id: Int64, in connection: any SQLConnection) throws -> Sealkit_V1_OperatedAccount {
        let found = try connection.first(
            "SELECT \(Self.columns) FROM account a WHERE a.id = $1", [.integer(id)], { try account($0) })
        guard let found else { throw AccountHandle.unknown }
        return try naming(found, id, in: connection)
    }

    /// The account that a message names; nil where it names none.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func find(_ text: String, in connection: any SQLConnection) throws -> Int64? {
        text.isEmpty ? nil : try AccountHandle(text: text, addresses: addresses).find(in: connection)
    }

    // MARK: SQL

    static let isLiving = "EXISTS (SELECT 1 FROM login_key k WHERE k.account = a.id AND k.replaced = 0)"

    static func looksLikeAnAddress(_ text: String) -> Bool { text.utf8.contains(0x40) || text.utf8.first == 0x2B }

    private static let hasAddress = "a.id IN (SELECT account FROM linked_address WHERE address_hash = $2)"
    /// Without the part it is another text: both dialects have `REPLACE`, and each another word for looking for one.
    private static let hasPart = """
        ($2 = '' OR REPLACE(a.name, $2, '') <> a.name OR EXISTS (SELECT 1 FROM identity i WHERE i.account = a.id
            AND REPLACE(i.container || '/' || i.user_name, $2, '') <> i.container || '/' || i.user_name))
        """

    private static let columns = """
        a.id, a.name, a.created, a.suspended, a.suspension_reason, a.storage_quota AS quota,
        (SELECT COUNT(*) FROM device d WHERE d.account = a.id AND d.revoked = 0) AS devices,
        (SELECT MAX(d.last_seen) FROM device d WHERE d.account = a.id) AS seen,
        COALESCE((SELECT u.bytes FROM storage_usage u WHERE u.account = a.id AND u.owner = 0 AND u.zone = 0), 0) AS bytes
        """

    private func account(_ row: any SQLRow) throws -> Sealkit_V1_OperatedAccount {
        var account = Sealkit_V1_OperatedAccount()
        account.account = try row.text("name")
        account.created = try row.int64("created")
        // To the day: the hours at which somebody is awake are no business of an operator's.
        let seen = try row.optionalInt64("seen") ?? 0
        account.lastSeen = seen - seen % Self.day
        account.devices = UInt32(clamping: try row.int64("devices"))
        account.bytes = UInt64(clamping: try row.int64("bytes"))
        let quota = try row.optionalInt64("quota")
        account.hasOwnLimit_p = quota != nil
        account.bytesLimit = UInt64(clamping: quotas.storageLimit(own: quota))
        if let suspension = try Suspension(row) {
            account.suspension = .with {
                $0.since = suspension.since
                $0.reason = suspension.reason
            }
        }
        return account
    }

    private func naming(
        _ account: Sealkit_V1_OperatedAccount, _ id: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_OperatedAccount {
        var account = account
        account.identities = try Identities.names(of: id, in: connection).map { "\($0.container)/\($0.user)" }
        return account
    }
}
