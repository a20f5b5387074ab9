public import SealStatements

/// What a record has, as far as a schema says something about it: its type, and its fields' names and kinds.
public struct RecordShape: Sendable, Hashable {
    public let type: String
    public var fields: [Field]

    public struct Field: Sendable, Hashable {
        public let name: String
        public let tag: ValueTag
        public let isEncrypted: Bool

        public init(_ name: String, _ tag: ValueTag, isEncrypted: Bool) {
            self.name = name
            self.tag = tag
            self.isEncrypted = isEncrypted
        }
    }

    public init(type: String, fields: [Field] = []) {
        self.type = type
        self.fields = fields
    }
}

/// What development adds to a schema for records to fit: fields by type, a type without fields for a new empty one.
public struct SchemaAdditions: Sendable, Hashable {
    public private(set) var types: [String: [String: RecordType.Field]] = [:]

    public init() {}

    public var isEmpty: Bool { types.isEmpty }

    mutating func add(type: String) {
        if types[type] == nil { types[type] = [:] }
    }

    /// An empty list adds nothing: of what its elements would be, it says nothing.
    mutating func add(_ field: RecordShape.Field, to type: String) {
        guard case .type(let valueType) = field.tag else { return }
        var definition = RecordType.Field(valueType, isEncrypted: field.isEncrypted)
        definition.indexes = definition.automaticIndexes
        types[type, default: [:]][field.name] = definition
    }

    public mutating func merge(_ other: SchemaAdditions) {
        for (type, fields) in other.types { types[type, default: [:]].merge(fields) { old, _ in old } }
    }
}

extension Schema {
    /// - Returns: the schema with what was added. A new type grants the usual, and can be queried as a whole
    ///   (`___recordID` is QUERYABLE).
    public func adding(_ additions: SchemaAdditions) -> Schema {
        var schema = self
        for (name, fields) in additions.types {
            let fresh = RecordType(
                name: name,
                fields: [SystemField.recordID.rawValue: .init(SystemField.recordID.type, indexes: .queryable)])
            schema.types[name, default: fresh].fields.merge(fields) { old, _ in old }
        }
        return schema
    }
}
