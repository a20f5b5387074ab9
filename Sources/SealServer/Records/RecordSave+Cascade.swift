import SealPrimitives
import SealStatements

/// Writing what goes with the request's deletions.
extension RecordSave {
    /// - Parameters:
    ///   - first: the feed's place for the first of them; the others follow.
    ///   - written: the outcomes with their places.
    func write(_ cascade: Cascade, from first: Int64, _ written: [Outcome]) throws -> (changes: [RecordChange], leftGarbage: Bool) {
        var changes: [RecordChange] = []
        changes.reserveCapacity(cascade.members.count)
        var leftGarbage = false
        var tombstones: Set<Int> = []
        var position = first
        for member in cascade.members {
            guard case .accepted(let root) = written[member.root] else { continue }
            if tombstones.insert(member.root).inserted {
                try keep(tombstone(root, batch.items[member.root].name), deletion: root.position, batch.items[member.root].name)
            }
            try keep(member.step, deletion: root.position, member.record.name, next: member.next, field: member.field)
            try remove(member.record.name, at: position, deletion: root.position)
            try DeleteReference.store([], of: member.record.name, hadSome: true, in: zone, connection)
            let blobs = try Blobs.attach(
                [], to: member.record.name, hadAssets: member.record.assets > 0, zone: zone, in: connection)
            if blobs.leftGarbage { leftGarbage = true }
            changes.append(try change(member, at: position, assetBytes: blobs.bytes))
            position += 1
        }
        return (changes, leftGarbage)
    }

    /// Statement and hash stay: a record made again goes on after them.
    private func remove(_ name: String, at position: Int64, deletion: Int64) throws {
        try connection.execute(
            """
            UPDATE record SET position = $4, tag = $4, modified = $5, deleted = 1, assets = 0, fields = $6,
                delete_references = 0, went_with = $7 WHERE owner = $1 AND zone = $2 AND name = $3
            """,
            zone.key + [.text(name), .integer(position), .integer(now), .blob([]), .integer(deletion)])
    }

    private func keep(
        _ record: [UInt8], deletion: Int64, _ name: String, next: String? = nil, field: String = ""
    ) throws {
        try connection.execute(
            "INSERT INTO derived_step (owner, zone, deletion, name, next, field, record) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            zone.key + [.integer(deletion), .text(name), .optional(next), .text(field), .blob(record)])
    }

    private func tombstone(_ accepted: Accepted, _ name: String) -> [UInt8] {
        var writer = WireWriter(capacity: 1024)
        writer.systemFields(
            name: name, type: accepted.content.statement.recordType, position: accepted.position, tag: accepted.tag,
            created: accepted.created(now: now), modified: now, isDeleted: true)
        writer.blob(7, [UInt8](accepted.content.statementBytes))
        writer.blob(8, accepted.content.proof)
        return writer.bytes
    }

    private func change(_ member: Cascade.Member, at position: Int64, assetBytes: Int64) throws -> RecordChange {
        let statement = try ServerError.checking("The stored statement") { () throws(SealError) in
            try Statement(canonicalBytes: member.record.statement)
        }
        return RecordChange(
            kind: .deleted, name: member.record.name, type: member.record.type, position: position,
            creator: statement.creator, author: caller.userID, created: member.record.created, modified: now, fields: [],
            formerFields: member.record.fields, assetBytes: assetBytes,
            shares: member.record.share > 0 ? [member.record.share] : [],
            former: .init(modified: member.record.modified, statement: member.record.statement))
    }
}
