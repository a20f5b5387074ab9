import SealSchema
import SealStorage

extension StoredSchema {
    /// Adds what the accepted records of a save need and it does not have: with them, or not at all.
    func growing(by outcomes: SaveOutcomes, _ connection: any SQLConnection) throws -> StoredSchema {
        var additions = SchemaAdditions()
        for (_, record) in outcomes.accepted where !record.content.additions.isEmpty {
            additions.merge(record.content.additions)
        }
        guard !additions.isEmpty else { return self }
        let (grown, change) = try SchemaTables.write(schema.adding(additions), over: self, in: connection)
        if hasHistory { try IndexBuilds.note(change, connection) }
        return grown
    }
}
