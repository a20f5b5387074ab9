import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Invitations whose time is over. To the server they are good for nothing from that moment; what binds clients is the
/// roster, so that devices of the owner and of administrators take them back there, with a new key, when they write.
extension Database {
    func hasExpired(_ roster: Roster) -> Bool {
        roster.members[core.userID()]?.mayAdminister == true && !roster.expiredInvitations(at: currentTime()).isEmpty
    }

    /// Takes them back, where this account may. Somebody else's revocation, between two attempts, serves as well.
    /// - Returns: how many.
    func revokeExpired(_ keeper: ZoneKeeper) async throws(SealKitError) -> Int {
        try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            guard hasExpired(view.roster) else { return 0 }
            let changes = view.roster.expiredInvitations(at: currentTime()).map { RosterChange.revoke($0) }
            let key = try view.newestKey()
            var random = SystemRandom()
            let draft = try verifying("the revocation") { () throws(SealError) in
                try core.author(on: view.roster).next(
                    on: view.roster, changes: changes, rotating: true, current: key, time: currentTime(),
                    random: &random)
            }
            try await append(draft, view: view)
            _ = try await keeper.adopt(draft)
            return changes.count
        }
    }
}
