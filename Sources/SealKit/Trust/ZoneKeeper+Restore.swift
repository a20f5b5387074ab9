import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A server that was restored from a backup, and forks: what this device does where the server's roster is not the one
/// that it has verified.
extension ZoneKeeper {
    /// What follows this device's own log; what the server has lost of it is given back first.
    /// - Returns: nil where the owner has ended a fork, and this device has gone over to the log that counts now.
    /// - Throws: `rollback` for a roster that stays shorter, and for another one.
    func tail() async throws(SealKitError) -> Sealkit_V1_RosterTail? {
        let asked = roster
        let tail: Sealkit_V1_RosterTail
        do { tail = try await fetch(after: asked?.sequence) } catch {
            guard error.saysThatThereIsNone, let roster, mayKnowBetter(roster) else { throw error }
            // Of a roster that is open, with this account in it, "there is none" is no answer.
            let refusal =
                roster.isClosed || roster.members[core.userID()] == nil ? error : Database.gone(core.zoneID(of: scope))
            guard givenBack != roster.sequence else { throw refusal }
            do { try await giveBack(roster, from: 0) } catch { throw error.code == .rollback ? error : shortened() }
            let tail: Sealkit_V1_RosterTail
            do { tail = try await fetch(after: self.roster?.sequence) } catch {
                throw error.saysThatThereIsNone ? refusal : error
            }
            _ = await core.noted(mended(), scope: scope)
            return tail
        }
        // Another call has come further meanwhile: what was asked for no longer follows.
        guard roster?.head == asked?.head else { return try await self.tail() }
        guard let roster else { return tail }
        guard tail.head.count == Digest.byteCount else {
            throw SealKitError(.serverRejectedRequest, "the server's answer does not say where its roster ends")
        }
        let head = (sequence: tail.headSequence, hash: Array(tail.head))
        if head.sequence < roster.sequence, roster.hashes[Int(head.sequence)].bytes == head.hash {
            guard givenBack != roster.sequence else { throw shortened() }
            try await giveBack(roster, from: head.sequence + 1)
            let again = try await fetch(after: roster.sequence)
            guard again.headSequence >= roster.sequence else { throw shortened() }
            // Kept for the user to see: a server that loses what it had may have lost records too.
            _ = await core.noted(mended(), scope: scope)
            return again
        }
        let next = try? tail.entries.first.map {
            try RosterEntry(canonicalBytes: SignedRosterEntry($0).bytes, container: scope.container)
        }
        if head.sequence > roster.sequence, next?.previous ?? roster.head == roster.head { return tail }
        if head.sequence == roster.sequence, head.hash == roster.head.bytes { return tail }
        // What was not asked for is no fork.
        if let first = tail.entries.first, isStored(SignedRosterEntry(first)) { throw Self.endless }
        try await succeed(roster, abandoned: tail.abandoned.map { SignedRosterEntry($0) })
        return nil
    }

    /// The server does not know the scope, which this device has verified to be there: to its owner also one that has
    /// ended.
    private func mayKnowBetter(_ roster: Roster) -> Bool {
        scope.owner == core.userID() || (!roster.isClosed && roster.members[core.userID()] != nil)
    }

    /// Gives the server the newest entries of the roster, which it has lost, and this account's grants.
    private func giveBack(_ roster: Roster, from first: UInt64) async throws(SealKitError) {
        let entries = stored[Int(first)...].map(\.wire)
        var grants: [Sealkit_V1_Grant] = []
        if !roster.isClosed {
            // One opens all of the life; the newest few, should it be a bad one.
            grants = try await core.trust.grants(of: roster).suffix(ZoneKeeper.grantsGivenBack).map {
                Sealkit_V1_Grant(subject: .member(core.userID()), epoch: $0.epoch, sealed: [UInt8]($0.sealed))
            }
        }
        var start = 0
        while start < entries.count {
            let end = min(start + ZoneKeeper.entriesAtOnce, entries.count)
            let taken: UInt64
            do {
                taken = try await send(Array(entries[start..<end]), grants: end == entries.count ? grants : [])
            } catch let error where error.code == .rosterChanged {
                throw forked(from: roster)
            } catch let error where [.permissionFailure, .limitExceeded].contains(error.code) {
                throw shortened()
            }
            // A life that begins again waits for a large one before it to go: the server has taken what comes before.
            guard taken >= first, Int(clamping: taken - first) >= start else { throw Self.endless }
            start = min(Int(clamping: taken - first), end - 1) + 1
        }
        givenBack = roster.sequence
    }

    static let entriesAtOnce = 500
    private static let grantsGivenBack = 16

    /// - Parameter abandoned: with an opening that gives another branch up.
    /// - Returns: the sequence that the server's log ends with.
    @discardableResult
    func send(
        _ entries: [Sealkit_V1_SignedEntry], grants: [Sealkit_V1_Grant], abandoned: [Sealkit_V1_SignedEntry] = []
    ) async throws(SealKitError) -> UInt64 {
        let request = Sealkit_V1_RestoreRosterRequest.with {
            $0.zone = scope.zoneIDOnWire
            $0.shareRecordName = scope.shareRecordName
            $0.entries = entries
            $0.grants = grants
            $0.abandoned = abandoned
        }
        let response: Sealkit_V1_RestoreRosterResponse = try await core.call(
            scope.owner == core.userID() ? .private : .shared, Endpoints.sharing.restoreRoster, request)
        return response.scope.sequence
    }

    /// Goes over to the server's log where it ends a fork with the opening that gives this device's branch up.
    /// - Parameter abandoned: what followed in that branch, as the server says; the rules judge it like everything
    ///   else.
    private func succeed(
        _ roster: Roster, abandoned: [SignedRosterEntry]
    ) async throws(SealKitError) {
        let whole = try await whole()
        var branch = roster
        for entry in abandoned {
            do throws(SealError) { try branch.append(entry) } catch { break }
        }
        // One that does not even replay is no better than another one.
        guard case .success(let theirs) = whole.roster, theirs.succeeds(branch), self.roster?.head == roster.head
        else {
            throw forked(from: roster)
        }
        _ = try await takeOver(whole.entries, theirs, grants: whole.grants)
    }

    // MARK: Ending a fork

    /// Opens the scope anew on the server's log, naming the head of the branch that is given up with it.
    /// - Parameter head: nil for this device's own branch.
    func endFork(abandoning head: RosterFork.Head?) async throws(SealKitError) {
        try await load()
        let whole = try await whole()
        let entries = whole.entries
        let theirs = try verifying("the roster of the zone \(scope.zoneName)") { () throws(SealError) in
            try whole.roster.get()
        }
        let parting = zip(stored, entries).prefix { $0 == $1 }.count
        let isOurs = parting < stored.count
        guard let given = head ?? (isOurs ? roster.map { RosterFork.Head($0) } : nil) else {
            throw SealKitError(
                .invalidArguments,
                "the roster of the zone \(scope.zoneName) is not forked, as far as this device knows",
                remedy: "name the head that a member's error gives")
        }
        guard given.sequence >= theirs.nextSequence || theirs.hashes[Int(given.sequence)] != given.hash else {
            throw SealKitError(
                .invalidArguments, "the head that is to be given up is an entry of the server's roster",
                remedy: "name the head that the error of the member gives who is shown another roster")
        }
        guard !isOurs || roster.map({ RosterFork.Head($0) == given }) ?? false else {
            throw SealKitError(
                .invalidArguments, "this device has verified yet another branch",
                remedy: "give up this device's own branch first")
        }
        let lives = max(theirs.incarnations.scope, roster?.incarnations.scope ?? 0)
        // Of a branch that only others know, nobody here can say how many lives it has had.
        let (next, isPastLast) = lives.addingReportingOverflow(isOurs ? 1 : 1_000)
        var random = SystemRandom()
        let draft = try verifying("the zone's new opening") { () throws(SealError) in
            guard !isPastLast else { throw .changeNotApplicable }
            return try core.author.open(
                scope, following: theirs, encryptionScope: theirs.encryptionScope,
                incarnations: Incarnations(zone: next, scope: next),
                abandoned: RosterChange.AbandonedHead(sequence: given.sequence, hash: given.hash),
                identity: core.identity().chain, time: currentTime(), random: &random)
        }
        let grants = draft.grants.map { Sealkit_V1_Grant(subject: $0.subject, epoch: $0.epoch, sealed: $0.sealed) }
        try await send([draft.entry.wire], grants: grants, abandoned: isOurs ? stored[parting...].map(\.wire) : [])
        let ended = entries + [draft.entry]
        let reopened = try verifying("the zone's new opening") { () throws(SealError) in
            var roster = theirs
            try roster.append(draft.entry)
            return roster
        }
        _ = try await takeOver(ended, reopened, grants: grants)
    }

    // MARK: Errors

    func forked(from roster: Roster?) -> SealKitError {
        SealKitError(
            .rollback,
            "the server shows another roster of the zone \(scope.zoneName) than this device has verified"
                + (roster.map { ", which ends with \(RosterFork.Head($0))" } ?? ""),
            remedy: "do not trust this server's answers about it; the zone's owner can compare, and end the fork",
            rosterFork: roster.map {
                RosterFork(
                    zoneID: core.zoneID(of: scope),
                    shareRecordName: scope.shareRecordName.isEmpty ? nil : scope.shareRecordName,
                    head: RosterFork.Head($0))
            })
    }

    func shortened() -> SealKitError {
        SealKitError(
            .rollback, "the server shows an older roster of the zone \(scope.zoneName) than this device has verified",
            remedy:
                "it may have been restored from a backup; the owner's or an administrator's device gives it what it lost"
        )
    }

    func mended() -> SealKitError {
        SealKitError(
            .rollback,
            "the server had lost the newest entries of the roster of the zone \(scope.zoneName), and has them back from this device",
            remedy: "ask again; it was probably restored from a backup, so save again what records it has lost")
    }
}

extension SealKitError {
    fileprivate var saysThatThereIsNone: Bool { code == .zoneNotFound || code == .unknownItem }
}
