extension Query {
    /// The fields that every record has, by CloudKit's names for them in predicates and in its schema language.
    public enum SystemField: String, Sendable, Hashable, CaseIterable {
        case recordID
        case creationDate
        case modificationDate
        case creatorUserRecordID
        case lastModifiedUserRecordID

        /// The name in a schema.
        public var schemaName: String {
            switch self {
            case .recordID: "___recordID"
            case .creationDate: "___createTime"
            case .modificationDate: "___modTime"
            case .creatorUserRecordID: "___createdBy"
            case .lastModifiedUserRecordID: "___modifiedBy"
            }
        }

        /// - Parameter key: any of the field's names.
        public init?(key: String) {
            if let field = SystemField(rawValue: key) {
                self = field
            } else if key == "recordName" {
                self = .recordID
            } else if let field = SystemField.allCases.first(where: { $0.schemaName == key }) {
                self = field
            } else {
                return nil
            }
        }

        /// One name for each field: the system field's own, any other as it is.
        static func canonicalName(_ key: String) -> String { SystemField(key: key)?.rawValue ?? key }
    }
}
