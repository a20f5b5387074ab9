import Foundation
import SealPrimitives
import SealStatements
import SealStorage

/// The fourth stage: what was accepted is written, with all that goes along or moves with it. Nothing is refused here
/// record by record; what is thrown (quotas of a share that opens, a hierarchy too deep to count in) takes everything
/// back.
struct SaveWriting {
    let zone: ZoneRow
    let caller: Caller
    let schema: StoredSchema
    let shareChanges: ShareChanges
    let rosters: RosterCache
    let quotas: Quotas
    /// What was lost comes back: a record that is new here may have others below it.
    let isRestoring: Bool
    let now: Int64
    let connection: any SQLConnection

    /// What the stages after it go by.
    struct Written {
        /// By the request's order; nil for what was refused.
        var records: [WrittenRecord?]
        /// With those that went along.
        var changes: [RecordChange] = []
        /// Knows every type and field of the records.
        let schema: StoredSchema
        /// What was on the bill before anything was written, where records change their scopes; nil where none does.
        let billed: Int64?
        /// Blobs that nothing refers to any more.
        var leftGarbage = false
    }

    func run(_ judged: SaveReferences.Judged) throws -> Written {
        let (outcomes, cascade) = (judged.outcomes, judged.cascade)
        let billed = try billBeforeMoves(outcomes)
        var roots = RootsBelow(in: zone, connection)
        try roots.detach(changingRoots(outcomes))
        try shareChanges.storeOpenings(in: zone, by: caller, rosters, quotas, now: now, connection)
        var written = Written(
            records: Array(repeating: nil, count: outcomes.names.count),
            schema: try schema.growing(by: outcomes, connection), billed: billed)
        let parents = parentsToTag(outcomes)
        let count = outcomes.acceptedCount
        var position = try Zones.takePositions(
            count + cascade.members.count + parents.count, of: zone, in: connection)
        written.changes.reserveCapacity(count + cascade.members.count)
        for (index, accepted) in outcomes.accepted {
            written.records[index] = WrittenRecord(accepted, at: position)
            position += 1
        }
        let records = written.records.compactMap(\.self)
        try store(records)
        for record in records { try follow(record, &written) }
        if !cascade.members.isEmpty {
            try write(cascade, from: position, &written)
            position += Int64(cascade.members.count)
        }
        try tag(parents, from: position)
        try shareChanges.storeEndings(in: zone, by: caller, now: now, connection)
        try roots.attach()
        return written
    }

    /// What else is written of a record that is stored.
    private func follow(_ record: WrittenRecord, _ written: inout Written) throws {
        let accepted = record.accepted
        let references = deleteReferences(of: accepted)
        let hadReferences = (accepted.predecessor?.deleteReferences ?? 0) > 0
        if hadReferences || !references.isEmpty {
            try DeleteReference.store(references, of: accepted.name, hadSome: hadReferences, in: zone, connection)
        }
        if let deletion = accepted.predecessor?.wentWith { try forgetTaken(of: accepted.name, by: deletion) }
        try noteMove(record)
        let hadAssets = (accepted.predecessor?.assets ?? 0) > 0
        if try Blobs.attach(
            accepted.content.fields.assets, to: accepted.name, hadAssets: hadAssets, zone: zone, in: connection)
        {
            written.leftGarbage = true
        }
        written.changes.append(record.change(now: now))
    }

    private func store(_ records: [WrittenRecord]) throws {
        // A tombstone keeps statement and proof, so that readers can tell a deletion from a loss.
        try connection.executeEach(
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
            """, records.map { row(of: $0) })
    }

    private func row(of record: WrittenRecord) -> [SQLValue] {
        let (accepted, content, statement) = (record.accepted, record.accepted.content, record.accepted.statement)
        return [
            .integer(zone.owner), .integer(zone.number), .text(accepted.name), .text(statement.recordType),
            .integer(record.position), .integer(Int64(bitPattern: statement.revision)), .blob(content.hash.bytes),
            .blob(statement.creator.id.bytes), .optional(statement.parent), .integer(accepted.created(now: now)),
            .integer(accepted.modified(now: now)), .bool(accepted.isDeletion),
            .integer(Int64(content.fields.assets.count)),
            .blob(content.statementBytes), .blob(content.proof), .blob(content.fields.bytes),
            .integer(record.tag), .integer(Int64(deleteReferences(of: accepted).count)),
            .integer(accepted.scopeNumber), .bool(accepted.isKeyKnown),
        ]
    }

    /// In the public database nothing goes with anything: nobody looks for them.
    private func deleteReferences(of record: AcceptedRecord) -> [DeleteReference] {
        zone.isPublic ? [] : record.content.fields.deleteReferences
    }

    // MARK: Parents

    /// Parents that the request does not save: a child's save gives them a new change tag, as in CloudKit. Their place
    /// in the feed stays that of their statement.
    private func parentsToTag(_ outcomes: SaveOutcomes) -> [String] {
        guard outcomes.concernParents else { return [] }
        let saved = outcomes.planned.parents
        return Set(saved.values.compactMap { $0 }).subtracting(saved.keys).sorted()
    }

    private func tag(_ parents: [String], from first: Int64) throws {
        for (offset, parent) in parents.enumerated() {
            try connection.execute(
                "UPDATE record SET tag = $4 WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
                zone.key + [.text(parent), .integer(first + Int64(offset))])
        }
    }

    /// The records of the save that may change what is below others.
    private func changingRoots(_ outcomes: SaveOutcomes) -> Set<String> {
        guard zone.shares > 0 || !shareChanges.openings.isEmpty else { return [] }
        var names = Set(shareChanges.openings.map(\.share.root) + shareChanges.endings.map(\.share.root))
        for (_, record) in outcomes.accepted where !record.isDeletion {
            // What is new has nothing below it; but a server that has lost its records is given roots back.
            guard record.former.map({ $0.parent != record.statement.parent }) ?? isRestoring else { continue }
            names.insert(record.name)
        }
        return names
    }
}
