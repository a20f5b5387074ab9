import Foundation
import SealPrimitives
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// The mailboxes by which one device brings the account to another, in the caller's transaction. The server reads
/// nothing of what it passes on; each message is put in once, and the same again changes nothing.
package enum Enrolments {
    static let lifetime: Int64 = 600_000_000
    static let nonceBytes = 32
    static let grantKeyBytes = 1_216
    /// That many at once, over all accounts: a new device has none yet that could be counted.
    package static let mostOpen = 10_000

    /// Which of the two devices asks.
    enum Side: Sendable {
        case new(ticketHash: [UInt8])
        case old(Session)
    }

    static func open(
        _ id: ID16, ticketHash: [UInt8], commitment: [UInt8], now: Int64, in connection: any SQLConnection
    ) throws -> Int64 {
        try sweep(now: now, in: connection)
        let count =
            try connection.first("SELECT COUNT(*) AS count FROM enrolment WHERE expires > $1", [.integer(now)]) {
                try $0.int64("count")
            } ?? 0
        guard count < mostOpen else {
            throw ServerError(
                .serviceUnavailable, "Too many devices are being enrolled at once.", remedy: "Try again.",
                retryAfter: 60)
        }
        let expires = now + lifetime
        let made = try connection.execute(
            """
            INSERT INTO enrolment (id, ticket_hash, commitment, expires) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING
            """, [.blob(id.bytes), .blob(ticketHash), .blob(commitment), .integer(expires)])
        guard made > 0 else {
            throw ServerError(
                .constraintViolation, "There is an enrolment of this id already.",
                remedy: "Make a new one: its id is random.")
        }
        return expires
    }

    /// The first account that asks has it.
    static func claim(
        _ id: ID16, account: Int64, now: Int64, in connection: any SQLConnection
    ) throws -> (commitment: Data, expires: Int64) {
        let found = try connection.first(
            "SELECT account, commitment, expires FROM enrolment WHERE id = $1 AND expires > $2",
            [.blob(id.bytes), .integer(now)]
        ) {
            (
                account: try $0.optionalInt64("account"), commitment: try $0.data("commitment"),
                expires: try $0.int64("expires")
            )
        }
        guard let found else { throw unknown }
        guard found.account == nil || found.account == account else { throw taken }
        try connection.execute("UPDATE enrolment SET account = $1 WHERE id = $2", [.integer(account), .blob(id.bytes)])
        return (found.commitment, found.expires)
    }

    /// Puts a message in.
    /// - Parameters:
    ///   - message: its columns and what is to be in them.
    ///   - earlier: a column of the other device's message that has to be there before.
    static func put(
        _ message: [(column: StaticString, bytes: [UInt8])], after earlier: String?, _ id: ID16, by side: Side,
        now: Int64,
        in connection: any SQLConnection
    ) throws {
        let columns = message.map(\.column.description).joined(separator: ", ")
        let found = try connection.first(
            """
            SELECT ticket_hash, account, \(earlier.map { "\($0) IS NULL" } ?? "0") AS early, \(columns) FROM enrolment
            WHERE id = $1 AND expires > $2
            """,
            [.blob(id.bytes), .integer(now)]
        ) { row in
            (
                isOne: isOne(side, ticketHash: try row.bytes("ticket_hash"), account: try row.optionalInt64("account")),
                isEarly: try row.bool("early"), there: try message.map { try row.optionalBytes($0.column) }
            )
        }
        guard let found, found.isOne else { throw unknown }
        guard !found.isEarly else {
            throw ServerError(
                .serverRejectedRequest, "The other device has to send its message first.",
                remedy: "Ask for it, and try again.")
        }
        if found.there.contains(where: { $0 != nil }) {
            guard found.there == message.map({ $0.bytes }) else { throw sent }
            return
        }
        let changes = message.enumerated().map { "\($1.column) = $\($0 + 2)" }.joined(separator: ", ")
        try connection.execute(
            "UPDATE enrolment SET \(changes) WHERE id = $1", [.blob(id.bytes)] + message.map { .blob($0.bytes) })
    }

    /// What the other device has put in so far.
    static func state(
        _ id: ID16, of side: Side, now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_EnrolmentStateResponse {
        let (first, second, third) =
            switch side {
            case .new: ("answer", "login_key", "sealed")
            case .old: ("grant_key", "nonce", "NULL")
            }
        let found = try connection.first(
            """
            SELECT ticket_hash, account, \(first) AS first, \(second) AS second, \(third) AS third FROM enrolment
            WHERE id = $1 AND expires > $2
            """,
            [.blob(id.bytes), .integer(now)]
        ) { row in
            (
                isOne: isOne(side, ticketHash: try row.bytes("ticket_hash"), account: try row.optionalInt64("account")),
                first: try row.optionalData("first") ?? Data(), second: try row.optionalData("second") ?? Data(),
                third: try row.optionalData("third") ?? Data()
            )
        }
        guard let found, found.isOne else { throw unknown }
        return .with {
            switch side {
            case .new: ($0.answer, $0.loginKey, $0.sealed) = (found.first, found.second, found.third)
            case .old: ($0.grantKey, $0.nonce) = (found.first, found.second)
            }
        }
    }

    /// Nothing is left of it. One that is gone already is gone.
    static func end(_ id: ID16, by side: Side, in connection: any SQLConnection) throws {
        switch side {
        case .new(let ticketHash):
            try connection.execute(
                "DELETE FROM enrolment WHERE id = $1 AND ticket_hash = $2", [.blob(id.bytes), .blob(ticketHash)])
        case .old(let session):
            try connection.execute(
                "DELETE FROM enrolment WHERE id = $1 AND account = $2", [.blob(id.bytes), .integer(session.accountID)])
        }
    }

    /// Some of those that have expired: each may hold a whole account's secrets, some megabytes.
    /// - Returns: whether there may be more.
    @discardableResult
    static func sweep(now: Int64, in connection: any SQLConnection) throws -> Bool {
        try connection.dropSome(of: "enrolment", key: "id", where: "expires <= $1", [.integer(now)], count: sweptAtOnce)
            > 0
    }

    /// More than any request adds.
    private static let sweptAtOnce: Int64 = 5

    private static func isOne(_ side: Side, ticketHash: [UInt8], account: Int64?) -> Bool {
        switch side {
        case .new(let shown): constantTimeEqual(shown, ticketHash)
        case .old(let session): account == session.accountID
        }
    }

    /// Of one that there is not, that has expired, or that is somebody else's.
    private static let unknown = ServerError(
        .unknownItem, "There is no such enrolment, or not any more.",
        remedy: "Begin again on the new device; an enrolment lasts ten minutes.")

    private static let taken = ServerError(
        .constraintViolation, "Another account has taken this enrolment.",
        remedy: "Begin again on the new device, and show what it says to nobody else.")

    private static let sent = ServerError(
        .constraintViolation, "Another message of this kind has been sent in this enrolment.",
        remedy: "Begin again on the new device.")
}
