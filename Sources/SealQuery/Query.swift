public import SealStatements

/// Which records are wanted, and in which order: CloudKit's `CKQuery`, as a value.
///
/// A record without a value for a field that the predicate or a sort descriptor names is not among the results.
public struct Query: Sendable, Hashable {
    public let recordType: String
    public let predicate: Predicate
    /// In the order in which they count.
    public var sortDescriptors: [SortDescriptor]

    public init(recordType: String, predicate: Predicate, sortDescriptors: [SortDescriptor] = []) {
        self.recordType = recordType
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
    }

    public init(recordType: String, predicate condition: Condition, sortDescriptors: [SortDescriptor] = []) {
        self.init(recordType: recordType, predicate: Predicate([condition]), sortDescriptors: sortDescriptors)
    }

    /// An order: by a field's value, or by a location's distance (CloudKit's `NSSortDescriptor`,
    /// `CKLocationSortDescriptor`).
    public struct SortDescriptor: Sendable, Hashable {
        /// A field's name, or a system field's.
        public let key: String
        public let ascending: Bool
        /// Nil: by the value itself.
        public let relativeLocation: Location?

        /// Strings are ordered without regard to case, by their first `Query.Limits.keyBytes` bytes.
        public init(key: String, ascending: Bool) {
            self.key = Query.SystemField.canonicalName(key)
            self.ascending = ascending
            relativeLocation = nil
        }

        /// Nearest first.
        public init(key: String, relativeLocation: Location) {
            self.key = key
            ascending = true
            self.relativeLocation = relativeLocation
        }
    }

    /// What a query may hold at most.
    public enum Limits {
        public static let conditions = 50
        /// Values of one `IN`.
        public static let listValues = 250
        /// UTF-8 bytes of a string or data value.
        public static let valueBytes = 1_024
        /// Words of one search.
        public static let words = 32
        public static let sortDescriptors = 8
        /// Bytes of a predicate as text.
        public static let textBytes = 65_536
        /// Parentheses and NOTs inside one another.
        public static let depth = 32
        /// How much of a string or of data an index holds.
        public static let keyBytes = 512
    }

    /// The fields that have to be known to tell whether a record is a result; nil when any text may count.
    public var requiredKeys: Set<String>? {
        var keys = Set(sortDescriptors.map { $0.key })
        for condition in predicate.conditions {
            if case .words = condition.test { return nil }
            if let key = condition.test.key { keys.insert(key) }
        }
        return keys.filter { Query.SystemField(key: $0) == nil }
    }
}
