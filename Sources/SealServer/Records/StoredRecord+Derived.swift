import SealStatements

extension StoredRecord {
    /// As `serialized(desired:)`; of a record that went with the target of a reference, the notice with its proof.
    func serialized(desired: Set<String>?, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [UInt8] {
        guard let wentWith else { return try serialized(desired: desired) }
        let proof = try derivedDeletion(wentWith, in: zone, connection)
        var writer = WireWriter(capacity: proof.count + name.utf8.count + 128)
        writer.systemFields(
            name: name, type: type, position: position, tag: tag, created: created, modified: modified, isDeleted: true)
        writer.blob(11, proof)
        return writer.bytes
    }

    /// `DerivedDeletion { steps = 1 { record = 1, field = 2 }, tombstone = 2 }`, from this record to the deleted target.
    private func derivedDeletion(_ deletion: Int64, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [UInt8] {
        var writer = WireWriter(capacity: 4096)
        var name = name
        for _ in 0...Limits.derivedDeletionSteps {
            let row = try connection.first(
                """
                SELECT next, field, record FROM derived_step
                WHERE owner = $1 AND zone = $2 AND deletion = $3 AND name = $4
                """, zone.key + [.integer(deletion), .text(name)]
            ) { (next: try $0.optionalText(0), field: try $0.text(1), record: try $0.bytes(2)) }
            guard let row else { break }
            guard let next = row.next else {
                writer.blob(2, row.record)
                return writer.bytes
            }
            var step = WireWriter(capacity: row.record.count + row.field.utf8.count + 16)
            step.blob(1, row.record)
            step.text(2, row.field)
            writer.blob(1, step.bytes)
            name = next
        }
        throw StorageError.failed(code: 0, message: "the proof of a derived deletion is not complete")
    }
}
