import Foundation
import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Who asked for access to a share, in the caller's transaction. A row that was approved stays while its user is
/// invited or a member, so that the owner sees who came this way.
package enum AccessRequests {
    /// Unanswered ones of one share.
    package static let mostPerShare = 100
    /// Unanswered ones of one user, in all shares of a container.
    package static let mostPerUser = 100

    private static let requester = "(SELECT id FROM identity WHERE container = $4 AND user_name = $5)"

    private static func key(_ user: UserID, _ scope: ScopeRow) -> [SQLValue] {
        scope.key + [.text(scope.zone.container), .text(user.recordName)]
    }

    // MARK: Whether anybody may ask

    package static func areAllowed(_ scope: ScopeRow, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM share_access WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }

    /// What was asked goes unanswered where nobody may ask any more.
    package static func allow(_ allowed: Bool, scope: ScopeRow, in connection: any SQLConnection) throws {
        if allowed {
            try connection.execute(
                "INSERT INTO share_access (owner, zone, share) VALUES ($1, $2, $3) ON CONFLICT (owner, zone, share) DO NOTHING",
                scope.key)
        } else {
            try forbid(scope, in: connection)
            try connection.execute(
                "DELETE FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3 AND approved = 0",
                scope.key)
        }
    }

    /// The share's life ends, or its zone's.
    package static func removeAll(of scope: ScopeRow, in connection: any SQLConnection) throws {
        try forbid(scope, in: connection)
        try connection.execute(
            "DELETE FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }

    private static func forbid(_ scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM share_access WHERE owner = $1 AND zone = $2 AND share = $3", scope.key)
    }

    // MARK: Requests

    /// - Returns: whether it is new; asking again takes the place of what was asked before.
    /// - Throws: `limitExceeded`.
    package static func add(
        _ request: Sealkit_V1_RequestShareAccessRequest, by caller: Caller, scope: ScopeRow, now: Int64,
        in connection: any SQLConnection
    ) throws -> Bool {
        let isKnown = try connection.exists(
            "SELECT 1 FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3 AND requester = $4 AND approved = 0",
            scope.key + [.integer(caller.id)])
        if !isKnown {
            let waiting = try connection.first(
                "SELECT COUNT(*) AS count FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3 AND approved = 0",
                scope.key
            ) { try $0.int64("count") }
            guard waiting ?? 0 < mostPerShare else {
                throw ServerError(
                    .limitExceeded, "Too many people wait for access to this share.",
                    remedy: "Try again once its owner has answered some of them.")
            }
            let asked = try connection.first(
                "SELECT COUNT(*) AS count FROM access_request WHERE requester = $1 AND approved = 0",
                [.integer(caller.id)]
            ) { try $0.int64("count") }
            guard asked ?? 0 < mostPerUser else {
                throw ServerError(
                    .limitExceeded, "The caller waits for access to too many shares.",
                    remedy: "Wait until some of the requests are answered.")
            }
        }
        try connection.execute(
            """
            INSERT INTO access_request (owner, zone, share, requester, request, contact, created, approved)
            VALUES ($1, $2, $3, $4, $5, $6, $7, 0) ON CONFLICT (owner, zone, share, requester) DO UPDATE
            SET request = excluded.request, contact = excluded.contact, created = excluded.created, approved = 0
            """,
            scope.key + [
                .integer(caller.id), .data(request.requestID), .data(request.sealedContact), .integer(now),
            ])
        return !isKnown
    }

    /// Those who wait for an answer, oldest first.
    package static func waiting(
        _ scope: ScopeRow, in connection: any SQLConnection
    ) throws -> [Sealkit_V1_AccessRequester] {
        try connection.rows(
            """
            SELECT r.request, r.contact, r.created, i.chain FROM access_request r JOIN identity i ON i.id = r.requester
            WHERE r.owner = $1 AND r.zone = $2 AND r.share = $3 AND r.approved = 0 ORDER BY r.created, r.requester
            """, scope.key
        ) { row in
            var requester = Sealkit_V1_AccessRequester()
            requester.requestID = try row.data("request")
            requester.sealedContact = try row.data("contact")
            requester.time = try row.int64("created")
            requester.chain = try Sealkit_V1_IdentityChain(serializedBytes: try row.data("chain"))
            return requester
        }
    }

    /// The user names of those who asked and were invited.
    package static func approved(_ scope: ScopeRow, in connection: any SQLConnection) throws -> [String] {
        try connection.rows(
            """
            SELECT i.user_name FROM access_request r JOIN identity i ON i.id = r.requester
            WHERE r.owner = $1 AND r.zone = $2 AND r.share = $3 AND r.approved = 1 ORDER BY i.user_name
            """, scope.key
        ) { try $0.text("user_name") }
    }

    static func approve(_ user: UserID, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE access_request SET approved = 1 WHERE owner = $1 AND zone = $2 AND share = $3 AND requester = \(requester)",
            key(user, scope))
    }

    package static func remove(of user: UserID, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3 AND requester = \(requester)",
            key(user, scope))
    }

    package static func removeUnanswered(of user: UserID, scope: ScopeRow, in connection: any SQLConnection) throws {
        try connection.execute(
            "DELETE FROM access_request WHERE owner = $1 AND zone = $2 AND share = $3 AND approved = 0 AND requester = \(requester)",
            key(user, scope))
    }
}
