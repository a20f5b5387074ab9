import SealStorage
import SealWire
import SwiftProtobuf

/// The rows of containers' management tokens, in the caller's transaction. The server keeps hashes.
enum ManagementTokenRows {
    /// What a token is good for; nil for one that is unknown, revoked or expired.
    static func container(of hash: [UInt8], now: Int64, in connection: any SQLConnection) throws -> String? {
        try connection.first(
            "SELECT container FROM management_token WHERE token_hash = $1 AND (expires IS NULL OR expires > $2)",
            [.blob(hash), .integer(now)]
        ) { try $0.text("container") }
    }

    /// How many a container has; what has expired goes first.
    static func count(of container: String, now: Int64, in connection: any SQLConnection) throws -> Int64 {
        try connection.execute(
            "DELETE FROM management_token WHERE container = $1 AND expires <= $2", [.text(container), .integer(now)])
        return try connection.first(
            "SELECT COUNT(*) AS count FROM management_token WHERE container = $1", [.text(container)]
        ) { try $0.int64("count") } ?? 0
    }

    static func insert(
        _ token: Sealkit_V1_ManagementToken, hash: [UInt8], in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO management_token (container, id, name, token_hash, created, expires)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .text(token.container), .text(token.id), .text(token.name), .blob(hash), .integer(token.created),
                token.expires == 0 ? .null : .integer(token.expires),
            ])
    }

    /// Those that are good, by container and age.
    /// - Parameters:
    ///   - container: empty for all.
    ///   - last: the one before the first.
    static func page(
        of container: String, after last: Sealkit_V1_ManagementToken, limit: Int, now: Int64,
        in connection: any SQLConnection
    ) throws -> [Sealkit_V1_ManagementToken] {
        try connection.rows(
            """
            SELECT id, container, name, created, expires FROM management_token
            WHERE (container = $1 OR $1 = '') AND (expires IS NULL OR expires > $2)
                AND (container, created, id) > ($3, $4, $5) ORDER BY container, created, id LIMIT $6
            """,
            [
                .text(container), .integer(now), .text(last.container), .integer(last.created), .text(last.id),
                .integer(Int64(limit)),
            ]
        ) { row in
            let (id, container, name) = (try row.text("id"), try row.text("container"), try row.text("name"))
            let (created, expires) = (try row.int64("created"), try row.optionalInt64("expires") ?? 0)
            return .with {
                ($0.id, $0.container, $0.name, $0.created, $0.expires) = (id, container, name, created, expires)
            }
        }
    }

    /// - Returns: whose it was, and what for; nil where there was none.
    static func delete(
        _ id: String, in connection: any SQLConnection
    ) throws -> (container: String, name: String)? {
        try connection.rows(
            "DELETE FROM management_token WHERE id = $1 RETURNING container, name", [.text(id)]
        ) { (container: try $0.text("container"), name: try $0.text("name")) }.first
    }
}
