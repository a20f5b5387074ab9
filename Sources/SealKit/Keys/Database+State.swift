import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension Database {
    /// States this account's new keys in a roster that knows it by older ones. Where it may, the same entry opens the
    /// epoch that they make due.
    func stateKeys(_ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView {
        try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            guard let untold = core.identity().untold(in: view.roster) else { return view }
            return try await state(untold, view, keeper)
        }
    }

    /// The same of scopes that records are about to leave: their participants judge by these rosters who has taken the
    /// records out.
    func stateKeys(leaving scopes: Set<Digest>, _ ground: inout ZoneGround) async throws(SealKitError) {
        for scopeID in scopes {
            guard let view = ground[scopeID], !view.roster.isClosed, core.identity().untold(in: view.roster) != nil
            else { continue }
            ground.add(try await stateKeys(core.keeper(of: view.scope)))
        }
    }

    func state(
        _ generations: [SignedIdentity], _ view: ZoneView, _ keeper: ZoneKeeper
    ) async throws(SealKitError) -> ZoneView {
        let author = core.author(on: view.roster)
        let draft = try verifying("the account's new keys") { () throws(SealError) in
            guard view.mayOpenEpochs, let key = try? view.newestKey() else {
                return author.plain(.identity(generations), on: view.roster, time: currentTime())
            }
            var random = SystemRandom()
            return try author.next(
                on: view.roster, changes: [.identity(generations)], rotating: true, current: key, time: currentTime(),
                random: &random)
        }
        try await append(draft, view: view)
        return try await keeper.adopt(draft)
    }
}

extension ZoneView {
    /// Whether this account opens the epoch that its own new keys make due.
    fileprivate var mayOpenEpochs: Bool {
        guard let member = roster.members[user] else { return false }
        return member.mayAdminister || (member.permission == .readWrite && member.role != .publicUser)
    }
}
