import SealSchema
import SealStatements
import SealWire

/// Holding a batch against the schema. Done before the transaction, and again in it if the schema has changed
/// meanwhile.
extension RecordBatch {
    /// Refuses the records that do not fit, and notes what the others add. Deletions fit always.
    mutating func fit(_ schema: StoredSchema) {
        var judge = schema.judge
        // Most records have the fields of the one before, and add nothing.
        var fitting: RecordShape?
        for index in items.indices {
            guard case .success(let content) = items[index].outcome, content.statement.kind == .save else { continue }
            let shape = content.fields.shape
            if content.additions.isEmpty, shape == fitting { continue }
            do throws(SchemaViolation) {
                let additions = try judge.judge(shape)
                if additions.isEmpty { fitting = shape }
                if additions != content.additions { items[index].outcome = .success(content.adding(additions)) }
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
