import SealSchema
import SealStatements
import SealWire

/// Holding a batch against the schema. Done before the transaction, and again in it if the schema has changed
/// meanwhile.
extension RecordBatch {
    /// Refuses the records that do not fit, and notes what the others add. Deletions fit always.
    mutating func fit(_ schema: StoredSchema) {
        var judge = schema.judge
        for index in items.indices {
            guard case .success(var content) = items[index].outcome, content.statement.kind == .save else { continue }
            do throws(SchemaViolation) {
                let additions = try judge.judge(content.shape)
                // Most records add nothing, and stay where they are.
                if additions != content.additions {
                    content.additions = additions
                    items[index].outcome = .success(content)
                }
            } catch {
                items[index].outcome = .failure(ServerError(error))
            }
        }
        schemaVersion = schema.version
    }

    /// The batch as it is under the schema that holds in the transaction.
    func fitting(_ schema: StoredSchema) -> RecordBatch {
        guard schema.version != schemaVersion else { return self }
        var batch = self
        batch.fit(schema)
        return batch
    }
}
