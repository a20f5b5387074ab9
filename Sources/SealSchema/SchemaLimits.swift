/// How large a schema may be. CloudKit documents no such numbers; these are far above any app, and bound what a client
/// in development can make the server keep.
public enum SchemaLimits {
    public static let types = 1_000
    /// User fields a record type.
    public static let fieldsPerType = 1_000
    /// User fields over all types.
    public static let fields = 20_000
    public static let roles = 100
    /// Bytes of a schema file.
    public static let textBytes = 2 * 1024 * 1024
}

extension Schema {
    /// User fields over all types.
    public var fieldCount: Int { types.values.reduce(0) { $0 + $1.userFieldCount } }
}

extension RecordType {
    /// Fields without the system's.
    public var userFieldCount: Int { fields.count - SystemField.allCases.count { fields[$0.rawValue] != nil } }
}
