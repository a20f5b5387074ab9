package import SealQuery
import SealStatements

extension Query.Subject {
    /// A stored record as queries see it.
    package init(_ record: StoredRecord, _ type: IndexedType) throws {
        let statement = try Statement(canonicalBytes: record.statement)
        self.init(
            recordType: record.type, recordName: record.name, created: record.created, modified: record.modified,
            creator: statement.creator.recordName, author: statement.author.recordName,
            fields: try PlainFields.values(record.fields), searchableFields: type.searchable)
    }
}
