package import SealStorage

extension StoredRecord {
    /// As `serialized(desired:)`; a record that went with the target of a reference comes with its last statement and
    /// the proof that the target's deletion covers that.
    package func serialized(
        desired: Set<String>?, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> [UInt8] {
        guard let wentWith else { return try serialized(desired: desired) }
        let cover = try derivedDeletion(wentWith, in: zone, connection)
        var writer = WireWriter(capacity: cover.count + statement.count + proof.count + name.utf8.count + 128)
        writer.systemFields(
            name: name, type: type, position: position, tag: tag, created: created, modified: modified, isDeleted: true)
        writer.blob(7, statement)
        writer.blob(8, proof)
        writer.blob(11, cover)
        if let move { writer.blob(101, move) }
        return writer.bytes
    }

    /// `DerivedDeletion { tombstone = 1, count = 2, index = 3, path = 4 }`.
    private func derivedDeletion(_ deletion: Int64, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [UInt8]
    {
        let found = try connection.first(
            """
            SELECT d.tombstone, d.records, c.leaf, c.path FROM taken_record c JOIN taken_deletion d
                ON d.owner = c.owner AND d.zone = c.zone AND d.deletion = c.deletion
            WHERE c.owner = $1 AND c.zone = $2 AND c.deletion = $3 AND c.name = $4
            """, zone.key + [.integer(deletion), .text(name)]
        ) { row in
            var writer = WireWriter(capacity: 2048)
            writer.blob(1, try row.bytes("tombstone"))
            writer.number(2, UInt64(try row.int64("records")))
            writer.number(3, UInt64(try row.int64("leaf")))
            writer.blob(4, try row.bytes("path"))
            return writer.bytes
        }
        guard let found else {
            throw StorageError.failed(code: 0, message: "what proves that a record went with another is not there")
        }
        return found
    }
}
