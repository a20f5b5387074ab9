import SealStatements

/// Data types, options, and what a field's name binds.
extension SchemaParser {
    mutating func dataType() throws(SchemaError) -> RecordType.Field {
        var isEncrypted = try takeEncrypted()
        guard token.isKeyword(.list) else {
            return RecordType.Field(ValueType(try kind(isEncrypted)), isEncrypted: isEncrypted)
        }
        try advance()
        guard try take(UInt8(ascii: "<")) else { throw token.error("expected < and the elements' data type") }
        // CloudKit's grammar has the word inside; before LIST it means the same.
        if try takeEncrypted() { isEncrypted = true }
        let kind = try kind(isEncrypted)
        guard try take(UInt8(ascii: ">")) else { throw token.error("expected >") }
        return RecordType.Field(ValueType(kind, isList: true), isEncrypted: isEncrypted)
    }

    private mutating func takeEncrypted() throws(SchemaError) -> Bool {
        guard token.isKeyword(.encrypted) else { return false }
        try advance()
        return true
    }

    private mutating func kind(_ isEncrypted: Bool) throws(SchemaError) -> ValueKind {
        let place = token
        if token.isKeyword(.number) {
            try advance()
            // A value here is exactly one of the two: guessing would refuse the other ones later.
            guard token.isKeyword(.preferred) else {
                throw token.error("expected PREFERRED AS INT64 or PREFERRED AS DOUBLE")
            }
            try advance()
            try expect(.as, "AS INT64 or AS DOUBLE")
            guard token.isKeyword(.int64) || token.isKeyword(.double) else {
                throw token.error("expected INT64 or DOUBLE")
            }
        }
        guard case .word(let word) = token.kind, let keyword = SchemaKeyword(word), let kind = Self.kinds[keyword]
        else {
            throw token.error(
                "expected a data type: STRING, BYTES, INT64, DOUBLE, TIMESTAMP, LOCATION, REFERENCE, ASSET or LIST<…>")
        }
        guard !isEncrypted || kind.mayBeEncrypted else {
            throw place.error("references cannot be encrypted, and assets always are: leave ENCRYPTED out")
        }
        try advance()
        return kind
    }

    private static let kinds: [SchemaKeyword: ValueKind] = [
        .string: .string, .bytes: .data, .int64: .int64, .double: .double, .timestamp: .date, .location: .location,
        .reference: .reference, .asset: .asset,
    ]

    mutating func index() throws(SchemaError) -> (index: RecordType.Indexes, token: SchemaToken)? {
        guard case .word(let word) = token.kind else { return nil }
        let place = token
        let index: RecordType.Indexes
        switch SchemaKeyword(word) {
        case .queryable: index = .queryable
        case .sortable: index = .sortable
        case .searchable: index = .searchable
        default: throw token.error("expected QUERYABLE, SORTABLE, SEARCHABLE, a comma or )")
        }
        try advance()
        return (index, place)
    }

    static func refusal(_ field: RecordType.Field) -> String {
        if field.isEncrypted { return "encrypted fields have no index: nobody but people with the key can read them" }
        return switch (field.type.kind, field.type.isList) {
        case (.asset, _): "assets have no index"
        case (.string, true): "lists of strings can be QUERYABLE and SEARCHABLE"
        case (_, true): "lists of this kind can be QUERYABLE only"
        default: "this field cannot have this index; SEARCHABLE is for strings"
        }
    }

    /// What a name asks of a field's type.
    func check(
        _ name: String, _ field: RecordType.Field, of type: String, _ place: SchemaToken, _ kindPlace: SchemaToken
    ) throws(SchemaError) {
        if let system = SystemField(rawValue: name) {
            guard field.type == system.type, !field.isEncrypted else {
                throw kindPlace.error("this system field is a \(system.type.schemaName)")
            }
            return
        }
        guard !Self.isShareSystemField(name, of: type) else { return }
        guard Names.isIdentifier(name) else {
            throw place.error(
                "a field's name begins with a letter and has letters, digits and underscores, up to 255; the system's are "
                    + SystemField.allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard !Names.isReservedField(name) else {
            throw place.error("this is the name of a property that every record has")
        }
        if let builtIn = Schema.builtIn.types[type]?.fields[name],
            builtIn.type != field.type || builtIn.isEncrypted != field.isEncrypted
        {
            throw kindPlace.error(
                "this field is built in as \(builtIn.isEncrypted ? "ENCRYPTED " : "")\(builtIn.type.schemaName)")
        }
    }

    /// `cloudkit.title` and its like in CloudKit's own exports. What they hold is sealed in a share's record here.
    static func isShareSystemField(_ name: String, of type: String) -> Bool {
        type == Names.shareType && name.hasPrefix("cloudkit.") && Names.isPlain(name)
    }
}
