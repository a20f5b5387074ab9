import SealSchema
import SealStatements
import Testing

@Suite(.timeLimit(.minutes(60))) struct EvolutionTests {
    static func schema(_ text: String) throws -> Schema { try Schema(parsing: "DEFINE SCHEMA " + text) }

    /// Old, new, how each change reads, and which of them production refuses.
    static let table: [(String, String, [String], losses: Int)] = [
        ("", "", [], 0),
        ("", "RECORD TYPE A (x STRING);", ["+ record type A", "+ field A.x STRING"], 0),
        (
            "", "RECORD TYPE A (GRANT READ TO \"_world\");",
            ["+ record type A", "~ grants of A: none -> READ TO \"_world\""], 0
        ),
        ("RECORD TYPE A ();", "RECORD TYPE A (x LIST<ENCRYPTED INT64>);", ["+ field A.x LIST<ENCRYPTED INT64>"], 0),
        (
            "RECORD TYPE A (x STRING);", "RECORD TYPE A (x STRING QUERYABLE);",
            ["~ field A.x STRING -> STRING QUERYABLE"], 0
        ),
        (
            "RECORD TYPE A (x STRING SORTABLE);", "RECORD TYPE A (x STRING);",
            ["~ field A.x STRING SORTABLE -> STRING"], 0
        ),
        (
            "RECORD TYPE A (___recordID REFERENCE QUERYABLE);", "RECORD TYPE A ();",
            ["~ field A.___recordID REFERENCE QUERYABLE -> REFERENCE"], 0
        ),
        ("CREATE ROLE a;", "CREATE ROLE a; CREATE ROLE b;", ["+ role b"], 0),
        ("CREATE ROLE a;", "", ["- role a"], 1),
        ("RECORD TYPE A (x STRING);", "", ["- record type A"], 1),
        ("RECORD TYPE A (x STRING);", "RECORD TYPE A ();", ["- field A.x STRING"], 1),
        ("RECORD TYPE A (x STRING);", "RECORD TYPE A (x INT64);", ["~ field A.x STRING -> INT64"], 1),
        ("RECORD TYPE A (x STRING);", "RECORD TYPE A (x LIST<STRING>);", ["~ field A.x STRING -> LIST<STRING>"], 1),
        (
            "RECORD TYPE A (x STRING);", "RECORD TYPE A (x ENCRYPTED STRING);",
            ["~ field A.x STRING -> ENCRYPTED STRING"], 1
        ),
        (
            "RECORD TYPE A (x ENCRYPTED STRING);", "RECORD TYPE A (x STRING);",
            ["~ field A.x ENCRYPTED STRING -> STRING"], 1
        ),
        ("RECORD TYPE Users (x STRING);", "", ["- field Users.x STRING"], 1),
        (
            "RECORD TYPE A (x STRING, y INT64);", "RECORD TYPE B (x STRING);",
            ["- record type A", "+ record type B", "+ field B.x STRING"], 1
        ),
    ]

    @Test(arguments: table.indices)
    func changesAreToldAndJudged(_ index: Int) throws {
        let (old, new, changes, losses) = Self.table[index]
        let difference = SchemaDifference(from: try Self.schema(old), to: try Self.schema(new))
        let usersLoseTheirGrants = difference.changes.filter { !$0.description.hasPrefix("~ grants of Users") }
        #expect(usersLoseTheirGrants.map(\.description) == changes)
        #expect(difference.losses.count == losses)
    }

    @Test func builtInTypesAreNoDifference() throws {
        #expect(SchemaDifference(from: Schema(), to: .builtIn).changes.isEmpty)
        #expect(SchemaDifference(from: .builtIn, to: Schema()).changes.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(60))) struct JudgeTests {
    private static let schema = Schema(types: [
        "Note": RecordType(
            name: "Note", fields: ["n": .init(ValueType(.int64)), "s": .init(ValueType(.string), isEncrypted: true)])
    ])

    private func violation(
        _ fields: [RecordShape.Field], type: String = "Note", mayGrow: Bool
    ) -> SchemaViolation? {
        var judge = SchemaJudge(Self.schema, mayGrow: mayGrow)
        do {
            _ = try judge.judge(RecordShape(type: type, fields: fields))
            return nil
        } catch { return error }
    }

    @Test(arguments: [false, true])
    func declaredFieldsHoldEverywhere(_ mayGrow: Bool) {
        func n(_ type: ValueType, _ isEncrypted: Bool) -> SchemaViolation? {
            violation([.init("n", .type(type), isEncrypted: isEncrypted)], mayGrow: mayGrow)
        }
        #expect(n(ValueType(.int64), false) == nil)
        #expect(n(ValueType(.int64), true) == .isEncrypted(field: "n", type: "Note"))
        #expect(
            n(ValueType(.double), false) == .otherKind(field: "n", type: "Note", declared: .init(ValueType(.int64))))
        #expect(
            n(ValueType(.int64, isList: true), false)
                == .otherKind(field: "n", type: "Note", declared: .init(ValueType(.int64))))
        #expect(
            violation([.init("s", .type(ValueType(.string)), isEncrypted: false)], mayGrow: mayGrow)
                == .notEncrypted(field: "s", type: "Note"))
        #expect(violation([.init("s", .type(ValueType(.string)), isEncrypted: true)], mayGrow: mayGrow) == nil)
    }

    @Test(arguments: [false, true])
    func anEmptyListFitsEveryListAndNothingElse(_ mayGrow: Bool) {
        func violation(_ declared: ValueType, _ isEncrypted: Bool = false) -> SchemaViolation? {
            var judge = SchemaJudge(
                Schema(types: ["Note": RecordType(name: "Note", fields: ["x": .init(declared)])]), mayGrow: mayGrow)
            do {
                let additions = try judge.judge(
                    RecordShape(type: "Note", fields: [.init("x", .emptyList, isEncrypted: isEncrypted)]))
                #expect(additions.isEmpty)
                return nil
            } catch { return error }
        }
        for kind in ValueKind.allCases {
            #expect(violation(ValueType(kind, isList: true)) == nil)
            #expect(
                violation(ValueType(kind)) == .otherKind(field: "x", type: "Note", declared: .init(ValueType(kind))))
        }
        #expect(violation(ValueType(.string, isList: true), true) == .isEncrypted(field: "x", type: "Note"))
    }

    @Test func anEmptyListDeclaresNothing() throws {
        var judge = SchemaJudge(Self.schema, mayGrow: true)
        func judged(_ tag: ValueTag, _ isEncrypted: Bool = false) throws -> SchemaAdditions {
            try judge.judge(RecordShape(type: "Note", fields: [.init("x", tag, isEncrypted: isEncrypted)]))
        }
        #expect(try judged(.emptyList).isEmpty)
        #expect(
            try judge.judge(RecordShape(type: "New", fields: [.init("x", .emptyList, isEncrypted: true)])).types == [
                "New": [:]
            ])
        // What comes with elements decides, and holds for the empty ones after it.
        let list = ValueType(.date, isList: true)
        #expect(try judged(.type(list)).types["Note"]?["x"]?.type == list)
        #expect(try judged(.emptyList).isEmpty)
        #expect(throws: SchemaViolation.twoKinds(field: "x", type: "Note")) { try judged(.emptyList, true) }
        #expect(throws: SchemaViolation.twoKinds(field: "x", type: "Note")) {
            try judged(.type(ValueType(.int64, isList: true)))
        }
        #expect(
            violation([.init("y", .emptyList, isEncrypted: false)], mayGrow: false) == .unknownField("y", type: "Note"))
    }

    @Test func onlyAGrowingSchemaTakesNewNames() {
        let new = RecordShape.Field("x", .type(ValueType(.asset)), isEncrypted: false)
        #expect(violation([new], mayGrow: true) == nil)
        #expect(violation([new], mayGrow: false) == .unknownField("x", type: "Note"))
        #expect(violation([], type: "Other", mayGrow: true) == nil)
        #expect(violation([], type: "Other", mayGrow: false) == .unknownType("Other"))
        #expect(violation([], mayGrow: false) == nil)
    }

    @Test func recordsOfOneRequestAgreeOrAreRefused() throws {
        var judge = SchemaJudge(Self.schema, mayGrow: true)
        func shape(_ kind: ValueKind, _ isEncrypted: Bool = false) -> RecordShape {
            RecordShape(type: "Note", fields: [.init("x", .type(ValueType(kind)), isEncrypted: isEncrypted)])
        }
        let first = try judge.judge(shape(.string))
        #expect(
            first.types == ["Note": ["x": .init(ValueType(.string), indexes: [.queryable, .sortable, .searchable])]])
        // Each says what it needs, should the others be refused.
        #expect(try judge.judge(shape(.string)) == first)
        #expect(throws: SchemaViolation.twoKinds(field: "x", type: "Note")) { try judge.judge(shape(.int64)) }
        #expect(throws: SchemaViolation.twoKinds(field: "x", type: "Note")) { try judge.judge(shape(.string, true)) }
        #expect(try judge.judge(RecordShape(type: "Note")).isEmpty)
    }

    @Test func whatIsRefusedBindsNobody() throws {
        var judge = SchemaJudge(Self.schema, mayGrow: true)
        let bad = RecordShape(
            type: "Note",
            fields: [
                .init("a", .type(ValueType(.string)), isEncrypted: false),
                .init("n", .type(ValueType(.string)), isEncrypted: false),
            ])
        #expect(throws: SchemaViolation.self) { try judge.judge(bad) }
        let good = RecordShape(type: "Note", fields: [.init("a", .type(ValueType(.int64)), isEncrypted: false)])
        #expect(try judge.judge(good).types["Note"]?["a"]?.type == ValueType(.int64))
    }

    @Test func automaticIndexesAreAllowed() {
        for kind in ValueKind.allCases {
            for isList in [false, true] {
                for isEncrypted in [false, true] where !isEncrypted || kind.mayBeEncrypted {
                    let field = RecordType.Field(ValueType(kind, isList: isList), isEncrypted: isEncrypted)
                    #expect(field.allowedIndexes.isSuperset(of: field.automaticIndexes))
                    if isEncrypted || kind == .asset { #expect(field.allowedIndexes.isEmpty) }
                }
            }
        }
    }
}
