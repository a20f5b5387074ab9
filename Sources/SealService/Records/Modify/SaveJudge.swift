import SealCoding
import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// By what a save's statements are judged before they are compared with what is stored: in a zone by its rosters, in
/// the public database by their author's identity (what the author may do there is `PublicRights`' question).
enum SaveJudge: Sendable {
    case rosters(ZoneRosters)
    case identity(IdentityChain, DatabasePath)

    /// For one caller in one place, from the snapshot that the caller was found in.
    /// - Parameter changes: the shares that the save opens or closes.
    init(
        _ message: SaveMessage, _ changes: ShareChanges, _ zone: ZoneRow, _ caller: Caller,
        _ path: DatabasePath, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws {
        guard path.database == .public else {
            let cited = zone.shares > 0 && zone.visibleShares == nil ? message.citedScopes : []
            var known = try ZoneRosters(citedBy: cited, in: zone, rosters, connection)
            for opening in changes.openings {
                known.add(.init(share: opening.share, roster: opening.roster, isNew: true))
            }
            self = .rosters(known)
            return
        }
        guard let found = try Identities.find(account: caller.accountID, container: path.container, in: connection)
        else {
            throw StorageError.failed(code: 0, message: "an identity is gone")
        }
        self = .identity(found.chain, path)
    }

    var isPublic: Bool { if case .identity = self { true } else { false } }

    /// May this caller write now?
    func checkRights(of caller: Caller) throws(ServerError) {
        guard case .rosters(let rosters) = self else { return }
        try rosters.checkRights(of: caller)
    }

    /// The share that a statement's record is in, or comes into; nil for the zone's own scope.
    func share(of statement: Statement) -> ZoneShare? {
        guard case .rosters(let rosters) = self, rosters.hasShares else { return nil }
        return rosters.scopes[statement.scopeID]?.share
    }

    /// The newest entry of the roster that a statement cites a head of; nil in the public database.
    func head(of statement: Statement) -> UInt64? {
        guard case .rosters(let rosters) = self else { return nil }
        return rosters.scopes[statement.scopeID]?.roster.sequence
    }

    /// The key that must have signed a statement, which is about this place and time.
    func authorKey(of statement: Statement, recordName: String) throws(ServerError) -> VerificationKey {
        switch self {
        case .rosters(let rosters): return try rosters.authorKey(of: statement, recordName: recordName)
        case .identity(let chain, let path):
            try ServerError.checking("The statement") { () throws(SealError) in
                try PublicStatements.check(
                    statement, author: chain, container: path.container, environment: path.environment,
                    recordName: recordName)
            }
            // Or whoever makes a child of another's record keeps that from being deleted.
            guard statement.parent == nil else {
                throw ServerError(
                    .invalidArguments, "The public database has no hierarchies.",
                    remedy: "Use a reference in place of a parent.")
            }
            // Readers accept every generation, since nothing orders them; what is written now is signed by the newest.
            return chain.current.signingKey
        }
    }

    /// Why encrypted values do not belong here; nil where they do.
    var refusalOfEncrypted: ServerError? {
        switch self {
        case .rosters: nil
        case .identity: Self.encryptedInPublic
        }
    }

    private static let encryptedInPublic = ServerError(
        .invalidArguments, "The public database takes no encrypted values: whoever may read has no key.",
        remedy: "Store the value in a private database, or as a plain field.")

    /// Whether a field of this form belongs here.
    func check(_ field: WireField) throws(ServerError) {
        switch (self, field) {
        case (_, .digest), (_, .stored(.plain, _)), (.rosters, .stored), (.identity, .publicAsset): return
        case (.rosters, .publicAsset):
            throw ServerError(
                .invalidArguments, "An asset that is not sealed is for the public database only.",
                remedy: "Seal the asset.")
        case (.identity, .stored(.encrypted, _)): throw Self.encryptedInPublic
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
        guard case .rosters(let judged) = self else { return }
        try judged.recheck(caller, zone, rosters, in: connection)
    }
}

extension SaveMessage {
    /// The ids of the scopes that its statements name, as far as they can be read.
    fileprivate var citedScopes: Set<Digest> {
        Set(records.compactMap { try? Statement(canonicalBytes: $0.statement).scopeID })
    }
}
