import SealPrimitives
import SealStatements
import SealStorage

/// A code that was sent and is waited for.
struct PendingVerification: Sendable {
    static let lifetime = CodeMessage.lifetime
    static let clockTolerance = CodeMessage.clockTolerance
    static let tries: Int64 = 5
    static let idBytes = 16
    static let codeDigits = 8

    let id: [UInt8]
    let account: Int64
    let container: String
    let userID: UserID
    /// 16 bytes, or empty to link an address only.
    let routingID: [UInt8]
    let addressHash: [UInt8]
    let kind: Address.Kind
    let codeHash: [UInt8]
    let expires: Int64

    var share: ID16? { get throws { routingID.isEmpty ? nil : try ID16(routingID) } }
}

/// The rows of verifications, in the caller's transaction.
enum Verifications {
    static func insert(
        _ verification: PendingVerification, now: Int64, in connection: any SQLConnection
    ) throws {
        try connection.dropSome(of: "verification", key: "id", where: "expires <= $1", [.integer(now)])
        try connection.execute(
            """
            INSERT INTO verification
                (id, account, container, user_name, routing_id, address_hash, code_hash, attempts, created, expires, kind)
            VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10)
            """,
            [
                .blob(verification.id), .integer(verification.account), .text(verification.container),
                .text(verification.userID.recordName), .blob(verification.routingID), .blob(verification.addressHash),
                .blob(verification.codeHash), .integer(now), .integer(verification.expires),
                .text(verification.kind.rawValue),
            ])
    }

    /// Counts a try and returns what it is a try at; nil when there is none, it has expired, or its tries are used up.
    /// One that would live longer than any does was made before a clock was set back: it has expired too.
    static func countTry(
        _ id: [UInt8], now: Int64, in connection: any SQLConnection
    ) throws -> PendingVerification? {
        try connection.first(
            """
            UPDATE verification SET attempts = attempts + 1
            WHERE id = $1 AND expires > $2 AND attempts < $3 AND expires <= $4
            RETURNING account, container, user_name, routing_id, address_hash, code_hash, expires, kind
            """,
            [
                .blob(id), .integer(now), .integer(PendingVerification.tries),
                .integer(now + PendingVerification.lifetime + PendingVerification.clockTolerance),
            ]
        ) { row in
            guard let kind = Address.Kind(rawValue: try row.text("kind")) else {
                throw StorageError.unexpectedType(column: "kind", wanted: "a kind of address")
            }
            return PendingVerification(
                id: id, account: try row.int64("account"), container: try row.text("container"),
                userID: try UserID(recordName: try row.text("user_name")), routingID: try row.bytes("routing_id"),
                addressHash: try row.bytes("address_hash"), kind: kind, codeHash: try row.bytes("code_hash"),
                expires: try row.int64("expires"))
        }
    }

    static func delete(_ id: [UInt8], in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM verification WHERE id = $1", [.blob(id)])
    }

    /// Eight digits, each of the hundred million equally likely (but for one part in a hundred thousand million).
    static func code(from randomBytes: [UInt8]) -> String {
        let number = randomBytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000_000
        let digits = String(number)
        return String(repeating: "0", count: PendingVerification.codeDigits - digits.count) + digits
    }
}
