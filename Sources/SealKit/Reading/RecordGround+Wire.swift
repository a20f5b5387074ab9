import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire

extension RecordGround {
    var zoneIDOnWire: Sealkit_V1_ZoneID {
        switch self {
        case .zone(let ground): ground.zone.zoneIDOnWire
        case .publicDatabase(let ground): ground.scope.zoneIDOnWire
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
}

extension PublicGround {
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
                copy.add(chain)
            }
            try await core.contacts.observe(verified)
            return copy
        }
    }
}

extension ZoneGround {
    /// As `caughtUp`, once a feed was read to the end of this answer.
    func caughtUp(by response: Wire.RecordChangesResponse) -> [ScopePlace: Int64] {
        response.moreComing ? [:] : caughtUp(response.scopes)
    }
}

extension Database {
    /// The zone as it is known before it is asked about. Whoever asks takes the moment for each request.
    func ground(of zone: RecordZone.ID) async throws(SealKitError) -> RecordGround {
        guard scope != .public else { return .publicDatabase(PublicGround(scope: try zoneScope(zone), asked: nil)) }
        return .zone(try await zoneGround(zone, asked: .max))
    }
}
