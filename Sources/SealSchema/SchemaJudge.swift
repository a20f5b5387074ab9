import SealStatements

/// Why a record does not fit a schema. Names in it are identifiers that were checked before.
public enum SchemaViolation: Error, Sendable, Hashable {
    /// Only where the schema may not grow.
    case unknownType(String)
    /// Only where the schema may not grow.
    case unknownField(String, type: String)
    /// The schema has another kind for the field.
    case otherKind(field: String, type: String, declared: RecordType.Field)
    /// Declared encrypted, came plain.
    case notEncrypted(field: String, type: String)
    /// Declared plain, came encrypted.
    case isEncrypted(field: String, type: String)
    /// Two records of one request give a new field two kinds.
    case twoKinds(field: String, type: String)
    case tooManyTypes
    case tooManyFields(type: String)
    /// Over all types.
    case tooManyFieldsInAll
}

/// Holds records against a schema, one after the other.
///
/// Where the schema may grow (development), it gathers what each record adds; a later record of the same request is
/// held against that too. A field declared encrypted is never accepted plain, nor the other way round, wherever it is.
public struct SchemaJudge: Sendable {
    private let schema: Schema
    private let mayGrow: Bool
    /// Of the records judged so far.
    private var additions = SchemaAdditions()

    public init(_ schema: Schema, mayGrow: Bool) {
        self.schema = schema
        self.mayGrow = mayGrow
    }

    /// - Returns: what the schema needs for this record; nothing for one that fits as it is.
    public mutating func judge(_ shape: RecordShape) throws(SchemaViolation) -> SchemaAdditions {
        let type = schema.types[shape.type]
        if type == nil, !mayGrow { throw .unknownType(shape.type) }
        var mine = SchemaAdditions()
        if type == nil { mine.add(type: shape.type) }
        for field in shape.fields {
            if let declared = type?.fields[field.name] {
                try Self.compare(field, declared, shape.type)
            } else if !mayGrow {
                throw .unknownField(field.name, type: shape.type)
            } else if let earlier = additions.types[shape.type]?[field.name] {
                guard field.tag.fits(earlier.type), earlier.isEncrypted == field.isEncrypted else {
                    throw .twoKinds(field: field.name, type: shape.type)
                }
                mine.add(field, to: shape.type)
            } else {
                mine.add(field, to: shape.type)
            }
        }
        guard !mine.isEmpty else { return mine }
        var all = additions
        all.merge(mine)
        if all != additions {
            try Self.checkSize(of: schema.adding(all), shape.type)
            additions = all
        }
        return mine
    }

    private static func compare(
        _ field: RecordShape.Field, _ declared: RecordType.Field, _ type: String
    ) throws(SchemaViolation) {
        switch (declared.isEncrypted, field.isEncrypted) {
        case (true, false): throw .notEncrypted(field: field.name, type: type)
        case (false, true): throw .isEncrypted(field: field.name, type: type)
        default: break
        }
        guard field.tag.fits(declared.type) else { throw .otherKind(field: field.name, type: type, declared: declared) }
    }

    private static func checkSize(of grown: Schema, _ type: String) throws(SchemaViolation) {
        guard grown.types.count <= SchemaLimits.types else { throw .tooManyTypes }
        guard grown.types[type]?.userFieldCount ?? 0 <= SchemaLimits.fieldsPerType else {
            throw .tooManyFields(type: type)
        }
        guard grown.fieldCount <= SchemaLimits.fields else { throw .tooManyFieldsInAll }
    }
}
