import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A server that was restored from a backup, and forks: what this device does where the server's roster is not the one
/// that it has verified.
extension ZoneKeeper {
    /// What follows this device's own log.
    /// - Returns: nil where the owner has ended a fork, and this device has gone over to the log that counts now.
    /// - Throws: `rollback` for another roster; for a shorter one too, which is given what it lacks first: other
    ///   devices may know of it what this one does not, and whatever this call would append would part from that.
    func tail() async throws(SealKitError) -> RosterTail? {
        let asked = replica.roster
        let tail: RosterTail
        do { tail = try await fetch(after: asked?.sequence) } catch {
            guard error.saysThatThereIsNone, replica.mayKnowBetter else { throw error }
            // Made meanwhile by another call: of that the answer says nothing.
            guard replica.roster?.head == asked?.head else { return try await self.tail() }
            let refusal = replica.isMember ? Database.gone(zoneID) : error
            guard !replica.hasGivenBack else { throw refusal }
            try Upkeep.requireTelling()
            do { try await giveBack(from: 0) } catch { throw error.code == .rollback ? error : refused(.shortened) }
            do { _ = try await fetch(after: replica.roster?.sequence) } catch {
                throw error.saysThatThereIsNone ? refusal : error
            }
            throw try await toldOfLoss()
        }
        switch try judging({ () throws(ClientError) in try replica.course(of: tail, asked: asked?.head) }) {
        case .onwards: return tail
        case .outrun: return try await self.tail()
        case .behind(let first):
            try Upkeep.requireTelling()
            try await giveBack(from: first)
            let again = try await fetch(after: asked?.sequence)
            guard again.headSequence >= asked?.sequence ?? 0 else { throw refused(.shortened) }
            throw try await toldOfLoss()
        case .apart:
            let whole = try await whole()
            let own = try core.identity()
            let succession = try judging { () throws(ClientError) in
                try replica.succession(of: whole.log, abandoned: tail.abandoned, asked: asked?.head, as: own)
            }
            // Another call may have gone over while this one waited for the whole log, or for the store.
            guard let succession, try await takeOver(succession, grants: whole.grants) else {
                return try await self.tail()
            }
            return nil
        }
    }

    /// That the server had lost something, and has it back. Whoever is told so need not be told of lost keys as well.
    private func toldOfLoss() async throws(SealKitError) -> SealKitError {
        if let roster = replica.roster { _ = try await core.trust.noteTold(of: roster.currentEpoch, in: scope) }
        return refused(.mended)
    }

    /// Gives the server the newest entries of the roster, which it has lost, and this account's grants.
    private func giveBack(from first: UInt64) async throws(SealKitError) {
        guard let roster = replica.roster else { return }
        let grants = try await core.trust.grants(of: roster)
        var lost = try judging { () throws(ClientError) in try replica.giveBack(from: first, grants: grants) }
        while let part = lost.part {
            let taken: UInt64
            do {
                taken = try await send(
                    part.entries.map(\.wire),
                    grants: part.grants.map {
                        Sealkit_V1_Grant(subject: .member(user), epoch: $0.epoch, sealed: $0.sealed)
                    })
            } catch let error where error.code == .rosterChanged {
                throw refused(.forked(from: replica.head))
            } catch let error where [.permissionFailure, .limitExceeded].contains(error.code) {
                throw refused(.shortened)
            }
            try judging { () throws(ClientError) in try lost.taken(upTo: taken) }
        }
        replica.noteGivenBack(lost)
    }

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
            scope.owner == user ? .private : .shared, Endpoints.sharing.restoreRoster, request)
        return response.scope.sequence
    }

    /// Opens the scope anew on the server's log, naming the head of the branch that is given up with it.
    /// - Parameter head: nil for this device's own branch.
    /// - Throws: `invalidArguments` for a hierarchical share that has not ended, and where there is no such branch.
    func endFork(abandoning head: RosterFork.Head?) async throws(SealKitError) {
        try await load()
        let log = try await whole().log
        if !scope.shareRecordName.isEmpty, let theirs = try? log.roster(), !theirs.isClosed {
            throw SealKitError(
                .invalidArguments, "the share \(scope.shareRecordName) has not ended",
                remedy: "delete it first, on a device that is shown no other roster of it")
        }
        let own = try core.identity()
        var random = SystemRandom()
        let end = try judging { () throws(ClientError) in
            try replica.forkEnd(
                on: log, abandoning: head?.abandoned, as: own, time: currentTime(), random: &random)
        }
        // Of a share that has ended nobody is granted anything.
        let grants = end.closing == nil ? end.draft.grants : []
        let entries = [end.draft.entry] + (end.closing.map { [$0] } ?? [])
        try await send(entries.map(\.wire), grants: grants.map(\.wire), abandoned: end.abandoned.map(\.wire))
        if try await !takeOver(end.succession, grants: grants.own(of: user)) { _ = try await refresh() }
    }
}

extension SealKitError {
    fileprivate var saysThatThereIsNone: Bool { code == .zoneNotFound || code == .unknownItem }
}
