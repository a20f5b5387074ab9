import SealQuery
import SealSchema
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What indexes cost whoever waits for the writer.
@Suite(.timeLimit(.minutes(5))) struct IndexCostTests {
    private static func numbered(_ name: String, from first: Int) -> [String: Value] {
        ["numbers": .list((first..<first + 9_000).map { .int64(Int64($0)) })]
    }

    private static func wordy(_ index: Int) -> [String: Value] {
        ["text": .string((0..<9_000).map { "w\(index * 9_000 + $0)" }.joined(separator: " "))]
    }

    private static func deletion(_ saved: SavedRecord) -> Write {
        var write = Write(after: saved, kind: .delete)
        write.type = "Thing"
        return write
    }

    @Test(
        "A request takes tens of thousands of entries out of indexes: refused as one that brings them, and nothing is done."
    )
    func attack103_entriesThatGo() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let names = ["a", "b", "c"]
            var saved: [SavedRecord] = []
            for name in names {
                saved += try await anna.save([.thing(name, Self.numbered(name, from: 0))], in: zone)
            }
            // 27,000 that go, and as many that come; two by two it is still too much.
            let changed = saved.map { Write.thing(after: $0, Self.numbered($0.name, from: 9_000)) }
            try await expectRefusal(.limitExceeded) { try await anna.save(changed, in: zone) }
            #expect(try await anna.names("numbers CONTAINS 1", in: zone) == names)
            for write in changed { #expect(try await anna.codes([write], in: zone) == [nil]) }
            #expect(try await anna.names("numbers CONTAINS 1", in: zone).isEmpty)
            #expect(try await anna.names("numbers CONTAINS 17999", in: zone) == names)

            var texts: [SavedRecord] = []
            for index in 0..<3 { texts += try await anna.save([.thing("t\(index)", Self.wordy(index))], in: zone) }
            let deletions = texts.map(Self.deletion)
            try await expectRefusal(.limitExceeded) { try await anna.save(deletions, in: zone) }
            #expect(try await anna.names("self CONTAINS 'w26999'", in: zone) == ["t2"])
            #expect(try await anna.codes(Array(deletions.prefix(1)), in: zone) == [nil])
            #expect(try await anna.codes(Array(deletions.suffix(2)), in: zone) == [nil, nil])
            #expect(try await anna.names("self CONTAINS 'w26999'", in: zone).isEmpty)
            AttackOutcome.refused("limitExceeded")
        }
    }

    @Test func anIndexComesAndGoesInSmallParts() async throws {
        try await QueryTests.withZone { anna, zone, server in
            for name in ["a", "b", "c"] {
                #expect(try await anna.codes([.thing(name, Self.numbered(name, from: 0))], in: zone) == [nil])
            }
            #expect(try await server.indexEntries() == 27_000)
            func follow() async throws -> [Int64] {
                var counts = [try await server.indexEntries()]
                while let part = try await server.nextIndexPart() {
                    try await server.write(part)
                    counts.append(try await server.indexEntries())
                }
                return counts
            }
            try await server.setIndexes(of: "numbers", from: [.queryable, .sortable], to: [])
            let away = try await follow()
            #expect(away.last == 0)
            try await server.setIndexes(of: "numbers", from: [], to: .queryable)
            let back = try await follow()
            #expect(back.last == 27_000)
            let steps = [away, back].flatMap { zip($0, $0.dropFirst()).map { abs($0 - $1) } }
            let longest = steps.max() ?? 0
            #expect(longest <= 10_000)
            #expect(try await anna.names("numbers CONTAINS 8999", in: zone) == ["a", "b", "c"])
        }
    }

    /// Stored before its field had an index, it is in none, and goes as any other does: alone and with others.
    @Test func aRecordThatIsTooLongForAnIndexGoesAsOthersDo() async throws {
        try await QueryTests.withZone { anna, zone, server in
            // The schema has the field then.
            _ = try await anna.save([.thing("short", ["numbers": .list([.int64(1)])])], in: zone)
            try await server.setIndexes(of: "numbers", from: [.queryable, .sortable], to: [])
            try await server.makeIndexes()
            let long = { (name: String) in
                Write.thing(name, ["numbers": .list((0..<30_000).map { .int64($0) })])
            }
            let saved = try await anna.save([long("a"), long("b"), long("c")], in: zone)
            try await server.setIndexes(of: "numbers", from: [], to: .queryable)
            try await server.makeIndexes()
            #expect(try await server.indexEntries() == 1)
            let emptied = Write.thing(after: saved[0], ["numbers": .list([])])
            #expect(try await anna.codes([emptied], in: zone) == [nil])
            #expect(try await anna.codes(saved[1...].map(Self.deletion), in: zone) == [nil, nil])
        }
    }

    /// Too much when its indexes were made, it was left out of all of them; once it is not, all of it is found.
    @Test func aRecordThatWasTooMuchForItsIndexesIsFoundOnceItIsNot() async throws {
        try await QueryTests.withZone { anna, zone, server in
            func list(_ count: Int64, from first: Int64) -> Value { .list((first..<first + count).map { .int64($0) }) }
            let sample: [String: Value] = ["odd": list(1, from: -1), "even": list(1, from: -1), "age": .int64(0)]
            _ = try await anna.save([.thing("sample", sample)], in: zone)
            let fields = ["odd", "even", "age"]
            for field in fields { try await server.setIndexes(of: field, from: [.queryable, .sortable], to: []) }
            try await server.makeIndexes()
            var values: [String: Value] = ["odd": list(6_000, from: 0), "even": list(6_000, from: 0), "age": .int64(7)]
            let saved = try await anna.save([.thing("a", values)], in: zone)
            for field in fields { try await server.setIndexes(of: field, from: [], to: .queryable) }
            try await server.makeIndexes()
            #expect(try await anna.names("odd CONTAINS 5999", in: zone).isEmpty)

            values["even"] = list(3_000, from: 0)
            let shorter = try await anna.save([.thing(after: saved[0], values)], in: zone)
            #expect(try await anna.names("odd CONTAINS 5999", in: zone) == ["a"])
            #expect(try await anna.names("even CONTAINS 2999", in: zone) == ["a"])
            #expect(try await anna.names("even CONTAINS 3000", in: zone).isEmpty)
            #expect(try await anna.names("age = 7", in: zone) == ["a"])
            // The sample's three, and these.
            #expect(try await server.indexEntries() == 3 + 6_000 + 3_000 + 1)
            #expect(try await anna.codes([Self.deletion(shorter[0])], in: zone) == [nil])
            #expect(try await server.indexEntries() == 3)
        }
    }

    /// Too much for an index that was made, it fits once another one is gone: all that is left finds it, whether it was
    /// saved meanwhile or not.
    @Test(arguments: [false, true]) func aRecordThatWasTooMuchIsFoundOnceAnIndexIsGone(
        isSavedMeanwhile: Bool
    ) async throws {
        try await QueryTests.withZone { anna, zone, server in
            func list(_ count: Int64, from first: Int64) -> Value { .list((first..<first + count).map { .int64($0) }) }
            let sample: [String: Value] = ["odd": list(1, from: -1), "even": list(1, from: -1), "age": .int64(0)]
            _ = try await anna.save([.thing("sample", sample)], in: zone)
            let fields = ["odd", "even", "age"]
            for field in fields { try await server.setIndexes(of: field, from: [.queryable, .sortable], to: []) }
            try await server.makeIndexes()
            var values: [String: Value] = ["odd": list(6_000, from: 0), "even": list(6_000, from: 0), "age": .int64(7)]
            var saved = try await anna.save([.thing("a", values)], in: zone)
            for field in fields {
                try await server.setIndexes(of: field, from: [], to: .queryable)
                try await server.makeIndexes()
            }
            // The first index has it, and those after it have not.
            #expect(try await anna.names("odd CONTAINS 5999", in: zone) == ["a"])
            #expect(try await anna.names("even CONTAINS 5999", in: zone).isEmpty)
            #expect(try await anna.names("age = 7", in: zone).isEmpty)

            try await server.setIndexes(of: "odd", from: .queryable, to: [])
            var first: Int64 = 0
            while let part = try await server.nextIndexPart() {
                if isSavedMeanwhile {
                    // One of its elements is another one, after each time that it was read.
                    first += 1
                    values["even"] = list(6_000, from: first)
                    saved = try await anna.save([.thing(after: saved[0], values)], in: zone)
                }
                try await server.write(part)
            }
            #expect(try await anna.names("even CONTAINS \(first)", in: zone) == ["a"])
            #expect(try await anna.names("even CONTAINS \(first + 5_999)", in: zone) == ["a"])
            #expect(try await anna.names("even CONTAINS \(first + 6_000)", in: zone).isEmpty)
            #expect(try await anna.names("age = 7", in: zone) == ["a"])
            // The sample's two, and these.
            #expect(try await server.indexEntries() == 2 + 6_000 + 1)
        }
    }

    /// A place that is not on the earth has no entry: whether a list is entered, the next place tells.
    @Test func whatHasNoEntryTellsNothingOfAList() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let nowhere = Value.location(Location(latitude: 91, longitude: 0))
            _ = try await anna.save([.thing("a", ["places": .list([.location(QueryTests.rome)])])], in: zone)
            try await server.services.database.read { connection in
                let row = try #require(
                    try connection.first(
                        "SELECT \(ZoneRow.columns) FROM zone z WHERE z.name = 'notes'", [], ZoneRow.init))
                let field = try #require(
                    try connection.first("SELECT id FROM schema_field WHERE name = 'places'") { try $0.int64("id") })
                let index = RecordIndex(zone: row, connection: connection)
                for (place, isThere) in [(QueryTests.rome, true), (QueryTests.milan, false)] {
                    let list = Value.list([nowhere, .location(place)])
                    #expect(try index.has(list, of: "a", field: field) == isThere)
                }
                #expect(try index.has(.list([nowhere]), of: "a", field: field))
            }
        }
    }

    /// What is saved after it was read, and before it is entered, is entered by its save alone.
    @Test func whatIsSavedMeanwhileIsNotEnteredAsItWas() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let saved = try await anna.save(
                [
                    .thing("a", ["age": .int64(1), "name": .string("early")]), .thing("b", ["age": .int64(1)]),
                    .thing("c", ["age": .int64(1)]),
                ], in: zone)
            try await server.setIndexes(of: "age", from: [.queryable, .sortable], to: [])
            try await server.makeIndexes()
            try await server.setIndexes(of: "age", from: [], to: [.queryable, .sortable])
            // To the zone, what is there out of the way, then the records.
            for _ in 0..<2 { try await server.write(try #require(try await server.nextIndexPart())) }
            let part = try #require(try await server.nextIndexPart())
            _ = try await anna.save([.thing(after: saved[0], ["age": .int64(2), "name": .string("late")])], in: zone)
            #expect(try await anna.codes([Self.deletion(saved[1])], in: zone) == [nil])
            try await server.write(part)
            // The same once more, which somebody else has done by now.
            try await server.write(part)
            try await server.makeIndexes()
            #expect(try await anna.names("age = 1", in: zone) == ["c"])
            #expect(try await anna.names("age = 2", in: zone) == ["a"])
            #expect(try await anna.names("self CONTAINS 'late'", in: zone) == ["a"])
            #expect(try await anna.names("self CONTAINS 'early'", in: zone).isEmpty)
            // Two ages and a name.
            #expect(try await server.indexEntries() == 3)
        }
    }

    /// A save enters what it changes. What it leaves as it was, the index that is made meanwhile has all the same.
    @Test(arguments: ["age", "tags", "name", "___createTime"]) func whatASaveLeavesAsItWasIsEntered(
        field: String
    ) async throws {
        try await QueryTests.withZone { anna, zone, server in
            let fields: [String: Value] = [
                "age": .int64(1), "tags": .list([.int64(1), .int64(2)]), "name": .string("early words"),
                "ratio": .double(1),
            ]
            let saved = try await anna.save(["a", "b", "c", "d"].map { .thing($0, fields) }, in: zone)
            var indexes: RecordType.Indexes = [.queryable, .sortable]
            if field == "name" { indexes.insert(.searchable) }
            if field == "tags" { indexes = .queryable }
            if field == "___createTime" {
                var schema = try await server.schema().schema
                schema.types["Thing"]?.fields[field] = RecordType.Field(ValueType(.date), indexes: indexes)
                try await server.deploy(schema, to: .development)
            } else {
                try await server.setIndexes(of: field, from: indexes, to: [])
                try await server.makeIndexes()
            }
            try await server.setIndexes(of: field, from: [], to: indexes)
            // To the zone, what is there out of the way, then the records.
            for _ in 0..<2 { try await server.write(try #require(try await server.nextIndexPart())) }
            let part = try #require(try await server.nextIndexPart())
            var changed = fields
            changed["ratio"] = .double(2)
            var moved: [SavedRecord] = []
            for record in [saved[0], saved[2], saved[3]] {
                moved += try await anna.save([.thing(after: record, changed)], in: zone)
            }
            #expect(try await anna.codes([Self.deletion(saved[1])], in: zone) == [nil])
            try await server.write(part)
            // Once more while it goes on: a part begins with what was saved since it was read.
            let next = try #require(try await server.nextIndexPart())
            changed["ratio"] = .double(3)
            _ = try await anna.save(moved.map { .thing(after: $0, changed) }, in: zone)
            try await server.write(next)
            try await server.makeIndexes()
            let queries = [
                "age": ["age = 1"], "tags": ["tags CONTAINS 1", "tags CONTAINS 2"],
                "name": ["name = 'early words'", "self CONTAINS 'words'"], "___createTime": [],
            ]
            for query in queries[field] ?? [] {
                #expect(try await anna.names(query, in: zone) == ["a", "c", "d"], "\(query)")
            }
            if field == "___createTime" {
                #expect(try await anna.names("creationDate > %@", Value.date(-1e300), in: zone) == ["a", "c", "d"])
            }
        }
    }

    /// Whoever has very many fields in one container keeps no other one waiting.
    @Test func containersTakeTurns() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let names = (0..<5).map { "field\($0)" }
            let fields = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.int64(1)) })
            for batch in [0, 150] {
                _ = try await anna.save((batch..<batch + 150).map { .thing("r\($0)", fields) }, in: zone)
            }
            for name in names { try await server.setIndexes(of: name, from: [.queryable, .sortable], to: []) }
            try await server.makeIndexes()
            for name in names { try await server.setIndexes(of: name, from: [], to: .queryable) }
            // It comes last, with the highest number.
            let other = SchemaChange(
                container: "org.example.other", environment: .production,
                indexes: [
                    .init(
                        id: 1_000_000, type: "Thing", field: "age", kind: ValueType(.int64), before: [],
                        after: .queryable)
                ])
            try await server.services.database.write(at: .everything) { connection in
                try IndexBuilds.note(other, connection)
            }
            var parts = 0
            var last: IndexPart?
            while parts < 100,
                try await server.services.database.read({
                    try $0.exists("SELECT 1 FROM index_build WHERE field = 1000000")
                })
            {
                let part = try #require(try await server.nextIndexPart(after: last))
                try await server.write(part)
                last = part
                parts += 1
            }
            #expect(parts <= 4)
            try await server.makeIndexes()
            #expect(try await anna.names("field4 = 1", in: zone).count == 300)
        }
    }

    /// A part that was read before its index began anew is not entered.
    @Test func anIndexThatBeganAnewTakesNothingOfTheOneBefore() async throws {
        try await QueryTests.withZone { anna, zone, server in
            _ = try await anna.save([.thing("a", ["age": .int64(1)])], in: zone)
            try await server.setIndexes(of: "age", from: [.queryable, .sortable], to: [])
            try await server.makeIndexes()
            try await server.setIndexes(of: "age", from: [], to: [.queryable, .sortable])
            for _ in 0..<2 { try await server.write(try #require(try await server.nextIndexPart())) }
            let part = try #require(try await server.nextIndexPart())
            try await server.setIndexes(of: "age", from: [.queryable, .sortable], to: [])
            try await server.write(part)
            #expect(try await server.indexEntries() == 0)
            #expect(try await server.nextIndexPart() != nil)
        }
    }

    /// Short texts are read in the writer, long ones before it: both are found.
    @Test func subscribersOfPublicDatabasesAreToldOfWordsInLongTexts() async throws {
        try await RunningServer.with { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            _ = try await anna.savePublic([PublicWrite("first")])
            let words = Query.Predicate([Query.Condition(.words("needle", all: true))])
            let results = try await bert.modifySubscriptions(saving: [.query("q", where: words)], in: "public")
            #expect(results.map(\.failure.code) == [""])
            let events = try await bert.listen()
            let hay = String(repeating: "hay ", count: 5_000)
            _ = try await anna.savePublic([PublicWrite("hay", hay)])
            _ = try await anna.savePublic([PublicWrite("long", hay + "needle " + hay)])
            _ = try await anna.savePublic([PublicWrite("short", "a needle")])
            #expect(try await events.notification().recordName == "long")
            #expect(try await events.notification().recordName == "short")
        }
    }
}
