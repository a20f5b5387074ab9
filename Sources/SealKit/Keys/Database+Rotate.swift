import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension Database {
    /// Opens a new key for a zone, so that what is written from now on cannot be opened with the keys before.
    ///
    /// It happens by itself whenever somebody's right is taken away, and before the first write after somebody has left
    /// or has changed keys. Call it when a key may have come into wrong hands. What was written before stays under the
    /// keys before: `rekey(_:progress:)` seals that again.
    ///
    /// - Parameter zoneID: of the zone.
    /// - Parameter shareRecordName: of a hierarchy that is shared by itself, which has keys of its own; nil for the
    ///   zone's.
    /// - Throws: `permissionFailure` for whoever is neither owner nor administrator, unless a new key is due;
    ///   `zoneNotFound`; `badDatabase` in the public database, which has no keys.
    public func rotateKeys(of zoneID: RecordZone.ID, shareRecordName: String? = nil) async throws(SealKitError) {
        try await rotate(try keeper(zoneID, shareRecordName), onDemand: true)
    }

    /// Whether a record is signed only after an entry of the roster: a new epoch, or this account's new keys, without
    /// which its signatures count for nothing.
    func isKeyDue(in view: ZoneView) -> Bool {
        view.roster.rotationDue || core.identity().untold(in: view.roster) != nil
    }

    /// Opens a new epoch where one is due, or in any case on demand; somebody else's meanwhile serves as well. An
    /// account's new keys are stated with it.
    @discardableResult
    func rotate(_ keeper: ZoneKeeper, onDemand: Bool = false) async throws(SealKitError) -> ZoneView {
        var first: EpochContext?
        return try await whileRosterMoves { _ throws(SealKitError) in
            var view = try await keeper.refresh()
            first = first ?? view.roster.currentEpoch.context
            if let untold = core.identity().untold(in: view.roster) { view = try await state(untold, view, keeper) }
            let epoch = view.roster.currentEpoch.context
            let isWanted = onDemand && first == epoch
            guard view.roster.rotationDue || isWanted else { return view }
            try view.checkMayRotate()
            let key = try view.newestKey()
            var random = SystemRandom()
            let draft = try verifying("the new key") { () throws(SealError) in
                try core.author(on: view.roster).next(
                    on: view.roster, changes: [], rotating: true, current: key, time: currentTime(), random: &random)
            }
            try await append(draft, view: view)
            return try await keeper.adopt(draft)
        }
    }

    /// Of a scope of keys.
    /// - Throws: `badDatabase` in the public database.
    func keeper(_ zoneID: RecordZone.ID, _ shareRecordName: String?) throws(SealKitError) -> ZoneKeeper {
        try requireKeys()
        let zone = try zoneScope(zoneID)
        return core.keeper(of: shareRecordName.map { zone.ofShare($0) } ?? zone)
    }

    func requireKeys() throws(SealKitError) {
        guard scope != .public else {
            throw SealKitError(
                .badDatabase, "nothing in the public database is sealed",
                remedy: "use the private or the shared database")
        }
    }
}

extension ZoneView {
    /// As the roster's rules have it.
    /// - Throws: `zoneNotFound`, `rotationDue`, `permissionFailure`.
    fileprivate func checkMayRotate() throws(SealKitError) {
        guard !roster.isClosed, let member = roster.members[user] else {
            throw SealKitError(.zoneNotFound, "there is no zone \(scope.zoneName) for this account")
        }
        if member.mayAdminister { return }
        // Whoever may only read is told so, whether or not a key is due.
        guard member.permission == .readWrite else { throw notAllowed }
        guard member.role != .publicUser else {
            throw roster.rotationDue
                ? SealKitError(
                    .rotationDue, "a new key of the zone \(scope.zoneName) is due, which this account may not open",
                    remedy: "try again when a member who may write has been there", retryAfter: 60)
                : notAllowed
        }
        guard roster.rotationDue else { throw notAllowed }
    }

    private var notAllowed: SealKitError {
        SealKitError(
            .permissionFailure, "a zone's key is its owner's and administrators' to renew", remedy: "ask one of them")
    }
}
