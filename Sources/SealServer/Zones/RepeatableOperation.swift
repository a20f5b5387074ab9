import Foundation
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Answers that were given, by account and operation id, so that a mutation whose answer got lost can be repeated safely.
enum Operations {
    /// A day, in microseconds.
    static let kept: Int64 = 86_400_000_000

    /// - Throws: `invalidArguments` unless the id has 16 bytes.
    static func check(_ id: Data) throws(ServerError) {
        guard id.count == ID16.byteCount else {
            throw ServerError(
                .invalidArguments, "The operation id must have 16 bytes.",
                remedy: "Make 16 random bytes for each operation, and send the same ones again only to repeat it.")
        }
    }

    /// The stored answer's bytes, where this account has done this operation already.
    static func answer(
        _ id: Data, kind: String, of account: Int64, in connection: any SQLConnection
    ) throws -> Data? {
        let found = try connection.first(
            "SELECT kind, response FROM operation WHERE account = $1 AND id = $2", [.integer(account), .data(id)]
        ) { (kind: try $0.text(0), response: try $0.data(1)) }
        guard let found else { return nil }
        guard found.kind == kind else {
            throw ServerError(
                .invalidArguments, "The operation id was used for another kind of operation.",
                remedy: "Make a new id for each operation.")
        }
        return found.response
    }

    /// Keeps an answer, in the transaction of what it answers.
    static func keep(
        _ response: Data, _ id: Data, kind: String, of account: Int64, now: Int64, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            "INSERT INTO operation (account, id, kind, response, created) VALUES ($1, $2, $3, $4, $5)",
            [.integer(account), .data(id), .text(kind), .data(response), .integer(now)])
    }

    static func sweep(now: Int64, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM operation WHERE created < $1", [.integer(now - kept)])
    }
}
