import SealCoding
import SealPrimitives
import SealStatements
import SealWire

/// By what a save's statements are judged before they are compared with what is stored: in a zone by its roster, in the
/// public database by their author's identity (what the author may do there is `PublicRights`' question).
enum SaveJudge: Sendable {
    case roster(Roster)
    case identity(IdentityChain, DatabasePath)

    /// For one caller in one place, from the snapshot that the caller was found in.
    init(
        _ zone: ZoneRow, _ caller: Caller, _ path: DatabasePath, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws {
        guard path.database == .public else {
            self = .roster(try rosters.roster(of: zone, in: connection))
            return
        }
        guard let found = try Identities.find(account: caller.accountID, container: path.container, in: connection) else {
            throw StorageError.failed(code: 0, message: "an identity is gone")
        }
        self = .identity(found.chain, path)
    }

    /// May this caller write now?
    func checkRights(of caller: Caller) throws(ServerError) {
        guard case .roster(let roster) = self else { return }
        guard roster.permission(of: caller.userID) == .readWrite else {
            throw ServerError(
                .permissionFailure, "The caller may read this zone, not write to it.",
                remedy: "Ask the zone's owner for the permission to write.")
        }
        guard !roster.rotationDue else { throw ServerError.rotationDue }
    }

    /// The key that must have signed a statement, which is about this place and time.
    func authorKey(of statement: Statement, recordName: String) throws(ServerError) -> VerificationKey {
        switch self {
        case .roster(let roster):
            let key = try ServerError.checking("The statement") { () throws(SealError) in
                try StatementVerifier.authorKey(of: statement, recordName: recordName, roster: roster)
            }
            let epoch = roster.currentEpoch.context
            guard statement.epoch == epoch.epoch, statement.incarnations == epoch.incarnations else {
                throw ServerError.staleEpoch
            }
            guard statement.formerScope == nil else {
                throw ServerError(
                    .incompatibleVersion, "This server does not serve hierarchical shares yet.",
                    remedy: "Leave the record in its zone's scope.")
            }
            return key
        case .identity(let chain, let path):
            try ServerError.checking("The statement") { () throws(SealError) in
                try PublicStatements.check(
                    statement, author: chain, container: path.container, environment: path.environment,
                    recordName: recordName)
            }
            // Readers accept every generation, since nothing orders them; what is written now is signed by the newest.
            return chain.current.signingKey
        }
    }

    /// Whether a field of this form belongs here.
    func check(_ field: WireField) throws(ServerError) {
        switch (self, field) {
        case (_, .digest), (_, .stored(.plain, _)), (.roster, .stored), (.identity, .publicAsset): return
        case (.roster, .publicAsset):
            throw ServerError(
                .invalidArguments, "An asset that is not sealed is for the public database only.", remedy: "Seal the asset.")
        case (.identity, .stored(.encrypted, _)):
            throw ServerError(
                .invalidArguments, "The public database takes no encrypted values: whoever may read has no key.",
                remedy: "Store the value in a private database, or as a plain field.")
        case (.identity, .stored(.asset, _)):
            throw ServerError(
                .invalidArguments, "The public database takes no sealed assets: whoever may read has no key.",
                remedy: "Send the asset as it is, with its size and root.")
        }
    }

    /// Things may have moved on since the batch was judged: asked again in its transaction.
    func recheck(
        _ caller: Caller, _ zone: ZoneRow, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws {
        guard case .roster(let judged) = self, zone.head != judged.head else { return }
        let roster = try rosters.roster(of: zone, in: connection)
        try SaveJudge.roster(roster).checkRights(of: caller)
        guard roster.currentEpoch.context == judged.currentEpoch.context else { throw ServerError.staleEpoch }
    }
}
