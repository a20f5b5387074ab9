public import SealStatements

/// CloudKit's system fields as its schema language names them. Every record has them; a schema lists those with an
/// index.
public enum SystemField: String, Sendable, CaseIterable {
    case recordID = "___recordID"
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case etag = "___etag"

    /// The kind that the language gives it.
    public var type: ValueType {
        switch self {
        case .recordID, .createdBy, .modifiedBy: ValueType(.reference)
        case .createTime, .modTime: ValueType(.date)
        case .etag: ValueType(.string)
        }
    }

    /// A change tag means nothing but itself: it has no index.
    public var allowedIndexes: RecordType.Indexes { self == .etag ? [] : [.queryable, .sortable] }

    /// Those that can have an index.
    public static let indexable: [SystemField] = allCases.filter { !$0.allowedIndexes.isEmpty }
}
