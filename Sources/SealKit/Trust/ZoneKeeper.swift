import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Keeps one zone's roster: replays what this device has stored, fetches what is new, checks every entry against the
/// rules, opens this account's grant and, through it, the epochs before.
actor ZoneKeeper {
    private let scope: Scope
    private let core: ContainerCore
    private var view: ZoneView?
    private var stored: [SignedRosterEntry] = []
    private var roster: Roster?
    private var keys: [EpochContext: EpochKey] = [:]
    private var isLoaded = false

    init(scope: Scope, core: ContainerCore) {
        self.scope = scope
        self.core = core
    }

    /// The zone as it is known, fetched the first time.
    func current() async throws(SealKitError) -> ZoneView {
        if let view { return view }
        return try await refresh()
    }

    /// The zone at least as far as an answer cites it.
    /// - Parameter asked: the sequence that was known when the question was sent; an answer may not be older.
    /// - Throws: `rollback` when the answer cites an older head, or one that this device knows as another.
    func current(citedBy heads: [Sealkit_V1_ScopeHead], asked: UInt64) async throws(SealKitError) -> ZoneView {
        var known = try await current()
        guard let head = heads.first(where: { $0.shareRecordName == scope.shareRecordName }) else { return known }
        guard head.sequence >= asked else { throw shortened() }
        if head.sequence >= known.roster.nextSequence { known = try await refresh() }
        guard head.sequence < known.roster.nextSequence,
            known.roster.hashes[Int(head.sequence)].bytes == Array(head.head)
        else { throw forked() }
        return known
    }

    /// Fetches the roster's tail.
    /// - Throws: `zoneNotFound`; `integrityFailure` for an entry that breaks a rule; `rollback` for one that forks the log.
    func refresh() async throws(SealKitError) -> ZoneView {
        try await load()
        let known = roster?.sequence
        let request = Sealkit_V1_FetchRostersRequest.with {
            $0.rosters = [
                .with {
                    $0.zone = scope.zoneIDOnWire
                    $0.shareRecordName = scope.shareRecordName
                    $0.after = known ?? 0
                    $0.fromStart = known == nil
                }
            ]
        }
        let response: Sealkit_V1_FetchRostersResponse = try await core.call(
            scope.owner == core.userID() ? .private : .shared, "rosters/fetch", request)
        guard let tail = response.rosters.first else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks the roster that was asked for")
        }
        if tail.hasFailure { throw SealKitError(tail.failure) }
        return try await adopt(tail.entries.map { SignedRosterEntry($0) }, grants: tail.grants)
    }

    /// Takes over entries that follow the head, as a whole or not at all, and the caller's own grants.
    func adopt(_ entries: [SignedRosterEntry], grants: [Sealkit_V1_Grant]) async throws(SealKitError) -> ZoneView {
        try await load()
        // While this actor waited for an answer another call may have adopted the same entries.
        let known = stored.count
        let fresh = entries.filter { entry in !stored.suffix(entries.count).contains(entry) }
        var next = roster
        for entry in fresh {
            do {
                if next == nil { next = try Roster(opening: entry, scope: scope) } else { try next?.append(entry) }
            } catch .notNextEntry {
                throw forked()
            } catch {
                throw SealKitError.integrity(error, "the roster of the zone \(scope.zoneName)")
            }
        }
        guard let next else {
            throw SealKitError(.zoneNotFound, "there is no zone \(scope.zoneName)", remedy: "make it, or accept its share, first")
        }
        try await core.trust.append(fresh, scope: next.scopeID, from: UInt64(known))
        guard stored.count == known else { return try await adopt(entries, grants: grants) }
        stored += fresh
        roster = next
        try openKeys(next, grants: grants)
        return publish(next)
    }

    /// After an own entry was acknowledged: what was sent is what the log holds.
    func adopt(_ draft: RosterAuthor<XWingHPKE>.Draft) async throws(SealKitError) -> ZoneView {
        if let key = draft.epochKey { keys[key.context] = key }
        return try await adopt([draft.entry], grants: [])
    }

    private func load() async throws(SealKitError) {
        guard !isLoaded else { return }
        let entries = try await core.trust.entries(scope: scope.id)
        guard !isLoaded else { return }
        isLoaded = true
        var replayed: Roster?
        for entry in entries {
            try verifying("this device's copy of the roster of \(scope.zoneName)") { () throws(SealError) in
                if replayed == nil { replayed = try Roster(opening: entry, scope: scope) } else { try replayed?.append(entry) }
            }
        }
        stored = entries
        roster = replayed
    }

    /// Opens the newest grant, checks it against the roster's key id, and walks down to the first epoch.
    private func openKeys(_ roster: Roster, grants: [Sealkit_V1_Grant]) throws(SealKitError) {
        guard !roster.isClosed, roster.members[core.userID()] != nil else { return }
        let epochs = roster.epochs.filter { $0.context.incarnations == roster.incarnations }
        for grant in grants.sorted(by: { $0.epoch > $1.epoch }) where keys[roster.currentEpoch.context] == nil {
            guard let epoch = epochs.first(where: { $0.number == grant.epoch }) else { continue }
            let key = try verifying("the key of the zone \(scope.zoneName)") { () throws(SealError) in
                try Grants<XWingHPKE>.open([UInt8](grant.sealed), epoch: epoch, as: core.userID(), keys: core.identity().keys)
            }
            keys[epoch.context] = key
        }
        for index in epochs.indices.reversed().dropLast() where keys[epochs[index - 1].context] == nil {
            guard let key = keys[epochs[index].context] else { continue }
            keys[epochs[index - 1].context] = try verifying("an earlier key of the zone \(scope.zoneName)") { () throws(SealError) in
                try key.openPrevious(epochs[index].previousKey, epoch: epochs[index - 1])
            }
        }
    }

    private func publish(_ current: Roster) -> ZoneView {
        var numbered: [UInt32: EpochKey] = [:]
        for (context, key) in keys where context.incarnations == current.incarnations { numbered[context.epoch] = key }
        let next = ZoneView(roster: current, keys: numbered, user: core.userID())
        view = next
        return next
    }

    private func forked() -> SealKitError {
        SealKitError(
            .rollback, "the server shows another roster of the zone \(scope.zoneName) than this device has verified",
            remedy: "do not trust this server's answers about it; compare with the owner")
    }

    private func shortened() -> SealKitError {
        SealKitError(
            .rollback, "the server shows an older roster of the zone \(scope.zoneName) than this device has verified",
            remedy: "it may have been restored from a backup; a member's device can give it the missing part")
    }
}
