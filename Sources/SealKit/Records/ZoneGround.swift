import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// A zone's scopes as far as they are known: its own, and those of hierarchical shares in it, each with its verified roster.
/// Every record is verified by the roster of the scope that its own statement cites.
struct ZoneGround: Sendable {
    /// The zone's own scope, whether or not this account reads its roster.
    let zone: Scope
    private(set) var views: [Digest: ZoneView] = [:]
    /// The moment from which on what this device comes to know says nothing against the answer; nil for none.
    var asked: Int64?

    init(zone: Scope, _ views: [ZoneView] = [], asked: Int64?) {
        (self.zone, self.asked) = (zone, asked)
        for view in views { add(view) }
    }

    /// One scope, and its zone.
    init(_ view: ZoneView, asked: Int64?) {
        self.init(zone: view.scope.ofZone, [view], asked: asked)
    }

    mutating func add(_ view: ZoneView) { views[view.roster.scopeID] = view }

    /// Nil to participants of shares alone.
    var own: ZoneView? { views[zone.id] }

    subscript(scopeID: Digest) -> ZoneView? { views[scopeID] }

    /// Of the zone: the same in every scope that is open.
    var incarnation: UInt32 { views.values.map(\.roster.incarnations.zone).max() ?? 0 }

    var place: TrustStore.Place { TrustStore.Place(zone: zone.id, incarnation: incarnation) }

    /// Up to which epoch of each scope nothing is missing, once a feed was read to the end of this answer.
    func caughtUp(by response: Sealkit_V1_RecordChangesResponse) -> [TrustStore.ScopePlace: UInt32] {
        guard !response.moreComing else { return [:] }
        var caughtUp: [TrustStore.ScopePlace: UInt32] = [:]
        for head in response.scopes {
            let scope = head.shareRecordName.isEmpty ? zone : zone.ofShare(head.shareRecordName)
            guard let roster = self[scope.id]?.roster, let epoch = roster.epochInForce(at: head.sequence) else { continue }
            caughtUp[TrustStore.ScopePlace(roster.scopeID, roster.incarnations.scope)] = epoch.number
        }
        return caughtUp
    }

    /// Where a statement's record is.
    func view(of statement: Statement) -> ZoneView? { views[statement.scopeID] }

    /// - Throws: `wrongContext` for a scope that is not one of these.
    func opener(of verified: VerifiedStatement) throws(SealError) -> RecordOpener {
        guard let view = view(of: verified.statement) else { throw .wrongContext }
        return try RecordOpener(verified, epochKey: view.key(for: verified.statement))
    }

    struct Verifier: Sendable {
        private var verifiers: [Digest: StatementVerifier]
        /// The owner's devices alone take what an earlier life of a share has left, to carry it over.
        private let isOwners: Bool

        init(_ ground: ZoneGround) {
            verifiers = ground.views.mapValues { StatementVerifier(roster: $0.roster) }
            isOwners = ground.views.values.contains { $0.user == ground.zone.owner }
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
            guard var verifier = verifiers.removeValue(forKey: scope) else { throw .wrongContext }
            defer { verifiers[scope] = verifier }
            let isShare = !verifier.roster.scope.shareRecordName.isEmpty
            return try verifier.verify(bytes, proof: proof, recordName: recordName, migrating: isOwners && isShare)
        }

        /// By the scope that the record left.
        func verifyDeparture(
            _ bytes: [UInt8], proof: StatementProof, recordName: String?
        ) throws(SealError) -> VerifiedStatement {
            guard let former = try Statement(canonicalBytes: bytes).formerScope?.scopeID, let verifier = verifiers[former]
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
            container: container, environment: environment, owner: owner, zoneName: zoneName, shareRecordName: recordName)
    }
}
