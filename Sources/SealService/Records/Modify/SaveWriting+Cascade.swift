import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// Writing what goes with the request's deletions.
extension SaveWriting {
    /// - Parameters:
    ///   - first: the feed's place for the first of them; the others follow.
    ///   - written: with the deletions, which have their places.
    func write(_ cascade: Cascade, from first: Int64, _ written: inout Written) throws {
        var tombstones: Set<Int> = []
        var position = first
        for member in cascade.members {
            guard let root = written.records[member.root] else { continue }
            if tombstones.insert(member.root).inserted {
                try keepTaken(by: root, cascade.taken[member.root]?.count ?? 0)
            }
            let name = member.record.name
            try keepTaken(member, by: root.position)
            try remove(name, at: position, deletion: root.position)
            try DeleteReference.store(
                [], of: name, hadSome: member.record.deleteReferences > 0, in: zone, connection)
            if try Blobs.attach([], to: name, hadAssets: member.record.assets > 0, zone: zone, in: connection) {
                written.leftGarbage = true
            }
            written.changes.append(try change(member, at: position))
            position += 1
        }
    }

    /// Statement and hash stay: they are what the deletion covers, and a record made again goes on after them.
    private func remove(_ name: String, at position: Int64, deletion: Int64) throws {
        try connection.execute(
            """
            UPDATE record SET position = $4, tag = $4, modified = $5, deleted = 1, assets = 0, fields = $6,
                delete_references = 0, went_with = $7 WHERE owner = $1 AND zone = $2 AND name = $3
            """,
            zone.key + [.text(name), .integer(position), .integer(now), .blob([]), .integer(deletion)])
    }

    /// The deletion, for the notices that rest on it: its own record may be made again.
    private func keepTaken(by deletion: WrittenRecord, _ count: Int) throws {
        // `Record { statement = 7, proof = 8 }`
        var tombstone = WireWriter(capacity: 1024)
        tombstone.blob(7, deletion.accepted.content.statementBytes)
        tombstone.blob(8, deletion.accepted.content.proof)
        try connection.execute(
            "INSERT INTO taken_deletion (owner, zone, deletion, records, tombstone) VALUES ($1, $2, $3, $4, $5)",
            zone.key + [.integer(deletion.position), .integer(Int64(count)), .blob(tombstone.bytes)])
    }

    private func keepTaken(_ member: Cascade.Member, by deletion: Int64) throws {
        var path: [UInt8] = []
        path.reserveCapacity(member.path.count * Digest.byteCount)
        for node in member.path { node.append(to: &path) }
        try connection.execute(
            "INSERT INTO taken_record (owner, zone, deletion, name, leaf, path) VALUES ($1, $2, $3, $4, $5, $6)",
            zone.key + [.integer(deletion), .text(member.record.name), .integer(Int64(member.index)), .blob(path)])
    }

    /// A record is made again: nobody is told any more that it went.
    func forgetTaken(of name: String, by deletion: Int64) throws {
        let key = zone.key + [.integer(deletion)]
        try connection.execute(
            "DELETE FROM taken_record WHERE owner = $1 AND zone = $2 AND deletion = $3 AND name = $4",
            key + [.text(name)])
        guard
            try !connection.exists(
                "SELECT 1 FROM taken_record WHERE owner = $1 AND zone = $2 AND deletion = $3 LIMIT 1", key)
        else { return }
        try connection.execute("DELETE FROM taken_deletion WHERE owner = $1 AND zone = $2 AND deletion = $3", key)
    }

    private func change(_ member: Cascade.Member, at position: Int64) throws -> RecordChange {
        let statement = try ServerError.checking("The stored statement") { () throws(SealError) in
            try Statement(canonicalBytes: member.record.statement)
        }
        return RecordChange(
            kind: .deleted, name: member.record.name, type: member.record.type, position: position,
            creator: statement.creator, author: caller.userID, created: member.record.created, modified: now,
            fields: [], words: [:],
            formerFields: member.record.fields, formerBytes: member.record.fields.count, isNewRow: false,
            shares: member.record.share > 0 ? [member.record.share] : [],
            former: .init(modified: member.record.modified, statement: member.record.statement), wentAlong: true)
    }
}
