import SealStatements
package import SealStorage
package import SealWire

/// A scope's links, to its owner and administrators.
package struct ScopeLinks {
    private let caller: Caller
    private let scope: ScopeRow
    private let roster: Roster
    private let connection: any SQLConnection

    /// - Parameter name: of the share's record; empty for the zone as a whole.
    /// - Throws: `permissionFailure` to anybody else who sees the scope.
    package init(
        of name: String, in zone: Sealkit_V1_ZoneID, for session: Session, _ path: DatabasePath,
        _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        caller = try Caller(session, container: path.container, in: connection)
        scope = try Shares.scope(name, in: zone, to: caller, path, in: connection)
        roster = try rosters.administrated(scope, by: caller, in: connection)
        self.connection = connection
    }

    package func answer() throws -> Sealkit_V1_LinksResponse {
        var response = Sealkit_V1_LinksResponse()
        response.links = try StoredLinks.all(of: scope, for: caller, in: connection)
        response.sealedLink = try SealedLinkSet.sealed(to: caller.userID, scope: scope, in: connection)
        return response
    }

    /// What an update brings, checked as far as that is possible without the database.
    package struct Update: Sendable {
        private let links: [Sealkit_V1_Link]
        private let sealedLinks: SealedLinkSet

        /// - Throws: `limitExceeded`, `invalidArguments`.
        package init(_ message: Sealkit_V1_UpdateLinksRequest) throws {
            guard message.links.count <= Limits.participantsPerScope + 1 else {
                throw ServerError(.limitExceeded, "Too many links.", remedy: "Send no more than a share has.")
            }
            for link in message.links { try StoredLinks.check(link) }
            links = message.links
            sealedLinks = try SealedLinkSet(message.sealedLinks)
        }

        fileprivate func store(_ kept: ScopeLinks, _ quotas: Quotas) throws {
            try sealedLinks.check(kept.roster)
            let (scope, connection) = (kept.scope, kept.connection)
            let bill = try StorageUsage.Bill(scope.zone, caller: kept.caller, in: connection)
            try StorageUsage.within(quotas, of: bill, connection) {
                for link in links { try StoredLinks.update(link, by: kept.caller, scope: scope, in: connection) }
                try sealedLinks.store(scope: scope, in: connection)
            }
        }
    }

    /// Previews that are sealed anew, and the share-wide secret for administrators who lack it.
    /// - Parameter home: where it is at home; nil: it has everything.
    package func store(_ update: Update, _ quotas: Quotas, at home: ZoneHome?) throws {
        try home?.check(scope.zone)
        try update.store(self, quotas)
    }
}
