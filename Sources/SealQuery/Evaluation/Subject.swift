public import SealStatements

extension Query {
    /// A record as queries see it: its type, its system fields and its plain values.
    public struct Subject: Sendable {
        public var recordType: String
        public var recordName: String
        /// Microseconds since 1970; nil when not known.
        public var created: Int64?
        public var modified: Int64?
        /// User record names.
        public var creator: String?
        public var author: String?
        /// Plain values by field name.
        public var fields: [String: Value]
        /// The fields whose words count; nil: every plain text's.
        public var searchableFields: Set<String>?
        /// Words that were read of fields' values already.
        public var knownWords: [String: Set<String>] = [:]

        public init(
            recordType: String, recordName: String, created: Int64? = nil, modified: Int64? = nil,
            creator: String? = nil,
            author: String? = nil, fields: [String: Value] = [:], searchableFields: Set<String>? = nil
        ) {
            self.recordType = recordType
            self.recordName = recordName
            self.created = created
            self.modified = modified
            self.creator = creator
            self.author = author
            self.fields = fields
            self.searchableFields = searchableFields
        }

        /// A field's value, system fields included.
        public func value(_ key: String) -> Value? {
            switch Query.SystemField(rawValue: key) {
            case .recordID: .reference(ReferenceValue(recordName: recordName))
            case .creationDate: created.map { .date(ReferenceDate.seconds(ofMicroseconds: $0)) }
            case .modificationDate: modified.map { .date(ReferenceDate.seconds(ofMicroseconds: $0)) }
            case .creatorUserRecordID: creator.map { .reference(ReferenceValue(recordName: $0)) }
            case .lastModifiedUserRecordID: author.map { .reference(ReferenceValue(recordName: $0)) }
            case nil: fields[key]
            }
        }

        /// Its words, where they are kept (`keepWords`).
        var keptWords: Set<String>?
    }
}
