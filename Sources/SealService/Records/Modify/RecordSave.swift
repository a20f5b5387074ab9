import Foundation
import SealStorage
import SealWire

/// One save in its transaction, stage by stage: each is given what the one before it made.
///
/// 1. `SaveComparison` makes `SaveOutcomes` of the request's records. It refuses what does not follow what is stored.
/// 2. `SavePlacement` gives them back without what is not in the scope of its parent.
/// 3. `SaveReferences` makes `SaveReferences.Judged` of them, with what goes along. It refuses orphans, cycles, and
///    deletions that do not cover what goes with them.
/// 4. `SaveWriting` makes `SaveWriting.Written` of that, in the database.
/// 5. `RecordFollowers`: the quotas, which throw; then indexes, and everybody who is told.
///
/// What a stage refuses is one record's: the others are written, or in an atomic request none is. What a stage throws
/// is the whole request's, and takes everything back.
struct RecordSave {
    let batch: RecordBatch
    let isAtomic: Bool
    let caller: Caller
    let zone: ZoneRow
    /// As it holds in this transaction; the batch fits it.
    let schema: StoredSchema
    /// The caller's, in the public database; in a zone its roster has judged already.
    let rights: PublicRights?
    /// What begins and ends with it; nothing of it is stored where that is refused.
    let shareChanges: ShareChanges
    /// Of other scopes than the request's own, where there are some.
    let rosters: RosterCache
    let quotas: Quotas
    let now: Int64
    let connection: any SQLConnection

    /// What has come of it.
    struct Result {
        /// A serialized `ModifyRecordsResponse`, without server records: what is kept for repeated operations stays
        /// small.
        let answer: [UInt8]
        /// Whether anything was written: then the answer is kept.
        let isWritten: Bool
        /// Whether the client is to be told what the server has instead (`ServerRecords`).
        let wantsServerRecords: Bool
        let leftGarbage: Bool
        /// Of each record that was refused.
        let refusals: [ErrorCode]

        /// The operation was done before, and this was its answer; what the server has by now goes with it anew.
        static func repeated(_ answer: [UInt8]) -> Result {
            Result(
                answer: answer, isWritten: false, wantsServerRecords: true, leftGarbage: false, refusals: [])
        }
    }

    /// Whether the save's bill is the caller's own: then what is kept of its answer goes onto it at once.
    private var billsAnswer: Bool { caller.id == zone.owner }

    /// Keeps the answer for the operation's repetition.
    func keep(_ result: Result, as operation: RepeatableOperation) throws {
        try operation.keep(
            Data(result.answer), of: caller.accountID, isBilled: billsAnswer, now: now, in: connection)
    }

    func run() throws -> Result {
        let judged = try judge()
        guard judged.outcomes.acceptedCount > 0 else {
            return try result(judged.outcomes, nil)
        }
        let written = try SaveWriting(
            zone: zone, caller: caller, schema: schema, shareChanges: shareChanges, rosters: rosters, quotas: quotas,
            isRestoring: batch.isRestoring, now: now, connection: connection
        ).run(judged)
        let result = try result(judged.outcomes, written)
        let shares = written.changes.reduce(into: Set<Int64>()) { $0.formUnion($1.shares) }
        try DatabaseFeed.touch(zone, savedIn: shares, in: connection)
        try RecordFollowers.follow(
            written.changes, written.schema, in: zone, by: caller, opensShares: !shareChanges.openings.isEmpty,
            billed: written.billed,
            kept: billsAnswer ? RepeatableOperation.billed(result.answer.count) : 0, now: now, quotas: quotas,
            connection)
        return result
    }

    private func judge() throws -> SaveReferences.Judged {
        let parents = StoredParents(in: zone, connection)
        let comparison = SaveComparison(
            batch: batch, caller: caller, zone: zone, rights: rights, schema: schema, connection: connection)
        let placement = SavePlacement(
            zone: zone, caller: caller, shareChanges: shareChanges, parents: parents, connection: connection)
        let references = SaveReferences(
            zone: zone, caller: caller, rosters: rosters, isPublic: rights != nil, isAtomic: isAtomic,
            parents: parents, connection: connection)

        let compared = try comparison.run()
        let placed = try placement.run(compared)
        var judged = try references.run(references.withinSources(placed))
        guard !isAtomic else {
            judged.outcomes = judged.outcomes.allOrNone
            return judged
        }
        // What is refused stays where it is, and what was to come below it may not belong there then.
        var round = 0
        while let moved = try placement.run(belowRefusedOf: judged.outcomes, all: round >= Self.mostRounds) {
            round += 1
            judged = try references.run(moved)
        }
        return judged
    }

    /// Rounds of refusals that lead to further ones, before all that may be is refused.
    private static let mostRounds = 8

    private func result(_ outcomes: SaveOutcomes, _ written: SaveWriting.Written?) throws -> Result {
        var writer = WireWriter(capacity: 128 * outcomes.names.count)
        for (index, name) in outcomes.names.enumerated() {
            if let record = written?.records[index] {
                writer.saved(record, now: now)
            } else if case .refused(let error, let dependents) = outcomes[index] {
                try writer.failed(name, error, dependents: dependents)
            }
        }
        return Result(
            answer: writer.bytes, isWritten: written != nil,
            wantsServerRecords: outcomes.refusals.contains { ServerRecords.isWanted(after: $0.code) },
            leftGarbage: written?.leftGarbage ?? false, refusals: outcomes.refusals.map(\.code))
    }
}
