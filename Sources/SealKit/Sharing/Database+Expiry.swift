import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Invitations whose time is over. To the server they are good for nothing from that moment; what binds clients is the
/// roster, so that devices of the owner and of administrators take them back there, with a new key, as soon as they
/// come across them.
extension Database {
    /// After changes were read: in every scope of the zone that this account administers.
    ///
    /// Best effort: the server takes no acceptance meanwhile, and the next call does it.
    func revokeExpired(in ground: ZoneGround) async {
        for view in ground.views.values { _ = await revokingExpired(view, core.keeper(of: view.scope)) }
        // Shares that nothing was said of: their rosters are known here, and nobody has to be asked.
        for name in (try? await core.trust.shares(of: ground.zone.id)) ?? [] {
            let scope = ground.zone.ofShare(name)
            let keeper = core.keeper(of: scope)
            guard ground[scope.id] == nil, let roster = try? await keeper.known(), hasExpired(roster),
                let view = try? await keeper.refresh()
            else { continue }
            _ = await revokingExpired(view, keeper)
        }
    }

    /// A scope without the invitations that are over, where this account may take them back and does.
    func revokingExpired(_ view: ZoneView, _ keeper: ZoneKeeper) async -> ZoneView {
        guard hasExpired(view.roster) else { return view }
        return (try? await revokeExpired(keeper)) ?? view
    }

    private func hasExpired(_ roster: Roster) -> Bool {
        roster.members[core.userID()]?.mayAdminister == true && !roster.expiredInvitations(at: currentTime()).isEmpty
    }

    /// Somebody else's revocation, between two attempts, serves as well.
    private func revokeExpired(_ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView {
        try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            guard hasExpired(view.roster) else { return view }
            let changes = view.roster.expiredInvitations(at: currentTime()).map { RosterChange.revoke($0) }
            let key = try view.newestKey()
            var random = SystemRandom()
            let draft = try verifying("the revocation") { () throws(SealError) in
                try core.author(on: view.roster).next(
                    on: view.roster, changes: changes, rotating: true, current: key, time: currentTime(),
                    random: &random)
            }
            try await append(draft, view: view)
            return try await keeper.adopt(draft)
        }
    }
}

extension Roster {
    /// Open invitations that are over, in a stable order.
    func expiredInvitations(at time: Int64) -> [ID16] {
        invitations.values.filter { $0.expires != 0 && $0.expires <= time }.map(\.id).sorted()
    }
}
