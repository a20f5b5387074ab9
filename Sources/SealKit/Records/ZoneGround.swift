import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// A zone's scopes as far as they are known: its own, and those of hierarchical shares in it, each with its verified
/// roster. Every record is verified by the roster of the scope that its own statement cites.
struct ZoneGround: Sendable {
    /// The zone's own scope, whether or not this account reads its roster.
    let zone: Scope
    let zoneID: Digest
    private(set) var views: [Digest: ZoneView] = [:]
    /// Of each roster, for what is asked of every record: a view is much to copy.
    private var heads: [Digest: (sequence: UInt64, zoneIncarnation: UInt32)] = [:]
    /// Of the zone: the same in every scope that is open.
    private(set) var incarnation: UInt32 = 0
    /// The moment from which on what this device comes to know says nothing against the answer; nil for none.
    var asked: Int64?

    init(zone: Scope, _ views: [ZoneView] = [], asked: Int64?) {
        (self.zone, zoneID, self.asked) = (zone, zone.id, asked)
        for view in views { add(view) }
    }

    /// One scope, and its zone.
    init(_ view: ZoneView, asked: Int64?) {
        self.init(zone: view.scope.ofZone, [view], asked: asked)
    }

    mutating func add(_ view: ZoneView) {
        let scopeID = view.roster.scopeID
        views[scopeID] = view
        heads[scopeID] = (view.roster.sequence, view.roster.incarnations.zone)
        incarnation = heads.values.lazy.map(\.zoneIncarnation).max() ?? 0
    }

    /// Nil to participants of shares alone.
    var own: ZoneView? { views[zoneID] }

    subscript(scopeID: Digest) -> ZoneView? { views[scopeID] }

    var place: TrustStore.Place { TrustStore.Place(zone: zoneID, incarnation: incarnation) }

    /// The first epoch of each life of a scope that something may be missing of, once a feed was read to the end of
    /// this answer.
    func caughtUp(by response: Sealkit_V1_RecordChangesResponse) -> [ScopePlace: Int64] {
        guard !response.moreComing else { return [:] }
        var caughtUp: [ScopePlace: Int64] = [:]
        for head in response.scopes {
            let scope = head.shareRecordName.isEmpty ? zone : zone.ofShare(head.shareRecordName)
            guard let roster = self[scope.id]?.roster else { continue }
            caughtUp.merge(roster.marks(readTo: head.sequence)) { $1 }
        }
        return caughtUp
    }

    /// Where a statement's record is.
    func view(of statement: Statement) -> ZoneView? { views[statement.scopeID] }

    /// Whether a statement is of a later life of the zone, or cites a later head of its scope's roster. Nothing that is
    /// signed by this ground follows it: to readers it would be a step back.
    func isBehind(_ statement: Statement) -> Bool {
        guard statement.zoneIncarnation == incarnation else { return statement.zoneIncarnation > incarnation }
        return heads[statement.scopeID].map { statement.rosterSequence > $0.sequence } ?? false
    }

    /// - Throws: `wrongContext` for a scope that is not one of these.
    func opener(of verified: VerifiedStatement) throws(SealError) -> RecordOpener {
        guard let view = view(of: verified.statement) else { throw .wrongContext }
        return try RecordOpener(verified, epochKey: view.key(for: verified.statement))
    }

    struct Verifier: Sendable {
        private struct Scoped: Sendable {
            var verifier: StatementVerifier
            /// The owner's devices alone take what an earlier life of a share has left, to carry it over.
            let isMigrating: Bool
        }

        private var verifiers: [Digest: Scoped]

        init(_ ground: ZoneGround) {
            let isOwners = ground.views.values.contains { $0.user == ground.zone.owner }
            verifiers = ground.views.mapValues {
                Scoped(
                    verifier: StatementVerifier(roster: $0.roster),
                    isMigrating: isOwners && !$0.scope.shareRecordName.isEmpty)
            }
        }

        mutating func verify(
            _ bytes: [UInt8], proof: StatementProof, recordName: String?
        ) throws(SealError) -> VerifiedStatement {
            let scope: Digest
            if verifiers.count == 1, let only = verifiers.keys.first {
                scope = only
            } else {
                scope = try Statement(canonicalBytes: bytes).scopeID
            }
            guard let index = verifiers.index(forKey: scope) else { throw .wrongContext }
            let isMigrating = verifiers.values[index].isMigrating
            // In its place: it remembers which roots it has checked.
            return try verifiers.values[index].verifier.verify(
                bytes, proof: proof, recordName: recordName, migrating: isMigrating)
        }

        /// By the scope that the record left.
        func verifyDeparture(
            _ bytes: [UInt8], proof: StatementProof, recordName: String?
        ) throws(SealError) -> VerifiedStatement {
            guard let former = try Statement(canonicalBytes: bytes).formerScope?.scopeID,
                let verifier = verifiers[former]?.verifier
            else { throw .wrongContext }
            return try verifier.verifyDeparture(bytes, proof: proof, recordName: recordName)
        }
    }
}

extension Scope {
    /// The zone's own scope.
    var ofZone: Scope { Scope(container: container, environment: environment, owner: owner, zoneName: zoneName) }

    /// That of a hierarchical share in the zone.
    func ofShare(_ recordName: String) -> Scope {
        Scope(
            container: container, environment: environment, owner: owner, zoneName: zoneName,
            shareRecordName: recordName)
    }
}

extension Roster {
    /// Of each life of the scope that began by the entry with that sequence: the epoch in force there; where the life
    /// ended by then, the one after its last, since nothing of it is still to come.
    fileprivate func marks(readTo sequence: UInt64) -> [ScopePlace: Int64] {
        var marks: [ScopePlace: Int64] = [:]
        for (index, epoch) in epochs.enumerated() {
            guard epoch.openedAt <= sequence else { break }
            let next = epochs[(index + 1)...].first
            let isLast = next.map { $0.context.incarnations != epoch.context.incarnations } ?? true
            // What opens the next life follows the close at once.
            let end = next?.openedAt ?? (isClosed ? nextSequence : .max)
            let isOver = isLast && sequence >= end - 1
            marks[ScopePlace(scopeID, epoch.context.incarnations.scope)] =
                Int64(epoch.number) + (isOver ? 1 : 0)
        }
        return marks
    }

    /// Whether a statement that was good at the head which it cites could be its author's as well now: who may write,
    /// and by which key, the owner and those to whom the owner gave it say with this roster.
    func vouches(for statement: Statement) -> Bool {
        guard !isClosed, statement.incarnations == incarnations,
            let then = standing(of: statement.author, at: statement.rosterSequence),
            let now = standing(of: statement.author, at: sequence),
            now.permission == .readWrite, now.identity.current.signingKey == then.identity.current.signingKey
        else { return false }
        return now.mayAdminister || !(statement.isShareRecord || statement.recordName == scope.shareRecordName)
    }
}
