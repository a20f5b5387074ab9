import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// Requests for access to a scope, to its owner and administrators.
package struct AccessAnswering {
    private let scope: ScopeRow
    private let roster: Roster
    private let connection: any SQLConnection

    /// - Parameter name: of the share's record; empty for the zone as a whole.
    /// - Throws: `permissionFailure` to anybody else who sees the scope.
    package init(
        _ name: String, in zone: Sealkit_V1_ZoneID, by session: Session, _ path: DatabasePath,
        _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        let caller = try Caller(session, container: path.container, in: connection)
        scope = try Shares.scope(name, in: zone, to: caller, path, in: connection)
        roster = try rosters.administrated(scope, by: caller, in: connection)
        self.connection = connection
    }

    package func waiting() throws -> Sealkit_V1_FetchShareAccessResponse {
        var response = Sealkit_V1_FetchShareAccessResponse()
        response.allowsRequests = try AccessRequests.areAllowed(scope, in: connection)
        response.requesters = try AccessRequests.waiting(scope, in: connection)
        response.approved = try AccessRequests.approved(scope, in: connection)
        return response
    }

    /// Who is denied by a request.
    /// - Throws: `limitExceeded`, `invalidArguments`.
    package static func denied(_ message: Sealkit_V1_UpdateShareAccessRequest) throws(ServerError) -> [UserID] {
        guard message.denied.count <= AccessRequests.mostPerShare else {
            throw ServerError(
                .limitExceeded, "Too many requests to deny at once.",
                remedy: "Send at most \(AccessRequests.mostPerShare).")
        }
        return try message.denied.map { name throws(ServerError) in
            do { return try UserID(recordName: name) } catch {
                throw ServerError(
                    .invalidArguments, "Somebody who is denied is named by no user record name.",
                    remedy: "Send the names as the server gave them.")
            }
        }
    }

    /// - Parameters:
    ///   - allows: whether requests are taken from now on; nil leaves that as it is.
    ///   - home: where it is at home; nil: it has everything.
    /// - Throws: `unknownItem` for a zone that is not shared.
    package func update(denied: [UserID], allows: Bool?, at home: ZoneHome?) throws {
        try home?.check(scope.zone)
        guard roster.isShared else {
            throw ServerError(.unknownItem, "The zone is not shared.", remedy: "Save its share first.")
        }
        for user in denied { try AccessRequests.removeUnanswered(of: user, scope: scope, in: connection) }
        if let allows { try AccessRequests.allow(allows, scope: scope, in: connection) }
    }
}
