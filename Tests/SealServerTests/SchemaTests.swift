import SealEnvelope
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Schemas as saves meet them: what development adds, what production refuses.
@Suite(.timeLimit(.minutes(60))) struct SchemaTests {
    func withZone(_ body: @Sendable (Person, TestZone, RunningServer) async throws -> Void) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await body(anna, try await anna.makeZone(), server)
        }
    }

    static func write(_ name: String, _ fields: [(String, FieldDraft)]) -> Write { write(name, "Note", fields) }

    static func write(_ name: String, _ type: String, _ fields: [(String, FieldDraft)]) -> Write {
        var write = Write(name, nil)
        write.type = type
        write.fields = fields.map { (name: $0.0, field: $0.1) }
        return write
    }

    @Test func whatASaveBringsAppearsInDevelopment() async throws {
        try await withZone { anna, zone, server in
            let place = Location(latitude: 1, longitude: 2)
            let all = Self.write(
                "a", "Everything",
                [
                    ("bytes", .plain(.data([1]))), ("count", .plain(.int64(1))), ("dates", .plain(.list([.date(0.5)]))),
                    ("empty", .plain(.list([]))),
                    ("link", .plain(.reference(ReferenceValue(recordName: "b")))), ("place", .plain(.location(place))),
                    ("ratio", .plain(.double(1))), ("sealed", .encrypted(.string("x"))),
                    ("sealedList", .encrypted(.list([.int64(1)]))), ("sealedNone", .encrypted(.list([]))),
                    ("text", .plain(.string("x"))), ("time", .plain(.date(1))),
                    ("words", .plain(.list([.string("x")]))),
                ])
            #expect(try await anna.codes([all, Write("n")], in: zone) == [nil, nil])
            let stored = try await server.schema()
            typealias Field = RecordType.Field
            #expect(
                stored.schema.types["Everything"]?.fields == [
                    "___recordID": Field(ValueType(.reference), indexes: .queryable),
                    "bytes": Field(ValueType(.data)),
                    "count": Field(ValueType(.int64), indexes: [.queryable, .sortable]),
                    "dates": Field(ValueType(.date, isList: true), indexes: .queryable),
                    "link": Field(ValueType(.reference), indexes: .queryable),
                    "place": Field(ValueType(.location), indexes: .queryable),
                    "ratio": Field(ValueType(.double), indexes: [.queryable, .sortable]),
                    "sealed": Field(ValueType(.string), isEncrypted: true),
                    "sealedList": Field(ValueType(.int64, isList: true), isEncrypted: true),
                    "text": Field(ValueType(.string), indexes: [.queryable, .sortable, .searchable]),
                    "time": Field(ValueType(.date), indexes: [.queryable, .sortable]),
                    "words": Field(ValueType(.string, isList: true), indexes: [.queryable, .searchable]),
                ])
            #expect(stored.schema.types["Everything"]?.grants == RecordType.Grant.usual)
            #expect(Set(stored.schema.types.keys) == ["Everything", "Note", "Users", "cloudkit.share"])
            // Every field has a number of its own, the system's too.
            let numbers = stored.ids.values.flatMap(\.values)
            #expect(Set(numbers).count == numbers.count)
            #expect(stored.fieldID(type: "Everything", field: "___modTime") != nil)
            #expect(stored.fieldID(type: "Everything", field: "___etag") == nil)
            #expect(stored.fieldID(type: "Note", field: "body") != stored.fieldID(type: "Everything", field: "text"))

            // More fields leave the numbers of the others alone.
            #expect(try await anna.codes([Self.write("m", [("more", .plain(.int64(1)))])], in: zone) == [nil])
            let grown = try await server.schema()
            #expect(grown.version != stored.version)
            #expect(grown.fieldID(type: "Note", field: "more") != nil)
            for (type, fields) in stored.ids {
                for (field, id) in fields { #expect(grown.fieldID(type: type, field: field) == id) }
            }
        }
    }

    @Test func aSchemaSurvivesARestart() async throws {
        let folder = TemporaryFolder()
        let first = Mutex<StoredSchema?>(nil)
        try await RunningServer.with(folder: folder) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.save([Write("a")], in: try await anna.makeZone())
            let stored = try await server.schema()
            first.withLock { $0 = stored }
        }
        try await RunningServer.with(folder: folder) { server in
            let again = try await server.schema()
            let before = try #require(first.withLock { $0 })
            #expect(before.version != StoredSchema.unwritten)
            #expect(again.version == before.version)
            #expect(again.schema == before.schema)
            #expect(again.ids == before.ids)
        }
    }

    @Test func aRefusedSaveAddsNothing() async throws {
        try await withZone { anna, zone, server in
            let saved = try await anna.save([Write("a")], in: zone)
            let before = try await server.schema()
            var stale = Write(after: saved[0])
            stale.tag = "zzz"
            stale.fields.append(("zStale", .plain(.int64(1))))
            let fresh = Self.write("b", "Fresh", [("x", .plain(.int64(1)))])
            // All or nothing: the good record does not add its type either.
            #expect(try await anna.codes([stale, fresh], in: zone) == [.serverRecordChanged, .batchRequestFailed])
            #expect(try await server.schema().version == before.version)
            // One by one: the good one does, the refused one does not.
            #expect(try await anna.codes([stale, fresh], in: zone, atomic: false) == [.serverRecordChanged, nil])
            let after = try await server.schema()
            #expect(after.schema.types["Fresh"]?.fields["x"] != nil)
            #expect(after.schema.types["Note"]?.fields["zStale"] == nil)
        }
    }

    @Test func aTransactionThatIsTakenBackLeavesNoSchemaBehind() async throws {
        try await withZone { anna, zone, server in
            _ = try await anna.save([Write("a")], in: zone)
            let before = try await server.schema()
            let schemas = server.services.schemas
            struct TakenBack: Error {}
            await #expect(throws: TakenBack.self) {
                try await server.services.database.write(at: .everything) { connection in
                    var target = before.schema
                    target.types["Note"]?.fields["ghost"] = .init(ValueType(.int64))
                    _ = try SchemaTables.write(target, over: before, in: connection)
                    // Read inside, so that it is remembered.
                    let inside = try schemas.schema(TestClient.container, .development, in: connection)
                    #expect(inside.field("ghost", of: "Note") != nil)
                    throw TakenBack()
                }
            }
            #expect(try await server.schema().field("ghost", of: "Note") == nil)
            // The ghost's kind binds nobody.
            #expect(try await anna.codes([Self.write("b", [("ghost", .plain(.string("x")))])], in: zone) == [nil])
            #expect(try await server.schema().field("ghost", of: "Note")?.type == ValueType(.string))
        }
    }

    @Test func clientsThatRaceAgreeOnOneKind() async throws {
        try await withZone { anna, zone, server in
            let bert = try await Person.ready(server)
            let other = try await bert.makeZone()
            for round in 0..<8 {
                let field = "race\(round)"
                let number = Self.write("n\(round)", [(field, .plain(.int64(1)))])
                let text = Self.write("t\(round)", [(field, .plain(.string("x")))])
                async let first = anna.codes([number], in: zone)
                async let second = bert.codes([text], in: other)
                let codes = try await [first[0], second[0]]
                #expect(Set(codes) == [nil, .invalidArguments])
                let kind = try await server.schema().field(field, of: "Note")?.type
                #expect(kind == ValueType(codes[0] == nil ? .int64 : .string))
                // The same kind twice is no race.
                let same = "same\(round)"
                async let third = anna.codes([Self.write("s\(round)", [(same, .plain(.int64(1)))])], in: zone)
                async let fourth = bert.codes([Self.write("s\(round)", [(same, .plain(.int64(2)))])], in: other)
                #expect(try await [third[0], fourth[0]] == [nil, nil])
            }
        }
    }

    @Test func aBatchIsHeldAgainstTheSchemaOfItsTransaction() async throws {
        try await withZone { anna, zone, server in
            _ = try await anna.save([Write("a")], in: zone)
            let old = try await server.schema()
            let (request, _) = try anna.request([Self.write("b", [("late", .plain(.int64(1)))])], in: zone)
            let batch = try await server.services.database.read { connection in
                let account = try #require(try connection.first("SELECT id FROM account") { try $0.int64("id") })
                let caller = try Caller(
                    Session(accountID: account, tokenHash: []), container: TestClient.container, in: connection)
                let basis = SaveBasis(caller: caller, judge: .rosters(ZoneRosters(zone.roster)), schema: old)
                return try RecordBatch(SaveMessage(request), basis)
            }
            func additions(_ batch: RecordBatch) -> SchemaAdditions? {
                guard case .success(let content) = batch.items[0].outcome else { return nil }
                return content.additions
            }
            #expect(additions(batch)?.isEmpty == false)
            #expect(additions(batch.fitting(old))?.isEmpty == false)
            // Somebody else was faster: with the same kind, nothing is left to add; with another, the record is
            // refused.
            func grown(_ kind: ValueKind) -> StoredSchema {
                var schema = old.schema
                schema.types["Note"]?.fields["late"] = .init(ValueType(kind))
                return StoredSchema(
                    container: old.container, environment: old.environment, version: old.version &+ 1,
                    hasHistory: false,
                    schema: schema, ids: old.ids)
            }
            #expect(additions(batch.fitting(grown(.int64)))?.isEmpty == true)
            #expect(additions(batch.fitting(grown(.string))) == nil)
        }
    }

    @Test func productionTakesWhatWasDeployedAndNothingElse() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server).inProduction
            let zone = try await anna.makeZone()
            #expect(try await anna.codes([Write("a")], in: zone) == [.invalidArguments])
            try await server.deploy(Schema().adding(types: ["Note": ["pinned": .init(ValueType(.int64))]]))
            // The type is there, one of its fields is not.
            let good = Self.write("b", [("pinned", .plain(.int64(1)))])
            #expect(try await anna.codes([Write("a"), good], in: zone) == [.invalidArguments, .batchRequestFailed])
            #expect(try await anna.codes([Write("a"), good], in: zone, atomic: false) == [.invalidArguments, nil])
            let saved = try await anna.save([Self.write("c", [])], in: zone)
            #expect(saved[0].result.code == nil)
            guard case .failure(let failure) = try await anna.save([Write("a")], in: zone)[0].result.outcome else {
                throw TestFailure("not refused")
            }
            #expect(failure.reason.contains("body"))
            #expect(failure.remedy.contains("schema deploy"))
            // Development has its own schema and its own data.
            let development = Person(client: anna.client, keys: anna.keys, chain: anna.chain)
            #expect(try await development.codes([Write("a")], in: try await development.makeZone()) == [nil])
            #expect(try await server.schema(.production).field("body", of: "Note") == nil)
        }
    }

    @Test func deletionsNeedNoSchema() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server).inProduction
            let zone = try await anna.makeZone()
            try await server.deploy(Schema().adding(types: ["Note": ["pinned": .init(ValueType(.int64))]]))
            let saved = try await anna.save([Self.write("b", [("pinned", .plain(.int64(1)))])], in: zone)
            try await server.deploy(Schema())
            #expect(try await anna.codes([Write(after: saved[0], nil)], in: zone) == [.invalidArguments])
            var delete = Write(after: saved[0], kind: .delete)
            delete.type = "Note"
            #expect(try await anna.codes([delete], in: zone) == [nil])
        }
    }

    @Test func sharesAndUsersNeedNoDeployment() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server).inProduction
            let zone = try await anna.makeZone()
            let users = Self.write("u", "Users", [])
            #expect(try await anna.codes([users], in: zone) == [nil])
            let plain = Self.write("v", "Users", [("name", .plain(.string("x")))])
            #expect(try await anna.codes([plain], in: zone) == [.invalidArguments])
            // A share's title never travels in the clear, in neither environment.
            let title = Self.write(Names.zoneWideShare, Names.shareType, [("title", .plain(.string("x")))])
            #expect(try await anna.codes([title], in: zone) == [.invalidArguments])
        }
    }

    @Test(arguments: [SealStatements.Environment.development, .production])
    func whatADeclarationSaysHolds(_ environment: SealStatements.Environment) async throws {
        try await RunningServer.with { server in
            var anna = try await Person.ready(server)
            anna.environment = environment
            let zone = try await anna.makeZone()
            try await server.deploy(
                Schema().adding(types: [
                    "Note": [
                        "count": .init(ValueType(.int64)), "dates": .init(ValueType(.date, isList: true)),
                        "secret": .init(ValueType(.string), isEncrypted: true),
                    ]
                ]), to: environment)
            func code(_ field: String, _ draft: FieldDraft) async throws -> ErrorCode? {
                try await anna.codes([Self.write(Hex.encode(randomBytes(8)), [(field, draft)])], in: zone)[0]
            }
            #expect(try await code("secret", .plain(.string("x"))) == .invalidArguments)
            #expect(try await code("secret", .encrypted(.int64(1))) == .invalidArguments)
            #expect(try await code("secret", .encrypted(.list([]))) == .invalidArguments)
            #expect(try await code("secret", .encrypted(.list([.string("x")]))) == .invalidArguments)
            #expect(try await code("secret", .encrypted(.string("x"))) == nil)
            #expect(try await code("count", .encrypted(.int64(1))) == .invalidArguments)
            #expect(try await code("count", .plain(.double(1))) == .invalidArguments)
            #expect(try await code("count", .plain(.list([]))) == .invalidArguments)
            #expect(try await code("count", .plain(.int64(1))) == nil)
            #expect(try await code("dates", .plain(.list([.int64(1)]))) == .invalidArguments)
            #expect(try await code("dates", .plain(.date(1))) == .invalidArguments)
            #expect(try await code("dates", .plain(.list([.date(1)]))) == nil)
            // An empty list is of no kind, and fits where a list does.
            #expect(try await code("dates", .plain(.list([]))) == nil)
            #expect(try await code("dates", .encrypted(.list([]))) == .invalidArguments)
            if environment == .production { #expect(try await code("unknown", .plain(.list([]))) == .invalidArguments) }
            #expect(try await server.schema(environment).schema.types["Note"]?.userFieldCount == 3)
        }
    }

    @Test func anEmptyListLeavesItsFieldsTypeToTheFirstWithElements() async throws {
        try await withZone { anna, zone, server in
            let empty = try await anna.save(
                [Self.write("e", [("x", .plain(.list([])))]), Self.write("f", [("x", .plain(.list([])))])], in: zone)
            #expect(empty.map(\.result.code) == [nil, nil])
            #expect(try await server.schema().schema.types["Note"]?.userFieldCount == 0)
            #expect(try await anna.codes([Self.write("n", [("x", .plain(.list([.int64(7)])))])], in: zone) == [nil])
            #expect(try await server.schema().field("x", of: "Note")?.type == ValueType(.int64, isList: true))
            #expect(try await anna.codes([Self.write("o", [("x", .plain(.list([])))])], in: zone) == [nil])
            #expect(
                try await anna.codes([Self.write("s", [("x", .plain(.list([.string("x")])))])], in: zone) == [
                    .invalidArguments
                ])
            #expect(
                try await anna.query(try QueryTests.query("x CONTAINS 7", type: "Note"), in: zone).matches.map(
                    \.record.recordName) == ["n"])
            let none = try await anna.query(try QueryTests.query("NOT x CONTAINS 7", type: "Note"), in: zone).matches
            #expect(Set(none.map(\.record.recordName)) == ["e", "f", "o"])
            for match in none { _ = try anna.open(match.record, in: zone) }
        }
    }

    @Test func aRequestMayNotContradictItself() async throws {
        try await withZone { anna, zone, server in
            let number = Self.write("n", [("x", .plain(.int64(1)))])
            let text = Self.write("t", [("x", .plain(.string("x")))])
            let codes = try await anna.codes([number, text], in: zone)
            #expect(codes == [.batchRequestFailed, .invalidArguments])
            #expect(try await server.schema().version == StoredSchema.unwritten)
            #expect(try await anna.codes([number, text], in: zone, atomic: false) == [nil, .invalidArguments])
        }
    }

    @Test func aTypeTakesAThousandFields() async throws {
        try await withZone { anna, zone, server in
            let wide = Self.write("w", (0..<1000).map { ("f\(1000 + $0)", .plain(.int64(1))) })
            let codes = try await anna.codes([wide], in: zone)
            #expect(codes == [nil])
            let more = Self.write("m", [("f1000", .plain(.int64(1))), ("g", .plain(.int64(1)))])
            #expect(try await anna.codes([more], in: zone) == [.limitExceeded])
            #expect(try await anna.codes([Self.write("o", "Other", [("g", .plain(.int64(1)))])], in: zone) == [nil])
        }
    }
}
