import Foundation
import SealPrimitives
import SealStatements
import SealStorage

/// The writing half of a save.
extension RecordSave {
    package func write(
        _ outcomes: [Outcome], _ cascade: Cascade
    ) throws -> (outcomes: [Outcome], answer: [UInt8]?, leftGarbage: Bool) {
        let count = outcomes.count { if case .accepted = $0 { true } else { false } }
        guard count > 0 else { return (outcomes, nil, false) }
        let billed = try billBeforeMoves(outcomes)
        var roots = RootsBelow(in: zone, connection)
        try roots.detach(changingRoots(outcomes))
        try shareChanges.storeOpenings(in: zone, by: caller, rosters, quotas, now: now, connection)
        let schema = try self.schema.growing(by: outcomes, now: now, connection)
        let parents = parentsToTag(outcomes)
        var position = try Zones.takePositions(
            count + cascade.members.count + parents.count, of: zone, in: connection)
        var leftGarbage = false
        var written = outcomes
        var changes: [RecordChange] = []
        changes.reserveCapacity(count)
        for (index, outcome) in outcomes.enumerated() {
            guard case .accepted(var accepted) = outcome else { continue }
            accepted.position = position
            accepted.tag = accepted.isRewrap ? accepted.predecessor?.tag ?? position : position
            position += 1
            let name = batch.items[index].name
            try store(accepted, name)
            if let deletion = accepted.predecessor?.wentWith { try forgetTaken(of: name, by: deletion) }
            try noteMove(accepted, name)
            let hadAssets = (accepted.predecessor?.assets ?? 0) > 0
            if try Blobs.attach(accepted.content.assets, to: name, hadAssets: hadAssets, zone: zone, in: connection) {
                leftGarbage = true
            }
            written[index] = .accepted(accepted)
            changes.append(change(accepted, name))
        }
        if !cascade.members.isEmpty {
            let gone = try write(cascade, from: position, written)
            changes += gone.changes
            leftGarbage = leftGarbage || gone.leftGarbage
            position += Int64(cascade.members.count)
        }
        try tag(parents, from: position)
        try shareChanges.storeClosings(in: zone, by: caller, now: now, connection)
        try roots.attach()
        let answer = try serialized(written)
        try RecordFollowers.follow(
            changes, schema, in: zone, by: caller, opensShares: !shareChanges.openings.isEmpty, billed: billed,
            kept: billsAnswer ? RepeatableOperation.billed(answer.count) : 0, now: now, quotas: quotas, connection)
        let shares = changes.reduce(into: Set<Int64>()) { $0.formUnion($1.shares) }
        try DatabaseFeed.touch(zone, shares: shares, in: connection)
        return (written, answer, leftGarbage)
    }

    /// What is billed before anything is written, where records change their scopes: what is kept of that, triggers
    /// report.
    private func billBeforeMoves(_ outcomes: [Outcome]) throws -> Int64? {
        let moves = outcomes.contains { outcome in
            guard case .accepted(let accepted) = outcome, let before = accepted.predecessor else { return false }
            return before.share != batch.judge.share(of: accepted.content.statement)?.number ?? 0
        }
        guard moves else { return nil }
        return try StorageUsage.total(
            of: StorageUsage.Bill(zone, caller: caller, in: connection).account, in: connection)?.bytes ?? 0
    }

    private func change(_ accepted: Accepted, _ name: String) -> RecordChange {
        let statement = accepted.content.statement
        let isNew = accepted.predecessor?.isDeleted ?? true
        return RecordChange(
            kind: accepted.isDeletion ? .deleted : isNew ? .created : .updated, name: name, type: statement.recordType,
            position: accepted.position, creator: statement.creator, author: statement.author,
            created: accepted.created(now: now), modified: accepted.modified(now: now), fields: accepted.content.fields,
            formerFields: accepted.predecessor?.fields ?? [], isNewRow: accepted.predecessor == nil,
            shares: shares(of: accepted),
            former: accepted.predecessor.flatMap {
                $0.isDeleted ? nil : .init(modified: $0.modified, statement: $0.statement.bytes)
            })
    }

    /// The hierarchical shares that the record was or is in.
    private func shares(of accepted: Accepted) -> Set<Int64> {
        let (before, now) = (
            accepted.predecessor?.share ?? 0, batch.judge.share(of: accepted.content.statement)?.number ?? 0
        )
        return before == 0 && now == 0 ? [] : Set([before, now]).subtracting([0])
    }

    private func store(_ accepted: Accepted, _ name: String) throws {
        let content = accepted.content
        let statement = content.statement
        // A tombstone keeps statement and proof, so that readers can tell a deletion from a loss.
        try connection.execute(
            """
            INSERT INTO record (owner, zone, name, type, position, revision, hash, creator, parent, created, modified,
                deleted, assets, statement, proof, fields, tag, delete_references, share, key_known)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
            ON CONFLICT (owner, zone, name) DO UPDATE SET type = excluded.type, position = excluded.position,
                revision = excluded.revision, hash = excluded.hash, creator = excluded.creator, parent = excluded.parent,
                created = excluded.created, modified = excluded.modified, deleted = excluded.deleted,
                assets = excluded.assets, statement = excluded.statement, proof = excluded.proof, fields = excluded.fields,
                tag = excluded.tag, delete_references = excluded.delete_references, went_with = NULL,
                share = excluded.share, key_known = excluded.key_known
            """,
            [
                .integer(zone.owner), .integer(zone.zone), .text(name), .text(statement.recordType),
                .integer(accepted.position), .integer(Int64(bitPattern: statement.revision)), .blob(content.hash.bytes),
                .blob(statement.creator.id.bytes), .optional(statement.parent), .integer(accepted.created(now: now)),
                .integer(accepted.modified(now: now)), .bool(accepted.isDeletion),
                .integer(Int64(content.assets.count)),
                .data(content.statementBytes), .blob(content.proof), .blob(content.fields),
                .integer(accepted.tag), .integer(Int64(content.deleteReferences.count)),
                .integer(batch.judge.share(of: statement)?.number ?? 0), .bool(isKeyKnown(accepted)),
            ])
        let had = (accepted.predecessor?.deleteReferences ?? 0) > 0
        if had || !content.deleteReferences.isEmpty {
            try DeleteReference.store(content.deleteReferences, of: name, hadSome: had, in: zone, connection)
        }
    }
}
