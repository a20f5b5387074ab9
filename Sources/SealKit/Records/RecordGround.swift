import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// What an answer's records are verified by: the rosters and keys of a zone's scopes, or in the public database their
/// authors' identities.
enum RecordGround: Sendable {
    case zone(ZoneGround)
    case publicDatabase(PublicGround)

    /// Where what was seen is remembered.
    var place: TrustStore.Place {
        switch self {
        case .zone(let ground): ground.place
        case .publicDatabase(let ground): ground.place
        }
    }

    /// When the server was asked.
    var asked: Int64? {
        get {
            switch self {
            case .zone(let ground): ground.asked
            case .publicDatabase(let ground): ground.asked
            }
        }
        set {
            switch self {
            case .zone(var ground):
                ground.asked = newValue
                self = .zone(ground)
            case .publicDatabase(var ground):
                ground.asked = newValue
                self = .publicDatabase(ground)
            }
        }
    }

    var isZone: Bool { if case .zone = self { true } else { false } }

    /// The scopes that this account reads; nil for the zone's owner, who reads all of them. A participant of the whole
    /// zone is shown nothing of shares that were in it before.
    var readableScopes: Set<ScopePlace>? {
        guard case .zone(let ground) = self, ground.views.values.allSatisfy({ $0.user != ground.zone.owner }) else {
            return nil
        }
        return Set(
            ground.views.values.map { ScopePlace($0.roster.scopeID, $0.roster.incarnations.scope) })
    }

    /// Whether it has what a record says that it goes by. What is said is not verified yet: it decides only where to
    /// look.
    func covers(_ wire: Sealkit_V1_Record) -> Bool {
        guard case .zone(let ground) = self else { return true }
        guard !wire.hasDerived, !wire.departed, let statement = try? Statement(canonicalBytes: [UInt8](wire.statement))
        else {
            return false
        }
        return ground.view(of: statement) != nil
    }

    var zoneIDOnWire: Sealkit_V1_ZoneID {
        switch self {
        case .zone(let ground): ground.zone.zoneIDOnWire
        case .publicDatabase(let ground): ground.scope.zoneIDOnWire
        }
    }

    /// What opens a record's fields; nil where nothing is sealed.
    func opener(of verified: VerifiedStatement) throws(SealError) -> RecordOpener? {
        switch self {
        case .zone(let ground): try ground.opener(of: verified)
        case .publicDatabase: nil
        }
    }

    /// As an answer cites it: with the rosters' tails, or with the authors' chains.
    func settled(
        by heads: [Sealkit_V1_ScopeHead], _ authors: [Sealkit_V1_IdentityChain], _ core: ContainerCore
    ) async throws(SealKitError) -> RecordGround {
        switch self {
        case .zone(let ground): return .zone(try await ground.settled(by: heads, core))
        case .publicDatabase(let ground): return .publicDatabase(try await ground.with(authors, core))
        }
    }

    /// With every roster's tail.
    func refreshed(_ core: ContainerCore) async throws(SealKitError) -> RecordGround {
        guard case .zone(var ground) = self else { return self }
        for view in ground.views.values { ground.add(try await core.keeper(of: view.scope).refresh()) }
        return .zone(ground)
    }

    /// Changed in place: what it holds is much to copy for each record.
    struct Verifier: Sendable {
        private var zone: ZoneGround.Verifier?
        private var open: PublicVerifier?
        private let authors: [UserID: IdentityChain]

        init(_ ground: RecordGround) {
            switch ground {
            case .zone(let ground):
                zone = ZoneGround.Verifier(ground)
                authors = [:]
            case .publicDatabase(let ground):
                open = PublicVerifier(container: ground.scope.container, environment: ground.scope.environment)
                authors = ground.authors
            }
        }

        mutating func verify(
            _ bytes: [UInt8], proof: StatementProof, recordName: String?
        ) throws(SealError) -> VerifiedStatement {
            if let verified = try zone?.verify(bytes, proof: proof, recordName: recordName) { return verified }
            // Whose keys these are, the name itself says: a chain that the server left out or swapped is no author.
            guard let author = authors[try Statement(canonicalBytes: bytes).author],
                let verified = try open?.verify(bytes, proof: proof, author: author, recordName: recordName)
            else { throw .authorNotPermitted }
            return verified
        }

        /// A record that left a share.
        func verifyDeparture(
            _ bytes: [UInt8], proof: StatementProof, recordName: String?
        ) throws(SealError) -> VerifiedStatement {
            guard let zone else { throw .wrongContext }
            return try zone.verifyDeparture(bytes, proof: proof, recordName: recordName)
        }
    }
}

/// The public database as one answer shows it.
struct PublicGround: Sendable {
    /// With nobody as owner.
    let scope: Scope
    /// Verified, by the names that they certify.
    private(set) var authors: [UserID: IdentityChain] = [:]

    var place: TrustStore.Place {
        TrustStore.Place(zone: scope.id, incarnation: EpochContext.publicDatabase.incarnations.zone)
    }

    /// The moment from which on what this device comes to know says nothing against the answer; nil for none.
    var asked: Int64?

    init(scope: Scope, asked: Int64? = nil) { (self.scope, self.asked) = (scope, asked) }

    /// - Throws: `integrityFailure` for a chain that does not hold, or of other keys than its person is known by.
    func with(_ chains: [Sealkit_V1_IdentityChain], _ core: ContainerCore) async throws(SealKitError) -> PublicGround {
        try await core.witnessing { () async throws(SealKitError) in
            var copy = self
            var verified: [IdentityChain] = []
            for wire in chains {
                let chain = try verifying("an author's identity") { () throws(SealError) in
                    try IdentityChain(wire, container: scope.container)
                }
                verified.append(chain)
                copy.authors[chain.userID] = chain
            }
            try await core.contacts.observe(verified)
            return copy
        }
    }
}

extension Database {
    /// The zone as it is known before it is asked about. Whoever asks takes the moment for each request.
    func ground(of zone: RecordZone.ID) async throws(SealKitError) -> RecordGround {
        guard scope != .public else { return .publicDatabase(PublicGround(scope: try zoneScope(zone))) }
        return .zone(try await zoneGround(zone, asked: .max))
    }
}
