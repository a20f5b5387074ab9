import SealSchema
import SealStatements
import Testing

@Suite(.timeLimit(.minutes(60))) struct LanguageTests {
    /// The example of CloudKit's own documentation, with comments of every kind.
    static let departments = """
        DEFINE SCHEMA
            CREATE ROLE DeptManager;   // one line

            RECORD TYPE Department (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___recordID" REFERENCE QUERYABLE,
                name STRING,  -- another
                address STRING, /* many
                                   lines */
                phone LIST<STRING>,
                employees LIST<REFERENCE>,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world",
                GRANT WRITE, CREATE, READ TO DeptManager
            );

            RECORD TYPE Employee (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___etag" STRING,
                name STRING, hiredate TIMESTAMP, salary INT64,
                GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
            );
        """

    @Test func cloudKitsExampleIsRead() throws {
        let schema = try Schema(parsing: Self.departments)
        #expect(schema.roles == ["DeptManager"])
        #expect(Set(schema.types.keys) == ["Department", "Employee"])
        let department = try #require(schema.types["Department"])
        #expect(
            department.fields == [
                "___createTime": .init(ValueType(.date), indexes: [.queryable, .sortable]),
                "___recordID": .init(ValueType(.reference), indexes: .queryable),
                "address": .init(ValueType(.string)), "name": .init(ValueType(.string)),
                "phone": .init(ValueType(.string, isList: true)),
                "employees": .init(ValueType(.reference, isList: true)),
            ])
        #expect(
            department.grants
                == RecordType.Grant.merged(
                    RecordType.Grant.usual + [.init([.read, .create, .write], to: "DeptManager")]))
        #expect(
            Set(schema.types["Employee"]?.fields.keys.map { $0 } ?? []) == [
                "___createTime", "name", "hiredate", "salary",
            ])
    }

    @Test func everyKindIsWrittenInOneWay() throws {
        var type = RecordType(name: "Every", grants: [])
        for kind in ValueKind.allCases {
            for isList in [false, true] {
                for isEncrypted in [false, true] where !isEncrypted || kind.mayBeEncrypted {
                    var field = RecordType.Field(ValueType(kind, isList: isList), isEncrypted: isEncrypted)
                    field.indexes = field.allowedIndexes
                    type.fields["\(kind)\(isList ? "List" : "")\(isEncrypted ? "Sealed" : "")"] = field
                }
            }
        }
        type.fields["grant"] = .init(ValueType(.string))
        type.fields["type"] = .init(ValueType(.string))
        type.fields["___modifiedBy"] = .init(ValueType(.reference), indexes: .queryable)
        let schema = Schema(
            types: ["Every": type, "searchable": RecordType(name: "searchable")], roles: ["Sortable", "b"]
        ).completed
        #expect(try Schema(parsing: schema.text) == schema)
        #expect(schema.text.contains("LIST<ENCRYPTED STRING>"))
        #expect(schema.text.contains("\"grant\""))
        #expect(schema.text == (try Schema(parsing: schema.text)).text)
    }

    @Test func whatIsReadIsPrintedAsTheSame() throws {
        let schema = try Schema(parsing: Self.departments)
        #expect(try Schema(parsing: schema.text) == schema)
        // The text for people to read in a diff.
        #expect(
            schema.text.hasPrefix(
                """
                DEFINE SCHEMA

                    CREATE ROLE DeptManager;

                    RECORD TYPE Department (
                        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                        "___recordID"   REFERENCE QUERYABLE,
                        address         STRING,
                        employees       LIST<REFERENCE>,
                """))
    }

    @Test func otherWaysOfWritingMeanTheSame() throws {
        func same(_ left: String, _ right: String) throws {
            #expect(
                try Schema(parsing: "DEFINE SCHEMA RECORD TYPE T (\(left));")
                    == Schema(parsing: "DEFINE SCHEMA; RECORD TYPE \"T\" (\n\(right)\r\n);"))
        }
        try same("a STRING", "\"a\" string")
        try same("a NUMBER PREFERRED AS INT64 SORTABLE", "a int64 Sortable")
        try same("a NUMBER PREFERRED AS DOUBLE", "a DOUBLE")
        try same("a ENCRYPTED LIST<STRING>", "a LIST<ENCRYPTED STRING>")
        try same("a STRING, ___recordID REFERENCE", "a STRING")
        try same("a STRING SORTABLE QUERYABLE", "a STRING QUERYABLE SORTABLE")
        try same("GRANT READ TO \"_world\", GRANT WRITE TO \"_world\"", "grant write, read to \"_world\"")
        #expect(try Schema(parsing: "\u{FEFF}define schema") == Schema())
        #expect(
            try Schema(parsing: "DEFINE SCHEMA RECORD TYPE Empty ( );").types["Empty"]
                == RecordType(name: "Empty", grants: []))
    }

    @Test func sharesOfCloudKitsExportsAreTaken() throws {
        let schema = try Schema(
            parsing: """
                DEFINE SCHEMA
                    RECORD TYPE "cloudkit.share" (
                        "___etag" STRING, "cloudkit.title" STRING, "cloudkit.thumbnailImageData" BYTES, "cloudkit.type" STRING,
                        note STRING QUERYABLE, GRANT WRITE TO "_creator"
                    );
                    RECORD TYPE Users ("___recordID" REFERENCE, roles LIST<INT64>);
                """)
        #expect(schema.types["cloudkit.share"]?.fields == ["note": .init(ValueType(.string), indexes: .queryable)])
        #expect(schema.completed.types["cloudkit.share"]?.fields["title"]?.isEncrypted == true)
        #expect(schema.types["Users"]?.fields == ["roles": .init(ValueType(.int64, isList: true))])
    }

    static let errors: [(String, Int, Int, String)] = [
        ("", 1, 1, "expected DEFINE SCHEMA"),
        ("DEFINE", 1, 7, "expected SCHEMA"),
        ("DEFINE SCHEMA TABLE", 1, 15, "expected RECORD TYPE or CREATE ROLE"),
        ("DEFINE SCHEMA\n  CREATE R;", 2, 10, "expected ROLE"),
        ("DEFINE SCHEMA CREATE ROLE a", 1, 28, "semicolon"),
        ("DEFINE SCHEMA CREATE ROLE a; CREATE ROLE a;", 1, 42, "twice"),
        ("DEFINE SCHEMA CREATE ROLE _a;", 1, 27, "role's name"),
        ("DEFINE SCHEMA RECORD TYPE", 1, 26, "record type's name"),
        ("DEFINE SCHEMA RECORD TYPE a.b ();", 1, 28, "no meaning"),
        ("DEFINE SCHEMA RECORD TYPE \"a.b\" ();", 1, 27, "record type's name"),
        ("DEFINE SCHEMA RECORD TYPE _a ();", 1, 27, "record type's name"),
        ("DEFINE SCHEMA RECORD TYPE 7a ();", 1, 27, "record type's name"),
        ("DEFINE SCHEMA RECORD TYPE grant ();", 1, 27, "reserved word"),
        ("DEFINE SCHEMA RECORD TYPE A (); RECORD TYPE A ();", 1, 45, "twice"),
        ("DEFINE SCHEMA RECORD TYPE A ()", 1, 31, "semicolon"),
        ("DEFINE SCHEMA RECORD TYPE A", 1, 28, "expected ("),
        ("DEFINE SCHEMA RECORD TYPE A (", 1, 30, "expected a field or GRANT"),
        ("T f", 1, 4, "expected a data type"),
        ("T f TEXT", 1, 5, "expected a data type"),
        ("T f STRING g STRING", 1, 12, "expected QUERYABLE"),
        ("T f STRING; g STRING", 1, 11, "expected a comma"),
        ("T f STRING,", 1, 12, "expected a field or GRANT"),
        ("T f STRING, f INT64", 1, 13, "twice"),
        ("T recordID STRING", 1, 3, "property"),
        ("T \"f g\" STRING", 1, 3, "field's name"),
        ("T _f STRING", 1, 3, "field's name"),
        ("T \"é\" STRING", 1, 3, "field's name"),
        ("T \"é\" STRING X", 1, 3, "field's name"),
        ("T sortable STRING", 1, 3, "reserved word"),
        ("T \"___recordID\" STRING", 1, 17, "REFERENCE"),
        ("T \"___recordID\" ENCRYPTED STRING", 1, 17, "REFERENCE"),
        ("T \"___other\" STRING", 1, 3, "field's name"),
        ("T \"___etag\" STRING QUERYABLE", 1, 20, "index"),
        ("T f ENCRYPTED STRING QUERYABLE", 1, 22, "encrypted fields have no index"),
        ("T f LIST<ENCRYPTED STRING> SEARCHABLE", 1, 28, "encrypted fields have no index"),
        ("T f ENCRYPTED ASSET", 1, 15, "assets always are"),
        ("T f ENCRYPTED REFERENCE", 1, 15, "references cannot be encrypted"),
        ("T f ASSET QUERYABLE", 1, 11, "assets have no index"),
        ("T f LIST<STRING> SORTABLE", 1, 18, "lists of strings"),
        ("T f LIST<INT64> SORTABLE", 1, 17, "QUERYABLE only"),
        ("T f INT64 SEARCHABLE", 1, 11, "SEARCHABLE is for strings"),
        ("T f INT64 QUERYABLE QUERYABLE", 1, 21, "already"),
        ("T f LIST STRING", 1, 10, "expected <"),
        ("T f LIST<LIST<STRING>>", 1, 10, "expected a data type"),
        ("T f LIST<STRING", 1, 16, "expected >"),
        ("T f NUMBER", 1, 11, "PREFERRED AS"),
        ("T f NUMBER PREFERRED AS STRING", 1, 25, "INT64 or DOUBLE"),
        ("T GRANT READ \"_world\"", 1, 14, "expected TO"),
        ("T GRANT DELETE TO \"_world\"", 1, 9, "READ, CREATE or WRITE"),
        ("T GRANT READ, TO \"_world\"", 1, 15, "READ, CREATE or WRITE"),
        ("T GRANT READ TO \"_everyone\"", 1, 17, "no such role"),
        ("T GRANT READ TO Nobody", 1, 17, "CREATE ROLE"),
        ("T f STRING /* never", 1, 12, "no closing */"),
        ("T \"f", 1, 3, "no closing quote"),
        ("T \"f\n\" STRING", 1, 3, "does not end on its line"),
        ("T f STRING §", 1, 12, "no meaning"),
        ("T f\t\u{1F600}", 1, 5, "no meaning"),
    ]

    @Test(arguments: errors.indices)
    func errorsSayWhereAndWhat(_ index: Int) throws {
        var (text, line, column, reason) = Self.errors[index]
        // Short cases stand for the inside of a record type, which then begins at line 2.
        if text.hasPrefix("T ") {
            text = "DEFINE SCHEMA RECORD TYPE T (\n  " + text.dropFirst(2)
            if !text.contains("/* never"), reason != "no closing quote", reason != "expected >" { text += ");" }
            line += 1
        }
        do {
            _ = try Schema(parsing: text)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.line == line, "\(text): \(error)")
            #expect(error.column == column, "\(text): \(error)")
            #expect(error.reason.contains(reason), "\(text): \(error)")
        }
    }

    @Test func builtInFieldsKeepTheirKind() {
        #expect(throws: SchemaError.self) {
            try Schema(parsing: "DEFINE SCHEMA RECORD TYPE \"cloudkit.share\" (title STRING);")
        }
        #expect(throws: Never.self) {
            try Schema(parsing: "DEFINE SCHEMA RECORD TYPE \"cloudkit.share\" (title ENCRYPTED STRING);")
        }
    }

    @Test func nothingGrowsWithoutBound() {
        let fields = (0...SchemaLimits.fieldsPerType).map { "f\($0) INT64" }.joined(separator: ",")
        #expect(throws: SchemaError.self) { try Schema(parsing: "DEFINE SCHEMA RECORD TYPE T (\(fields));") }
        let types = (0...SchemaLimits.types).map { "RECORD TYPE T\($0) ();" }.joined()
        #expect(throws: SchemaError.self) { try Schema(parsing: "DEFINE SCHEMA " + types) }
        let roles = (0...SchemaLimits.roles).map { "CREATE ROLE r\($0);" }.joined()
        #expect(throws: SchemaError.self) { try Schema(parsing: "DEFINE SCHEMA " + roles) }
        let wide = (0..<30).map { type in
            "RECORD TYPE T\(type) (\((0..<SchemaLimits.fieldsPerType).map { "f\($0) INT64" }.joined(separator: ",")));"
        }.joined()
        #expect(throws: SchemaError.self) { try Schema(parsing: "DEFINE SCHEMA " + wide) }
        #expect(throws: SchemaError.self) {
            try Schema(parsing: "DEFINE SCHEMA " + String(repeating: " ", count: SchemaLimits.textBytes))
        }
    }

    /// Cut, doubled and mixed-up files end in an error or a schema, and what is read prints as itself.
    @Test func brokenFilesNeverCrash() throws {
        let pieces =
            Self.departments.split(separator: " ", omittingEmptySubsequences: true).map(String.init) + [
                "/*", "\"", "<", "LIST<", "é", "\0",
            ]
        var random = SplitMix(state: 7)
        for round in 0..<3_000 {
            let text: String
            if round % 2 == 0 {
                let cut = Int.random(in: 0...Self.departments.utf8.count, using: &random)
                var bytes = Array(Self.departments.utf8.prefix(cut))
                if !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                text = String(decoding: bytes, as: UTF8.self)
            } else {
                let count = Int.random(in: 0...20, using: &random)
                text =
                    "DEFINE SCHEMA RECORD TYPE "
                    + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined(separator: " ")
            }
            guard let schema = try? Schema(parsing: text) else { continue }
            #expect(try Schema(parsing: schema.text) == schema)
        }
    }
}

/// The same numbers on every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
