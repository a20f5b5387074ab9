import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Keeps one zone's roster: a `ScopeReplica` judges it, and this asks the server, and stores what was judged.
actor ZoneKeeper {
    let scope: Scope
    let zoneID: RecordZone.ID
    /// This account's.
    let user: UserID
    /// It has its keepers, and would stay in memory with its account's keys as long as they have it.
    private weak var container: ContainerCore?
    /// The zone as it is known in this process; nil where it was not fetched yet.
    private(set) var view: ZoneView?
    var replica: ScopeReplica<XWingHPKE>
    private var isLoaded = false

    init(scope: Scope, core: ContainerCore) {
        self.scope = scope
        zoneID = core.zoneID(of: scope)
        user = core.userID()
        container = core
        replica = ScopeReplica(scope: scope, user: user)
    }

    /// - Throws: `operationCancelled` where nobody has the container any more.
    var core: ContainerCore {
        get throws(SealKitError) {
            guard let container else { throw SealKitError.cancelled }
            return container
        }
    }

    /// The zone as this device knows it: fetched the first time, and where another process of the device has come to
    /// know more.
    func current() async throws(SealKitError) -> ZoneView {
        try await current(knownTo: core.trust.standing(of: [scope.id]).ends[0])
    }

    /// - Parameter end: of what this device has verified, whichever of its processes did.
    func current(knownTo end: UInt64?) async throws(SealKitError) -> ZoneView {
        if let view, view.roster.sequence >= end ?? 0 { return view }
        return try await refresh()
    }

    /// The zone at least as far as an answer cites it.
    /// - Parameter asked: the sequence that was known when the question was sent; an answer may not be older.
    /// - Throws: `rollback` when the answer cites an older head, or one that this device knows as another.
    func current(citedBy heads: [Sealkit_V1_ScopeHead], asked: UInt64) async throws(SealKitError) -> ZoneView {
        do { return try await cited(by: heads, asked: asked) } catch { throw try await core.noted(error, scope: scope) }
    }

    private func cited(by heads: [Sealkit_V1_ScopeHead], asked: UInt64) async throws(SealKitError) -> ZoneView {
        var known: ZoneView
        if let view { known = view } else { known = try await refresh() }
        let cited = heads.filter { $0.isOf(scope) }
        guard let head = cited.first, cited.count == 1 else {
            throw SealKitError(
                .integrityFailure, "the server's answer does not say which roster of \(scope.zoneName) it goes by",
                remedy: "without that nothing in it can be judged; try again, and distrust a server that keeps doing so"
            )
        }
        if head.sequence < asked {
            // A server that has lost it is given it back; its answer was made without it all the same.
            let before = replica.givenBack
            _ = try await refresh()
            throw refused(replica.givenBack == before ? .shortened : .mended)
        }
        if !known.roster.has(sequence: head.sequence, hash: Array(head.head)) { known = try await refresh() }
        guard known.roster.has(sequence: head.sequence, hash: Array(head.head)) else {
            throw refused(.forked(from: replica.head))
        }
        return known
    }

    /// Holds a log that came whole, and not by this roster's own way, against what this device has verified.
    /// - Parameter asked: the sequence that was known when the question was sent; nil for nothing.
    /// - Throws: `rollback` for an older log than was known then, and for another one.
    func check(_ log: Roster, asked: UInt64?) async throws(SealKitError) {
        do { try await checked(log, asked: asked) } catch { throw try await core.noted(error, scope: scope) }
    }

    private func checked(_ log: Roster, asked: UInt64?) async throws(SealKitError) {
        try await hear()
        do throws(ClientError) { try replica.check(log, asked: asked) } catch {
            // A server that has lost what is missing is given it back, and where the owner has ended a fork, this
            // device goes over first.
            let before = replica.givenBack
            do throws(SealKitError) { _ = try await refresh() } catch { if error.isViolation { throw error } }
            if replica.givenBack != before { throw refused(.mended) }
            try judging { () throws(ClientError) in try replica.check(log, asked: asked) }
        }
    }

    /// Fetches the roster's tail.
    /// - Throws: `zoneNotFound`; `integrityFailure` for an entry that breaks a rule; `rollback` for one that forks the
    ///   log.
    func refresh() async throws(SealKitError) -> ZoneView {
        do { return try await fetched() } catch { throw try await core.noted(error, scope: scope) }
    }

    private func fetched() async throws(SealKitError) -> ZoneView {
        try await hear()
        while true {
            let known = replica.entries.count
            guard let tail = try await tail() else { return try await current() }
            replica.note(tail)
            guard tail.isMoreComing else {
                let view = try await adopt(tail.entries, grants: tail.grants)
                return try await openEarlier(than: tail) ?? view
            }
            // Page by page, each verified and kept before the next: what this device has come to is where it goes on.
            try await take(tail.entries, isLast: false)
            guard replica.entries.count > known else { throw refused(.endless) }
        }
    }

    /// Opens epochs of this life that no newer grant opens, by the caller's earlier ones.
    /// - Returns: nil where there is nothing to open.
    private func openEarlier(than tail: RosterTail) async throws(SealKitError) -> ZoneView? {
        guard tail.hasMoreGrants, replica.wantsEarlierGrants else { return nil }
        let life = replica.roster?.incarnations
        var last = tail
        while last.hasMoreGrants, replica.wantsEarlierGrants {
            last = try await earlierGrants(than: last)
            // While the server was asked, the zone may have begun another life, which these are none of.
            guard replica.roster?.incarnations == life else { return nil }
            try await open(last.grants)
        }
        if !last.hasMoreGrants { replica.noteAllGrantsAsked() }
        return try publish()
    }

    /// The page of grants before the one that came with a tail.
    private func earlierGrants(than tail: RosterTail) async throws(SealKitError) -> RosterTail {
        let epoch = try judging { () throws(ClientError) in
            try replica.epochToAskBelow(oldest: tail.grants.first?.epoch)
        }
        let page = try await fetch(after: tail.headSequence, grantsBefore: epoch)
        try judging { () throws(ClientError) in try replica.check(page, below: epoch) }
        return page
    }

    /// One page of the log; with the last one, the newest of the caller's grants.
    /// - Parameters:
    ///   - known: the last entry that is not asked for; nil for all.
    ///   - epoch: grants of lower epochs alone; 0 for the newest.
    func fetch(after known: UInt64?, grantsBefore epoch: UInt32 = 0) async throws(SealKitError) -> RosterTail {
        let head = replica.roster?.head.bytes ?? []
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
            scope.owner == user ? .private : .shared, Endpoints.sharing.fetchRosters, request)
        guard let tail = response.rosters.first else {
            throw SealKitError.lacking("the roster that was asked for")
        }
        if tail.hasFailure { throw SealKitError(tail.failure) }
        return try judging { () throws(ClientError) in try RosterTail(tail, of: user) }
    }

    /// The whole roster and all of the caller's grants, as the server keeps them: for exports.
    /// - Throws: `rollback` unless the entries are those that this device has verified.
    func everything() async throws(SealKitError) -> (entries: [SignedRosterEntry], grants: [OwnGrant]) {
        let known = try await refresh()
        var page = try await fetch(after: nil)
        var entries: [SignedRosterEntry] = []
        while true {
            let start = entries.count
            entries += page.entries
            // What came meanwhile is verified as everything else is; a server that shows more than that ends nowhere.
            if entries.count > replica.entries.count { _ = try await refresh() }
            guard entries.count <= replica.entries.count,
                page.entries.elementsEqual(replica.entries[start..<entries.count])
            else { throw try await core.noted(refused(.forked(from: replica.head)), scope: scope) }
            guard page.isMoreComing else { break }
            page = try await fetch(after: UInt64(entries.count) - 1)
        }
        guard entries.count >= known.roster.hashes.count else {
            throw try await core.noted(refused(.forked(from: replica.head)), scope: scope)
        }
        var grants = [page.grants]
        while page.hasMoreGrants {
            page = try await earlierGrants(than: page)
            grants.append(page.grants)
        }
        return (entries, grants.reversed().flatMap(\.self))
    }

    /// The server's own log from its first entry on, verified as its pages come, and what there is of the caller's
    /// newest grants.
    func whole() async throws(SealKitError) -> (log: ServerLog, grants: [OwnGrant]) {
        var log = ServerLog(scope: scope)
        var page = try await fetch(after: nil)
        while log.add(page.entries), page.isMoreComing { page = try await fetch(after: UInt64(log.entries.count) - 1) }
        return (log, page.grants)
    }

    /// Takes over entries that follow the head, as a whole or not at all, and the caller's own grants.
    func adopt(_ entries: [SignedRosterEntry], grants: [OwnGrant]) async throws(SealKitError) -> ZoneView {
        try await take(entries, isLast: true)
        try await open(grants)
        return try publish()
    }

    /// Verifies entries and keeps them.
    /// - Parameter isLast: the log ends with them.
    private func take(_ entries: [SignedRosterEntry], isLast: Bool) async throws(SealKitError) {
        try await load()
        // While this actor waits, another call may adopt the same entries: then they are judged once more.
        while true {
            let own = try core.identity()
            let step = try judging { () throws(ClientError) in
                try replica.step(entries, isLast: isLast, as: own)
            }
            try await core.contacts.observe(step.people)
            try await core.trust.append(
                step.entries, scope: step.roster.scopeID, from: step.first, absences: step.absences,
                share: shareMarks(of: step.roster))
            if replica.adopt(step) { return }
        }
    }

    /// Goes over to the log with which the owner has ended a fork.
    /// - Returns: false where another call has gone over meanwhile, or added to the log.
    func takeOver(
        _ succession: ScopeReplica<XWingHPKE>.Succession, grants: [OwnGrant]
    ) async throws(SealKitError) -> Bool {
        try await core.contacts.observe(succession.people)
        try await core.trust.replace(
            succession.branch, by: succession.entries, scope: succession.roster.scopeID)
        guard replica.adopt(succession) else { return false }
        try await noteMarks()
        try await open(grants)
        try publish()
        return true
    }

    /// After an own entry was acknowledged. That the log holds it is the server's word: it is judged like any other,
    /// and its key counts after that alone.
    /// - Parameter entries: those before it, as far as they are not known here.
    /// - Throws: `rollback` where the log has another entry in its place.
    @discardableResult
    func adopt(
        _ draft: RosterAuthor<XWingHPKE>.Draft, after entries: [SignedRosterEntry] = []
    ) async throws(SealKitError) -> ZoneView {
        try await take(entries + [draft.entry], isLast: true)
        if let key = draft.epochKey { replica.keep(key) }
        try await open(draft.grants.own(of: user))
        return try publish()
    }

    /// Takes over what was verified behind the share's URL, and the own entry with which this account has joined. The
    /// server is asked only where that leaves keys closed: those of an earlier membership have grants of their own.
    func join(_ entries: [SignedRosterEntry], by draft: RosterAuthor<XWingHPKE>.Draft) async throws(SealKitError) {
        try await adopt(draft, after: entries)
        if replica.wantsEarlierGrants { _ = try await refresh() }
    }

    func load() async throws(SealKitError) {
        guard !isLoaded else { return }
        let entries = try await core.trust.entries(scope: scope.id)
        let floor = try await core.trust.floor(scope: scope.id)
        guard !isLoaded else { return }
        var next = try verifying("this device's copy of the roster of \(scope.zoneName)") { () throws(SealError) in
            try ScopeReplica<XWingHPKE>(scope: scope, user: user, entries: entries, floors: floor.map { [$0] } ?? [])
        }
        next.goOn(from: replica)
        replica = next
        isLoaded = true
    }

    /// What another process of this device has verified counts here too: what the server shows has to follow it.
    private func hear() async throws(SealKitError) {
        try await load()
        let known = replica.head
        let later = try await core.trust.entries(scope: scope.id, from: UInt64(replica.entries.count))
        // While this actor waited another call has come further: what was read may be what that one has added.
        guard replica.head == known else { return try await hear() }
        guard let next = later.first else { return }
        guard replica.isFollowed(by: next) else {
            // That process has gone over to the log with which the owner ended a fork.
            isLoaded = false
            return try await load()
        }
        try await take(later, isLast: false)
    }

    /// Of a hierarchical share: how far its roster has come, for the store. Nil for a zone's own scope.
    private func shareMarks(of roster: Roster) -> TrustStore.ShareMarks? {
        guard !scope.shareRecordName.isEmpty else { return nil }
        return TrustStore.ShareMarks(
            zone: scope.ofZone.id, name: scope.shareRecordName, marks: roster.marks(readTo: roster.sequence))
    }

    /// For a share whose roster was verified before the store kept that.
    func noteMarks() async throws(SealKitError) {
        guard let roster = try await known(), let marks = shareMarks(of: roster) else { return }
        try await core.trust.note(marks)
    }

    /// When entries were signed, by their authors' clocks.
    func times(of sequences: Set<UInt64>) -> [UInt64: Int64] {
        var times: [UInt64: Int64] = [:]
        for sequence in sequences { times[sequence] = replica.time(of: sequence) }
        return times
    }

    /// What this device has stored of the zone, without asking the server.
    func known() async throws(SealKitError) -> Roster? {
        try await load()
        return replica.roster
    }

    /// Opens this account's grants, and keeps them: a server that loses them is given them back.
    private func open(_ grants: [OwnGrant]) async throws(SealKitError) {
        guard let roster = replica.roster else { return }
        try replica.open(grants, as: core.identity())
        try await core.trust.keep(grants, in: roster)
    }

    @discardableResult
    private func publish() throws(SealKitError) -> ZoneView {
        guard let next = replica.view else { throw refused(.unknownScope) }
        view = next
        return next
    }

    // MARK: Errors

    /// What the replica refuses, in the words of the SDK.
    func refused(_ error: ClientError) -> SealKitError {
        SealKitError(error, of: scope, in: zoneID)
    }

    func judging<T>(_ body: () throws(ClientError) -> T) throws(SealKitError) -> T {
        do { return try body() } catch { throw refused(error) }
    }
}

extension RosterTail {
    /// - Parameter user: whose grants they are; others are none of the caller's.
    fileprivate init(_ wire: Sealkit_V1_RosterTail, of user: UserID) throws(ClientError) {
        try self.init(
            entries: wire.entries.map { SignedRosterEntry($0) }, isMoreComing: wire.moreComing,
            grants: wire.grants.compactMap { grant in
                guard (try? grant.grantSubject()) == .member(user) else { return nil }
                return OwnGrant(epoch: grant.epoch, sealed: [UInt8](grant.sealed))
            },
            hasMoreGrants: wire.moreGrants, headSequence: wire.headSequence, head: [UInt8](wire.head),
            isUngranted: wire.ungranted, abandoned: wire.abandoned.map { SignedRosterEntry($0) })
    }
}

extension Sequence<RosterAuthor<XWingHPKE>.Grant> {
    /// Those to a user as a member.
    func own(of user: UserID) -> [OwnGrant] {
        compactMap { $0.subject == .member(user) ? OwnGrant(epoch: $0.epoch, sealed: $0.sealed) : nil }
    }
}
