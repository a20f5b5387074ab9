package import Foundation
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// A request that is done once, however often it comes: its answer is kept by account and operation id, so that one
/// whose answer got lost can be repeated safely.
///
/// The id stands for one request. The same id with another one is refused: its sender would take for done what was not.
package struct RepeatableOperation: Sendable {
    /// A day, in microseconds.
    package static let kept: Int64 = 86_400_000_000

    package let kind: String
    private let id: Data
    /// Names the request: where it is about, and what it asks for.
    private let request: [UInt8]

    /// - Parameters:
    ///   - endpoint: the same id at another one is another operation.
    ///   - path: the database that the request is about; nil for one that names that itself.
    ///   - content: what it asks for, the same in every spelling.
    /// - Throws: `invalidArguments` unless the id has 16 bytes.
    package init<Access, Request: OperationRequest, Answer>(
        _ message: Request, of endpoint: Endpoint<Access, Request, Answer>, _ path: DatabasePath?, _ content: [UInt8]
    ) throws(ServerError) {
        let (id, kind) = (message.operationID, endpoint.route.name)
        guard id.count == ID16.byteCount else {
            throw ServerError(
                .invalidArguments, "The operation id must have 16 bytes.",
                remedy: "Make 16 random bytes for each operation, and send the same ones again only to repeat it.")
        }
        (self.id, self.kind) = (id, kind)
        request = ServerHash.digest(
            .operation, Array(kind.utf8), Array((path?.container ?? "").utf8), [path?.environment.rawValue ?? 0],
            Array((path?.database.rawValue ?? "").utf8), content)
    }

    /// The stored answer's bytes, where this account has done this already. In a transaction that writes: whoever is
    /// answered with them is answered once they are there for good.
    package func answer(of account: Int64, in connection: any SQLConnection) throws -> Data? {
        let found = try seenAnswer(of: account, in: connection)
        if found != nil { try connection.ensureKept() }
        return found
    }

    /// The same from a snapshot. With PostgreSQL nobody is told of it before a transaction at home here has found it
    /// too (`answer`): it may be of a commit that still waits for the standby, or was kept from that.
    package func seenAnswer(of account: Int64, in connection: any SQLConnection) throws -> Data? {
        let found = try connection.first(
            "SELECT kind, request, response FROM operation WHERE id = $1 AND account = $2",
            [.data(id), .integer(account)]
        ) { (kind: try $0.text("kind"), request: try $0.bytes("request"), response: try $0.data("response")) }
        guard let found else { return nil }
        guard found.kind == kind, found.request == request else {
            throw ServerError(
                .invalidArguments, "The operation id was used for another operation.",
                remedy: "Make a new id for each operation, and repeat one with exactly what it was sent with.")
        }
        return found.response
    }

    /// Where nothing but a kept answer is looked for.
    package var home: Home { .entry(Array("operation ".utf8) + id) }

    /// What an answer of so many bytes is billed with.
    static func billed(_ bytes: Int) -> Int64 { Billing.rowOverhead + Int64(bytes) }

    /// Keeps an answer, in the transaction of what it answers.
    /// - Parameter isBilled: it is on the account's bill already, with all else that the request did.
    package func keep(
        _ response: Data, of account: Int64, isBilled: Bool = false, now: Int64, in connection: any SQLConnection
    ) throws {
        if !isBilled { try StorageUsage.add(Self.billed(response.count), to: account, in: connection) }
        try connection.execute(
            "INSERT INTO operation (account, id, kind, request, response, created) VALUES ($1, $2, $3, $4, $5, $6)",
            [.integer(account), .data(id), .text(kind), .blob(request), .data(response), .integer(now)])
    }

    struct Old: Sendable {
        let number: Int64
        let account: Int64
    }

    /// Some that are old enough to be forgotten: of the first that were kept, since rows lie in that order. One of a
    /// time to come, which a clock has left that was ahead, is forgotten too: those after it would lie behind it.
    static func old(now: Int64, in connection: any SQLConnection) throws -> [Old] {
        try connection.rows(
            """
            SELECT number, account FROM (SELECT number, account, created FROM operation ORDER BY number LIMIT $2) AS first
            WHERE created < $1 OR created > $3
            """, [.integer(now - kept), .integer(sweptAtOnce), .integer(now + mostAhead)]
        ) { Old(number: try $0.int64("number"), account: try $0.int64("account")) }
    }

    /// An hour, in microseconds: so far apart the clocks of several servers are not.
    private static let mostAhead: Int64 = 3_600_000_000

    /// Forgets them. Nothing ever changes one.
    static func drop(_ old: [Old], in connection: any SQLConnection) throws {
        try connection.executeEach("DELETE FROM operation WHERE number = $1", old.map { [.integer($0.number)] })
    }

    /// One step has the bills of all of them beside it.
    private static let sweptAtOnce: Int64 = 200
}
