import SealStatements

extension Schema {
    /// Reads CloudKit's schema language.
    ///
    /// ```
    /// DEFINE SCHEMA
    ///     CREATE ROLE Editor;
    ///     RECORD TYPE Note (
    ///         "___recordID" REFERENCE QUERYABLE,
    ///         body          ENCRYPTED STRING,
    ///         tags          LIST<STRING> QUERYABLE,
    ///         GRANT READ TO "_world"
    ///     );
    /// ```
    ///
    /// Keywords may be in small letters. A type that the file does not mention is not in the schema, the built-in ones
    /// excepted (`completed`); a system field without options is as good as not mentioned.
    /// - Throws: the first error, with its place.
    public init(parsing text: String) throws(SchemaError) {
        guard text.utf8.count <= SchemaLimits.textBytes else {
            throw SchemaError(line: 1, column: 1, reason: "the schema is larger than \(SchemaLimits.textBytes) bytes")
        }
        var parser = try SchemaParser(text)
        self = try parser.schema()
    }
}

/// Recursive descent with one token of look-ahead.
struct SchemaParser {
    var lexer: SchemaLexer
    var token: SchemaToken
    private var result = Schema()
    private var fieldCount = 0
    /// Roles that grants name, to be checked once all are known.
    private var granted: [(role: String, token: SchemaToken)] = []

    init(_ text: String) throws(SchemaError) {
        lexer = SchemaLexer(text)
        token = try lexer.next()
    }

    mutating func schema() throws(SchemaError) -> Schema {
        try expect(.define, "DEFINE SCHEMA")
        try expect(.schema, "SCHEMA")
        _ = try take(UInt8(ascii: ";"))
        while token.kind != .end {
            if token.isKeyword(.create) {
                try role()
            } else if token.isKeyword(.record) {
                try recordType()
            } else {
                throw token.error("expected RECORD TYPE or CREATE ROLE")
            }
            guard try take(UInt8(ascii: ";")) else { throw token.error("expected a semicolon") }
        }
        for (role, token) in granted where !RecordType.Grant.systemRoles.contains(role) && !result.roles.contains(role)
        {
            throw token.error("there is no such role; make it with CREATE ROLE")
        }
        return result
    }

    private mutating func role() throws(SchemaError) {
        try advance()
        try expect(.role, "ROLE")
        let place = token
        let name = try name("the role's name")
        guard Names.isIdentifier(name) else {
            throw place.error("a role's name begins with a letter and has letters, digits and underscores, up to 255")
        }
        guard result.roles.insert(name).inserted else { throw place.error("the role is made twice") }
        guard result.roles.count <= SchemaLimits.roles else {
            throw place.error("a schema has at most \(SchemaLimits.roles) roles")
        }
    }

    private mutating func recordType() throws(SchemaError) {
        try advance()
        try expect(.type, "TYPE")
        let place = token
        let name = try name("the record type's name")
        guard Names.isRecordType(name) else {
            throw place.error(
                "a record type's name begins with a letter and has letters, digits and underscores, up to 255")
        }
        guard result.types[name] == nil else { throw place.error("the record type is declared twice") }
        guard result.types.count < SchemaLimits.types else {
            throw place.error("a schema has at most \(SchemaLimits.types) record types")
        }
        guard try take(UInt8(ascii: "(")) else { throw token.error("expected (") }
        var type = RecordType(name: name, grants: [])
        var names: Set<String> = []
        if try !take(UInt8(ascii: ")")) {
            repeat {
                if token.isKeyword(.grant) {
                    type.grants.append(try grant())
                } else {
                    try field(of: &type, &names)
                }
            } while try take(UInt8(ascii: ","))
            guard try take(UInt8(ascii: ")")) else { throw token.error("expected a comma, or ) after the last item") }
        }
        type.grants = RecordType.Grant.merged(type.grants)
        result.types[name] = type
    }

    private mutating func field(of type: inout RecordType, _ names: inout Set<String>) throws(SchemaError) {
        let place = token
        let name = try name("a field or GRANT")
        guard names.insert(name).inserted else { throw place.error("the field is declared twice") }
        let kindPlace = token
        var field = try dataType()
        try check(name, field, of: type.name, place, kindPlace)
        while let option = try index() {
            guard !field.indexes.contains(option.index) else { throw option.token.error("the option is there already") }
            let allowed = SystemField(rawValue: name)?.allowedIndexes ?? field.allowedIndexes
            guard allowed.contains(option.index) else { throw option.token.error(Self.refusal(field)) }
            field.indexes.insert(option.index)
        }
        // The system's fields are there anyway, and CloudKit's own fields of shares are sealed here.
        if SystemField(rawValue: name) != nil, field.indexes.isEmpty { return }
        if Self.isShareSystemField(name, of: type.name) { return }
        if SystemField(rawValue: name) == nil { fieldCount += 1 }
        type.fields[name] = field
        guard type.userFieldCount <= SchemaLimits.fieldsPerType else {
            throw place.error("a record type has at most \(SchemaLimits.fieldsPerType) fields")
        }
        guard fieldCount <= SchemaLimits.fields else {
            throw place.error("a schema has at most \(SchemaLimits.fields) fields over all its record types")
        }
    }

    private mutating func grant() throws(SchemaError) -> RecordType.Grant {
        try advance()
        var rights: Set<RecordType.Grant.Right> = []
        repeat {
            guard case .word(let word) = token.kind, let right = Self.rights[SchemaKeyword(word)] else {
                throw token.error("expected READ, CREATE or WRITE")
            }
            rights.insert(right)
            try advance()
        } while try take(UInt8(ascii: ","))
        try expect(.to, "TO")
        let place = token
        let role = try name("a role")
        guard Names.isIdentifier(role) || RecordType.Grant.systemRoles.contains(role) else {
            throw place.error("there is no such role; the system's are \"_world\", \"_icloud\" and \"_creator\"")
        }
        granted.append((role, place))
        return RecordType.Grant(rights, to: role)
    }

    private static let rights: [SchemaKeyword?: RecordType.Grant.Right] = [
        .read: .read, .create: .create, .write: .write,
    ]

    // MARK: Pieces

    mutating func advance() throws(SchemaError) { token = try lexer.next() }

    /// Whether the symbol was there; then it is behind us.
    mutating func take(_ symbol: UInt8) throws(SchemaError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ keyword: SchemaKeyword, _ what: String) throws(SchemaError) {
        guard token.isKeyword(keyword) else { throw token.error("expected \(what)") }
        try advance()
    }

    private mutating func name(_ what: String) throws(SchemaError) -> String {
        let name: String
        switch token.kind {
        case .quoted(let text): name = text
        case .word(let text):
            if let keyword = SchemaKeyword(text), SchemaKeyword.reserved.contains(keyword) {
                throw token.error("this is a reserved word; as a name it stands in double quotes")
            }
            name = text
        default: throw token.error("expected \(what)")
        }
        try advance()
        return name
    }
}
