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
    let scope: Scope
    let core: ContainerCore
    /// The zone as it is known in this process; nil where it was not fetched yet.
    private(set) var view: ZoneView?
    private(set) var stored: [SignedRosterEntry] = []
    private(set) var roster: Roster?
    private var keys: [EpochContext: EpochKey] = [:]
    private var isLoaded = false
    /// Where the device that enrolled this one had come to: nothing before it is taken over.
    private var floor: Enrolment.Head?
    /// How much of the roster the server was given back; more than once the same helps nobody.
    var givenBack: UInt64?
    /// The server lacks grants of the epoch in force, as it says; believed once, since it costs a new key.
    private var lacksGrants: Bool?
    /// The life whose earlier grants were asked for, for want of keys: what they did not open then they do not open
    /// later.
    private var hasAllGrants: Incarnations?

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
        do { return try await cited(by: heads, asked: asked) } catch { throw await core.noted(error, scope: scope) }
    }

    private func cited(by heads: [Sealkit_V1_ScopeHead], asked: UInt64) async throws(SealKitError) -> ZoneView {
        var known = try await current()
        let cited = heads.first {
            $0.shareRecordName == scope.shareRecordName && $0.zone.zoneName == scope.zoneName
                && $0.zone.ownerName == scope.owner.recordName
        }
        guard let head = cited else {
            throw SealKitError(
                .integrityFailure, "the server's answer does not say which roster of \(scope.zoneName) it goes by",
                remedy: "without that nothing in it can be judged; try again, and distrust a server that keeps doing so"
            )
        }
        if head.sequence < asked {
            // A server that has lost it is given it back; its answer was made without it all the same.
            let before = givenBack
            _ = try await refresh()
            throw givenBack == before ? shortened() : mended()
        }
        if !known.roster.has(head) { known = try await refresh() }
        guard known.roster.has(head) else { throw forked(from: known.roster) }
        return known
    }

    /// Fetches the roster's tail.
    /// - Throws: `zoneNotFound`; `integrityFailure` for an entry that breaks a rule; `rollback` for one that forks the
    ///   log.
    func refresh() async throws(SealKitError) -> ZoneView {
        do { return try await fetched() } catch { throw await core.noted(error, scope: scope) }
    }

    private func fetched() async throws(SealKitError) -> ZoneView {
        try await load()
        while true {
            let known = roster?.nextSequence ?? 0
            guard let tail = try await tail() else { return try await current() }
            if tail.ungranted, lacksGrants == nil { lacksGrants = true }
            let entries = tail.entries.map { SignedRosterEntry($0) }
            guard tail.moreComing else {
                let view = try await adopt(entries, grants: tail.grants)
                return try await openEarlier(than: tail) ?? view
            }
            // Page by page, each verified and kept before the next: what this device has come to is where it goes on.
            _ = try await take(entries, isLast: false)
            guard roster?.nextSequence ?? 0 > known else { throw Self.endless }
        }
    }

    /// Opens epochs of this life that no newer grant opens, by the caller's earlier ones.
    /// - Returns: nil where there is nothing to open.
    private func openEarlier(than tail: Sealkit_V1_RosterTail) async throws(SealKitError) -> ZoneView? {
        guard tail.moreGrants, let roster, !roster.isClosed, hasAllGrants != roster.incarnations else { return nil }
        let epochs = roster.epochs.filter { $0.context.incarnations == roster.incarnations }
        var last = tail
        while last.moreGrants, epochs.contains(where: { keys[$0.context] == nil }) {
            last = try await earlierGrants(than: last)
            openKeys(roster, grants: last.grants)
            try await core.trust.keep(last.grants, of: core.userID(), in: roster)
        }
        if !last.moreGrants { hasAllGrants = roster.incarnations }
        return publish(self.roster ?? roster)
    }

    /// The page of grants before the one that came with a tail.
    private func earlierGrants(than tail: Sealkit_V1_RosterTail) async throws(SealKitError) -> Sealkit_V1_RosterTail {
        let oldest = tail.grants.first?.epoch
        // Before the first epoch there is none, and asking so would begin anew.
        guard oldest != 0 else { throw Self.endless }
        // Of epochs that the verified roster has, each page of lower ones: that many pages there are at most.
        let newest = (roster?.currentEpoch.number ?? 0).addingReportingOverflow(1)
        let before = min(oldest ?? .max, newest.overflow ? .max : newest.partialValue)
        let page = try await fetch(after: tail.headSequence, grantsBefore: before)
        let goesOn = page.grants.isEmpty ? !page.moreGrants : page.grants.allSatisfy { $0.epoch < before }
        guard !page.moreComing, goesOn else { throw Self.endless }
        return page
    }

    static let endless = SealKitError(
        .serverRejectedRequest, "the server says that a roster goes on, and gives nothing more of it",
        remedy: "try again, and distrust a server that keeps doing so")

    /// One page of the log; with the last one, the newest of the caller's grants.
    /// - Parameters:
    ///   - known: the last entry that is not asked for; nil for all.
    ///   - epoch: grants of lower epochs alone; 0 for the newest.
    func fetch(after known: UInt64?, grantsBefore epoch: UInt32 = 0) async throws(SealKitError) -> Sealkit_V1_RosterTail
    {
        let head = roster?.head.bytes ?? []
        let request = Sealkit_V1_FetchRostersRequest.with {
            $0.rosters = [
                .with {
                    $0.zone = scope.zoneIDOnWire
                    $0.shareRecordName = scope.shareRecordName
                    $0.after = known ?? 0
                    $0.fromStart = known == nil
                    $0.head = Data(head)
                    $0.grantsBefore = epoch
                }
            ]
        }
        let response: Sealkit_V1_FetchRostersResponse = try await core.call(
            scope.owner == core.userID() ? .private : .shared, Endpoints.sharing.fetchRosters, request)
        guard let tail = response.rosters.first else {
            throw SealKitError(.serverRejectedRequest, "the server's answer lacks the roster that was asked for")
        }
        if tail.hasFailure { throw SealKitError(tail.failure) }
        guard !tail.moreComing || !tail.entries.isEmpty else { throw Self.endless }
        return tail
    }

    /// The whole roster and all of the caller's grants, as the server keeps them: for exports.
    /// - Throws: `rollback` unless the entries are those that this device has verified.
    func everything() async throws(SealKitError) -> Sealkit_V1_RosterTail {
        let known = try await refresh()
        var page = try await fetch(after: nil)
        var entries: [Sealkit_V1_SignedEntry] = []
        while true {
            let start = entries.count
            entries += page.entries
            // What came meanwhile is verified as everything else is; a server that shows more than that ends nowhere.
            if entries.count > stored.count { _ = try await refresh() }
            guard entries.count <= stored.count,
                page.entries.lazy.map({ SignedRosterEntry($0) }).elementsEqual(stored[start..<entries.count])
            else { throw await core.noted(forked(from: known.roster), scope: scope) }
            guard page.moreComing else { break }
            page = try await fetch(after: UInt64(entries.count) - 1)
        }
        guard entries.count >= known.roster.hashes.count else {
            throw await core.noted(forked(from: known.roster), scope: scope)
        }
        var (whole, grants) = (page, [page.grants])
        while page.moreGrants {
            page = try await earlierGrants(than: page)
            grants.append(page.grants)
        }
        (whole.entries, whole.grants, whole.moreGrants) = (entries, grants.reversed().flatMap(\.self), false)
        return whole
    }

    /// The server's own log from its first entry on, verified as its pages come, and what there is of the caller's
    /// newest grants.
    /// - Returns: of a log that breaks a rule, the entries up to there.
    func whole() async throws(SealKitError) -> (
        entries: [SignedRosterEntry], roster: Result<Roster, SealError>, grants: [Sealkit_V1_Grant]
    ) {
        var (entries, replayed) = ([SignedRosterEntry](), Roster?.none)
        var page = try await fetch(after: nil)
        while true {
            let next = page.entries.map { SignedRosterEntry($0) }
            entries += next
            do throws(SealError) {
                for entry in next {
                    if replayed == nil {
                        replayed = try Roster(opening: entry, scope: scope)
                    } else {
                        try replayed?.append(entry)
                    }
                }
            } catch {
                return (entries, .failure(error), page.grants)
            }
            guard page.moreComing else {
                return (entries, replayed.map { .success($0) } ?? .failure(.notNextEntry), page.grants)
            }
            page = try await fetch(after: UInt64(entries.count) - 1)
        }
    }

    /// Takes over entries that follow the head, as a whole or not at all, and the caller's own grants.
    func adopt(_ entries: [SignedRosterEntry], grants: [Sealkit_V1_Grant]) async throws(SealKitError) -> ZoneView {
        let next = try await take(entries, isLast: true)
        openKeys(next, grants: grants)
        try await core.trust.keep(grants, of: core.userID(), in: next)
        return publish(next)
    }

    /// Verifies entries and keeps them.
    /// - Parameter isLast: the log ends with them.
    private func take(_ entries: [SignedRosterEntry], isLast: Bool) async throws(SealKitError) -> Roster {
        try await load()
        // While this actor waited for an answer another call may have adopted the same entries.
        let known = stored.count
        let fresh = stored.isEmpty ? entries : entries.filter { !isStored($0) }
        var next = roster
        for entry in fresh {
            do {
                if next == nil { next = try Roster(opening: entry, scope: scope) } else { try next?.append(entry) }
            } catch .notNextEntry {
                throw forked(from: roster)
            } catch {
                throw SealKitError.integrity(error, "the roster of the zone \(scope.zoneName)")
            }
        }
        guard let next else {
            throw SealKitError(
                .zoneNotFound, "there is no zone \(scope.zoneName)", remedy: "make it, or accept its share, first")
        }
        if let floor {
            if next.reaches(floor) {
                self.floor = nil
            } else if next.sequence >= floor.sequence {
                throw forked(from: nil)
            } else if isLast {
                throw shortened()
            }
        }
        if !fresh.isEmpty {
            try core.identity().check(next)
            try await observe(next, since: roster)
        }
        // An owner sees what is in shares too, and of a share's records each participant hears how they ended.
        let isWholeOfAnother = scope.shareRecordName.isEmpty && scope.owner != core.userID()
        try await core.trust.append(
            fresh, scope: next.scopeID, from: UInt64(known),
            absences: isWholeOfAnother ? next.absences(of: core.userID()) : [])
        if !fresh.isEmpty, !scope.shareRecordName.isEmpty {
            try await core.trust.noteShare(scope.shareRecordName, of: scope.ofZone.id)
        }
        guard stored.count == known else { return try await take(entries, isLast: isLast) }
        stored += fresh
        roster = next
        return next
    }

    func isStored(_ entry: SignedRosterEntry) -> Bool {
        guard let sequence = try? RosterEntry(canonicalBytes: entry.bytes, container: scope.container).sequence,
            sequence < UInt64(stored.count)
        else { return false }
        return stored[Int(sequence)] == entry
    }

    /// Goes over to the log with which the owner has ended a fork.
    func takeOver(
        _ entries: [SignedRosterEntry], _ next: Roster, grants: [Sealkit_V1_Grant]
    ) async throws(SealKitError) -> ZoneView {
        try await observe(next, since: roster)
        try await core.trust.replace(entries, scope: next.scopeID)
        stored = entries
        roster = next
        openKeys(next, grants: grants)
        try await core.trust.keep(grants, of: core.userID(), in: next)
        return publish(next)
    }

    /// Whoever is named with keys that the roster did not show before is held against what this device knows of that
    /// person, before anything is sealed to them or taken from them.
    private func observe(_ roster: Roster, since before: Roster?) async throws(SealKitError) {
        try await core.contacts.observe(
            roster.knownIdentities.filter { chain in
                before?.knownIdentity(of: chain.userID) != chain
                    && before?.invitation(for: chain.userID)?.invitee != chain
            })
    }

    /// After an own entry was acknowledged: what was sent is what the log holds.
    func adopt(_ draft: RosterAuthor<XWingHPKE>.Draft) async throws(SealKitError) -> ZoneView {
        if let key = draft.epochKey {
            keys[key.context] = key
            lacksGrants = false
        }
        let own = draft.grants.filter { $0.subject == .member(core.userID()) }
        return try await adopt(
            [draft.entry], grants: own.map { Sealkit_V1_Grant(subject: $0.subject, epoch: $0.epoch, sealed: $0.sealed) }
        )
    }

    func load() async throws(SealKitError) {
        guard !isLoaded else { return }
        let entries = try await core.trust.entries(scope: scope.id)
        let floor = try await core.trust.floor(scope: scope.id)
        guard !isLoaded else { return }
        let replayed = try verifying("this device's copy of the roster of \(scope.zoneName)") { () throws(SealError) in
            try Roster(replaying: entries, scope: scope)
        }
        stored = entries
        roster = replayed
        self.floor = floor.flatMap { replayed?.reaches($0) == true ? nil : $0 }
        // Last: a copy that does not replay must not count as an empty one.
        isLoaded = true
    }

    /// When entries were signed, by their authors' clocks.
    func times(of sequences: Set<UInt64>) -> [UInt64: Int64] {
        var times: [UInt64: Int64] = [:]
        for sequence in sequences where sequence < UInt64(stored.count) {
            times[sequence] = try? RosterEntry(canonicalBytes: stored[Int(sequence)].bytes, container: scope.container)
                .time
        }
        return times
    }

    /// What this device has stored of the zone, without asking the server.
    func known() async throws(SealKitError) -> Roster? {
        try await load()
        return roster
    }

    /// Opens this account's grants, newest first, checks each against the roster's key id, and walks down to the first
    /// epoch.
    ///
    /// What does not open leaves its epoch without a key, and nothing else: whoever opened an epoch with bad grants
    /// must not keep others from reading what came before, or from mending it.
    private func openKeys(_ roster: Roster, grants: [Sealkit_V1_Grant]) {
        // A share that has ended has records until its owner has moved them.
        let isEnded = roster.isClosed && !scope.shareRecordName.isEmpty && scope.owner == core.userID()
        guard isEnded || (!roster.isClosed && roster.members[core.userID()] != nil) else { return }
        let epochs = roster.epochs.filter { $0.context.incarnations == roster.incarnations }
        for index in epochs.indices.reversed() {
            let epoch = epochs[index]
            if keys[epoch.context] == nil {
                // The first that opens to the key that the roster names: others beside it take nothing away.
                for grant in grants where grant.epoch == epoch.number {
                    let opened = try? core.identity().open { own throws(SealError) in
                        try Grants<XWingHPKE>.open([UInt8](grant.sealed), epoch: epoch, as: core.userID(), keys: own)
                    }
                    guard let key = opened else { continue }
                    keys[epoch.context] = key
                    break
                }
            }
            guard index > 0, keys[epochs[index - 1].context] == nil, let key = keys[epoch.context] else { continue }
            // The key before is that of the epoch before, unless its author had to mend one that nobody could open.
            for earlier in epochs[..<index].reversed() {
                guard let opened = try? key.openPrevious(epoch.previousKey, epoch: earlier) else { continue }
                keys[earlier.context] = opened
                break
            }
        }
    }

    private func publish(_ current: Roster) -> ZoneView {
        var numbered: [UInt32: EpochKey] = [:]
        for (context, key) in keys where context.incarnations == current.incarnations { numbered[context.epoch] = key }
        let next = ZoneView(roster: current, keys: numbered, user: core.userID(), lacksGrants: lacksGrants ?? false)
        view = next
        return next
    }
}
