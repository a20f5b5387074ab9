import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// Records that come from another scope: what brought them, what they left, and what is to follow them.
extension SaveWriting {
    /// What is billed before anything is written, where records change their scopes: what is kept of that, triggers
    /// report.
    func billBeforeMoves(_ outcomes: SaveOutcomes) throws -> Int64? {
        guard outcomes.accepted.contains(where: { $0.record.changesScope }) else { return nil }
        return try StorageUsage.total(
            of: StorageUsage.Bill(zone, caller: caller, in: connection).account, in: connection)?.bytes ?? 0
    }

    /// What has left a share is told to its participants by the statement that took it out; what it is the parent of
    /// follows it.
    func noteMove(_ record: WrittenRecord) throws {
        let accepted = record.accepted
        guard let before = accepted.predecessor else { return }
        // A share that begins again keeps its number: what was deleted in its last life, and is made again, comes from
        // there.
        guard accepted.changesScope || accepted.statement.formerScope != nil else { return }
        try connection.execute(
            "DELETE FROM departure WHERE owner = $1 AND zone = $2 AND share = $3 AND name = $4",
            zone.key + [.integer(accepted.scopeNumber), .text(accepted.name)])
        try noteOrigin(accepted)
        if !before.isDeleted { try UnsettledParents.note(accepted.name, in: zone, connection) }
        // A record that was deleted in a share, too, and is made again elsewhere: its tombstone is nowhere any more.
        guard before.share > 0 else { return }
        if let parent = accepted.statement.parent, shareChanges.ends(shareOf: accepted.name) {
            try UnsettledParents.note(parent, in: zone, connection)
        }
        // Nobody has a share in sight that has ended, or ends with this.
        guard !shareChanges.ends(before.share) else { return }
        try noteDeparture(record, from: before)
    }

    /// What brought the record here, for those who know it from elsewhere and see what others have made of it since.
    private func noteOrigin(_ accepted: AcceptedRecord) throws {
        // `SignedMove { statement = 1, proof = 2 }`
        var writer = WireWriter(capacity: 1024)
        writer.blob(1, accepted.content.statementBytes)
        writer.blob(2, accepted.content.proof)
        try connection.execute(
            "UPDATE record SET move = $4, move_hash = $5 WHERE owner = $1 AND zone = $2 AND name = $3",
            zone.key + [.text(accepted.name), .blob(writer.bytes), .blob(accepted.content.hash.bytes)])
    }

    private func noteDeparture(_ record: WrittenRecord, from before: Predecessor) throws {
        let (accepted, content) = (record.accepted, record.accepted.content)
        try connection.execute(
            """
            INSERT INTO departure (owner, zone, share, name, type, position, created, modified, hash, statement, proof, fields)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
            WHERE EXISTS (SELECT 1 FROM share
                WHERE owner = $1 AND zone = $2 AND share = $3 AND closed = 0 AND began < $13)
            ON CONFLICT (owner, zone, share, name) DO UPDATE SET type = excluded.type, position = excluded.position,
                created = excluded.created, modified = excluded.modified, hash = excluded.hash,
                statement = excluded.statement, proof = excluded.proof
            """,
            zone.key + [
                .integer(before.share), .text(accepted.name), .text(accepted.statement.recordType),
                .integer(record.position),
                .integer(accepted.created(now: now)), .integer(accepted.modified(now: now)), .blob(content.hash.bytes),
                .blob(content.statementBytes), .blob(content.proof), .blob([]),
                // What was deleted in an earlier life of the share left it with that.
                .integer(before.isDeleted ? before.tag : .max),
            ])
    }
}
