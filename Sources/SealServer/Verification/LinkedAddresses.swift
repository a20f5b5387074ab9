/// Which addresses have been proven to be whose, by hash.
enum LinkedAddresses {
    static func isLinked(_ hash: [UInt8], to account: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM linked_address WHERE address_hash = $1 AND account = $2", [.blob(hash), .integer(account)])
    }

    static func hashes(of account: Int64, in connection: any SQLConnection) throws -> [[UInt8]] {
        try connection.rows(
            "SELECT address_hash FROM linked_address WHERE account = $1 ORDER BY linked", [.integer(account)]
        ) { try $0.bytes(0) }
    }

    static func account(of hash: [UInt8], in connection: any SQLConnection) throws -> Int64? {
        try connection.first("SELECT account FROM linked_address WHERE address_hash = $1", [.blob(hash)]) {
            try $0.int64(0)
        }
    }

    /// The newest proof counts: mailboxes and numbers change hands.
    static func link(_ hash: [UInt8], to account: Int64, now: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO linked_address (address_hash, account, linked) VALUES ($1, $2, $3)
            ON CONFLICT (address_hash) DO UPDATE SET account = excluded.account, linked = excluded.linked
            """, [.blob(hash), .integer(account), .integer(now)])
    }
}
