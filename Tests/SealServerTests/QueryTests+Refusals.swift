import Foundation
import SealEnvelope
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What is refused, what waits, and what a query costs.
@Suite(.timeLimit(.minutes(60))) struct QueryRefusalTests {
    private func reason(_ query: Query, by person: Person, in zone: TestZone?, shared: Bool = false) async throws -> (
        ErrorCode?, String
    ) {
        do {
            _ = try await person.query(query, in: zone, shared: shared)
            return (nil, "")
        } catch let refusal as Refusal {
            #expect(!refusal.failure.remedy.isEmpty)
            return (refusal.code, refusal.failure.reason)
        }
    }

    @Test func whatTheSchemaDoesNotAllow() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            var write = Write.thing(
                "a",
                [
                    "age": .int64(1), "name": .string("x"), "place": .location(QueryTests.rome),
                    "tags": .list([.int64(1)]), "bytes": .data([1]),
                ])
            write.fields.append(("zsecret", .encrypted(.string("x"))))
            #expect(try await anna.codes([write], in: zone) == [nil])
            let table: [(String, ErrorCode, String)] = [
                ("gone = 1", .invalidArguments, "no field gone"), ("zsecret = 'x'", .invalidArguments, "encrypted"),
                ("age = 'x'", .invalidArguments, "another kind"), ("name = 1", .invalidArguments, "another kind"),
                ("tags = 1", .invalidArguments, "is a list"), ("name CONTAINS 'x'", .invalidArguments, "not a list"),
                ("tags CONTAINS 'x'", .invalidArguments, "another kind"),
                ("age BEGINSWITH 'x'", .invalidArguments, "another kind"),
                ("bytes = 1", .invalidArguments, "bytes is not marked queryable"),
                ("creationDate > now", .invalidArguments, "___createTime is not marked"),
            ]
            for (text, code, word) in table {
                let (found, reason) = try await reason(QueryTests.query(text), by: anna, in: zone)
                #expect(found == code, "\(text): \(reason)")
                #expect(reason.contains(word), "\(text): \(reason)")
            }
            func sorted(_ descriptor: Query.SortDescriptor) async throws -> String {
                let (code, reason) = try await reason(QueryTests.query("age = 1", descriptor), by: anna, in: zone)
                #expect(code == .invalidArguments)
                return reason
            }
            #expect(try await sorted(.init(key: "tags", ascending: true)).contains("sortable"))
            #expect(try await sorted(.init(key: "zsecret", ascending: true)).contains("encrypted"))
            #expect(try await sorted(.init(key: "place", ascending: true)).contains("sortable"))
            #expect(try await sorted(.init(key: "age", relativeLocation: QueryTests.rome)).contains("its kind"))
            #expect(
                try await reason(QueryTests.query("age = 1", type: "Nothing"), by: anna, in: zone).0 == .unknownItem)
            #expect(
                try await reason(QueryTests.query("self CONTAINS 'x'", type: "Users"), by: anna, in: zone).1.contains(
                    "searchable"))
        }
    }

    @Test func assetsAreNotCompared() async throws {
        try await QueryTests.withZone { anna, zone, server in
            var schema = Schema()
            schema.types["Thing"] = RecordType(name: "Thing", fields: ["scan": .init(ValueType(.asset))])
            try await server.deploy(schema, to: .development)
            #expect(try await reason(QueryTests.query("scan = 1"), by: anna, in: zone).1.contains("asset"))
        }
    }

    @Test func whoMayAsk() async throws {
        try await QueryTests.withZone { anna, zone, server in
            _ = try await QueryTests.save(["a": ["age": .int64(1)]], by: anna, in: zone)
            let bert = try await Person.ready(server)
            let query = try QueryTests.query("age = 1")
            // Nobody else's zone, nor anything of it.
            #expect(try await refusal { try await bert.query(query, in: zone) } == .zoneNotFound)
            #expect(try await bert.names(query, in: nil) == [])
            #expect(try await refusal { try await bert.query(query, in: nil, shared: true) } == .invalidArguments)
            var stranger = bert
            stranger = Person(client: try TestClient(server), keys: bert.keys, chain: bert.chain)
            let unknown = stranger
            #expect(try await refusal { try await unknown.query(query, in: nil) } == .notAuthenticated)
            #expect(
                try await refusal {
                    try await anna.client.call(
                        anna.path("records/query"), Sealkit_V1_QueryRecordsRequest(),
                        as: Sealkit_V1_QueryRecordsResponse.self)
                } == .invalidArguments)
        }
    }

    @Test func participantsAskInTheSharedDatabase() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            _ = try await QueryTests.save(["a": ["age": .int64(1)]], by: anna, in: zone)
            let invitation = try anna.invitation(to: bert, in: zone)
            _ = try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            try await bert.accept(invitation, in: &zone)
            let found = try await bert.query(QueryTests.query("age = 1"), in: zone)
            #expect(found.matches.map(\.record.recordName) == ["a"])
            _ = try bert.open(found.matches[0].record, in: zone)
        }
    }

    @Test func thePublicDatabaseIsAskedByAnybodyWhoMayRead() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var other = PublicWrite("b", "blue words")
            other.type = "Letter"
            #expect(try await anna.publicCodes([PublicWrite("a", "red words"), other]) == [nil, nil])
            let world = try TestClient(server)
            func found(_ text: String, type: String = "Note", by client: TestClient) async throws
                -> Sealkit_V1_QueryRecordsResponse
            {
                let request = try Sealkit_V1_QueryRecordsRequest.with {
                    $0.query = try QueryTests.query(text, type: type).wire
                }
                return try await client.call(
                    Person.publicPath("records/query"), request, as: Sealkit_V1_QueryRecordsResponse.self)
            }
            for text in ["body BEGINSWITH 'red'", "self CONTAINS 'words'", "TRUEPREDICATE"] {
                let answer = try await found(text, by: world)
                #expect(answer.matches.map(\.record.recordName) == ["a"])
                #expect(answer.scopes.isEmpty)
                #expect(answer.authors.count == 1)
                try Person.verifyPublic(answer.matches[0].record, authors: answer.authors)
            }
            // Nothing of it is in anybody's private database.
            #expect(try await anna.names(QueryTests.query("TRUEPREDICATE", type: "Note"), in: nil) == [])
        }
    }

    @Test func productionAnswersWhatWasDeployed() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server).inProduction
            var schema = Schema()
            schema.types["Thing"] = RecordType(
                name: "Thing",
                fields: ["age": .init(ValueType(.int64), indexes: .queryable), "name": .init(ValueType(.string))])
            try await server.deploy(schema)
            let zone = try await anna.makeZone()
            _ = try await QueryTests.save(["a": ["age": .int64(1), "name": .string("x")]], by: anna, in: zone)
            #expect(try await anna.names("age = 1", in: zone) == ["a"])
            for (text, word) in [
                ("age > 1", "age is not marked sortable"), ("name = 'x'", "name is not marked queryable"),
                ("TRUEPREDICATE", "___recordID is not marked queryable"),
                ("recordID = 'a'", "___recordID is not marked queryable"),
                ("self CONTAINS 'x'", "searchable"),
            ] {
                let (code, reason) = try await reason(QueryTests.query(text), by: anna, in: zone)
                #expect(code == .invalidArguments, "\(text): \(reason)")
                #expect(reason.contains(word), "\(text): \(reason)")
            }
        }
    }

    /// An index that comes later: not used before it is whole, made in steps that a restart goes on with, and gone
    /// again.
    @Test func indexesAreMadeForRecordsThatWereThere() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let things = (0..<450).map {
                Write.thing("r\(1000 + $0)", ["age": .int64(Int64($0 % 3)), "name": .string("word\($0)")])
            }
            for start in stride(from: 0, to: 450, by: 225) {
                #expect(
                    try await anna.codes(Array(things[start..<start + 225]), in: zone)
                        == Array(repeating: nil, count: 225))
            }
            #expect(try await server.indexEntries() == 900)
            try await server.setIndexes(of: "age", from: [.queryable, .sortable], to: [])
            #expect(try await server.makeIndexes() > 0)
            #expect(try await server.indexEntries() == 450)
            #expect(try await reason(QueryTests.query("age = 1"), by: anna, in: zone).1.contains("not marked"))

            try await server.setIndexes(of: "age", from: [], to: .queryable)
            // Half way: not answered, not even with a part.
            for _ in 0..<2 { try await server.write(try #require(try await server.nextIndexPart())) }
            let schema = try await server.schema()
            let type = try #require(schema.indexed["Thing"])
            let isFinished = try await server.services.database.read {
                try IndexBuilds.areFinished(for: QueryTests.query("age = 1"), type, schema, in: $0)
            }
            #expect(!isFinished)
            // What is saved meanwhile is indexed by its save, and not twice.
            #expect(
                try await anna.codes([.thing("r1449x", ["age": .int64(1)]), .thing("a", ["age": .int64(1)])], in: zone)
                    == [nil, nil])
            #expect(try await server.makeIndexes() > 0)
            #expect(try await anna.names("age = 1", in: zone).count == 152)
            #expect(try await server.indexEntries() == 902)

            try await server.setIndexes(
                of: "name", from: [.queryable, .sortable, .searchable], to: [.queryable, .sortable])
            try await server.makeIndexes()
            try await server.setIndexes(
                of: "name", from: [.queryable, .sortable], to: [.queryable, .sortable, .searchable])
            try await server.makeIndexes()
            #expect(try await anna.names("self CONTAINS 'word17'", in: zone) == ["r1017"])
        }
    }

    @Test func aQueryThatComesTooEarlyIsToldSoAndTheIndexIsMade() async throws {
        try await QueryTests.withZone { anna, zone, server in
            _ = try await QueryTests.save(["a": ["age": .int64(1)]], by: anna, in: zone)
            let stored = try await server.schema()
            let id = try #require(stored.fieldID(type: "Thing", field: "age"))
            try await server.services.database.write(at: .everything) { connection in
                let index = SchemaChange.Index(
                    id: id, type: "Thing", field: "age", kind: ValueType(.int64), before: [],
                    after: [.queryable, .sortable])
                try IndexBuilds.note(
                    SchemaChange(container: TestClient.container, environment: .development, indexes: [index]),
                    connection)
            }
            let query = try QueryTests.query("age = 1")
            try await expectRefusal(.serviceUnavailable) { try await anna.query(query, in: zone) }
            // Other fields' queries need not wait.
            #expect(try await anna.names("recordID = 'a'", in: zone) == ["a"])
            while let code = try await refusal({ try await anna.query(query, in: zone) }) {
                #expect(code == .serviceUnavailable)
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try await anna.names(query, in: zone) == ["a"])
        }
    }

    /// However many are farther away, the nearest are found; and as many pages as there are records that may be put in
    /// order.
    @Test func theNearestAreFoundAmongMany() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let rome = QueryTests.rome
            var places: [String: Location] = [:]
            // Within a kilometre, and some more around three.
            for index in 0..<150 {
                places["near\(index)"] = Location(
                    latitude: rome.latitude + Double(index) * 0.00005, longitude: rome.longitude)
            }
            for index in 0..<2_000 {
                places["far\(index)"] = Location(
                    latitude: rome.latitude + 0.027 + Double(index) * 0.0000005,
                    longitude: rome.longitude - Double(index) * 0.0000003)
            }
            let things = places.sorted { $0.key < $1.key }.map { Write.thing($0.key, ["place": .location($0.value)]) }
            for start in stride(from: 0, to: things.count, by: 400) {
                let codes = try await anna.codes(Array(things[start..<min(start + 400, things.count)]), in: zone)
                #expect(codes == Array(repeating: nil, count: codes.count))
            }
            func distance(_ name: String, _ centre: Location) throws -> Double {
                let place = try #require(places[name])
                return Distance.metres(centre.latitude, centre.longitude, place.latitude, place.longitude)
            }
            for centre in [rome, Location(latitude: 40.7128, longitude: -74.006)] {
                let query = Query(
                    recordType: "Thing", predicate: Query.Predicate([]),
                    sortDescriptors: [Query.SortDescriptor(key: "place", relativeLocation: centre)])
                var (names, cursor): ([String], Data) = ([], Data())
                while names.count < 1_000 {
                    let page = try await anna.query(query, in: zone, cursor: cursor, limit: 200, keys: [])
                    names += page.matches.map(\.record.recordName)
                    cursor = page.cursor
                    try #require(!cursor.isEmpty)
                }
                let found = try names.map { try distance($0, centre) }
                let wanted = try places.keys.map { try distance($0, centre) }.sorted().prefix(found.count)
                #expect(Set(names).count == names.count)
                #expect(found == Array(wanted))
                // Beyond what may be put in order there is no end of it without a condition.
                try await expectRefusal(.limitExceeded) { try await anna.names(query, in: zone, limit: 400) }
            }
        }
    }

    /// What a circle has found, a larger one does not read again.
    @Test func byDistanceEachRecordIsReadOnce() async throws {
        let reads = Mutex(0)
        let counter = StatementCounter { sql, _ in
            if sql.contains("FROM record WHERE owner = $1 AND zone = $2 AND name = $3") { reads.withLock { $0 += 1 } }
        }
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            for start in stride(from: 0, to: 1_200, by: 400) {
                let things = (start..<start + 400).map { index in
                    let place = Location(
                        latitude: QueryTests.rome.latitude + Double(index) * 0.000001, longitude: 12.4964)
                    return Write.thing("r\(index)", ["place": .location(place), "name": .string("n\(index)")])
                }
                let codes = try await anna.codes(things, in: zone)
                #expect(codes == Array(repeating: nil, count: codes.count))
            }
            // Nothing begins so; what does is looked for among all.
            let query = Query(
                recordType: "Thing", predicate: try Query.Predicate("name BEGINSWITH 'é'"),
                sortDescriptors: [Query.SortDescriptor(key: "place", relativeLocation: QueryTests.rome)])
            reads.withLock { $0 = 0 }
            #expect(try await anna.names(query, in: zone).isEmpty)
            let whole = reads.withLock { $0 }
            #expect(whole <= 2_400)
            // And no more than a page needs.
            reads.withLock { $0 = 0 }
            let nearest = Query(
                recordType: "Thing", predicate: Query.Predicate([]),
                sortDescriptors: [Query.SortDescriptor(key: "place", relativeLocation: QueryTests.rome)])
            let page = try await anna.query(nearest, in: zone, limit: 10, keys: [])
            let first = (0..<10).map { "r\($0)" }
            #expect(page.matches.map(\.record.recordName) == first)
            let needed = reads.withLock { $0 }
            #expect(needed <= 100)
        }
    }

    /// By which condition a zone is gone through is found out within what a page may cost: the next one goes on.
    @Test func zonesAreCountedWithinAPage() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let keys = ["k1", "k2", "k3", "k4", "k5"]
            for index in 0..<9 {
                let zone = try await anna.makeZone("zone\(index)")
                var things = (0..<350).map { number in
                    Write.thing("r\(number)", Dictionary(uniqueKeysWithValues: keys.map { ($0, Value.int64(0)) }))
                }
                if index == 8 {
                    things.append(.thing("it", Dictionary(uniqueKeysWithValues: keys.map { ($0, Value.int64(7)) })))
                }
                let codes = try await anna.codes(things, in: zone)
                #expect(codes == Array(repeating: nil, count: codes.count))
            }
            let query = try QueryTests.query("k1 >= 0 AND k2 >= 0 AND k3 >= 0 AND k4 >= 0 AND k5 = 7")
            let rows = counter.rows
            let first = try await anna.query(query, in: nil, keys: [])
            #expect(counter.rows - rows < 13_000)
            #expect(first.matches.isEmpty && !first.cursor.isEmpty)
            let second = try await anna.query(query, in: nil, cursor: first.cursor, keys: [])
            #expect(second.matches.map(\.record.recordName) == ["it"])
            #expect(second.cursor.isEmpty)
        }
    }

    /// A page reads so many bytes, however few records they are.
    @Test func longRecordsEndAPageEarlier() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            for batch in 0..<14 {
                let things = (0..<2).map { index -> Write in
                    var write = Write.thing("r\(batch * 2 + index)", ["age": .int64(1)])
                    write.fields.append(("body", .encrypted(.data([UInt8](repeating: 1, count: 700_000)))))
                    return write
                }
                let codes = try await anna.codes(things, in: zone)
                #expect(codes == Array(repeating: nil, count: codes.count))
            }
            let page = try await anna.query(try QueryTests.query("age = 1"), in: zone, limit: 400, keys: [])
            // 16 MiB, and the last of them.
            #expect((20...25).contains(page.matches.count) && !page.cursor.isEmpty)
            #expect(try await anna.names("age = 1", in: zone).count == 28)
        }
    }

    /// Records that are too long to be put in order are met in it, where an index has it: a page at a time.
    @Test func longRecordsAreMetInOrder() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let things = (0..<10).map { index -> Write in
                var write = Write.thing("r\(index)", ["age": .int64(1), "name": .string("n\(9 - index)")])
                write.fields.insert(("body", .encrypted(.data([UInt8](repeating: 1, count: 20_000)))), at: 1)
                return write
            }
            #expect(try await anna.codes(things, in: zone) == Array(repeating: nil, count: 10))
            let query = try QueryTests.query("age = 1", Query.SortDescriptor(key: "name", ascending: true))
            let wanted = (0..<10).reversed().map { "r\($0)" }
            let gathered = try await pages(of: query, ordered: 30, on: server)
            let walked = try await pages(of: query, ordered: 29, on: server)
            #expect(gathered.names == wanted && gathered.count == 1)
            #expect(walked.names == wanted && walked.count == 4)
        }
    }

    /// All pages of a query, and how many they are, where each may read nine records, and put so many in order.
    private func pages(
        of query: Query, ordered: Int, on server: RunningServer
    ) async throws -> (names: [String], count: Int) {
        let type = try #require(await server.schema().indexed["Thing"])
        return try await server.services.database.read { connection in
            let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
            var (names, count, place): ([String], Int, QueryPlace?) = ([], 0, nil)
            repeat {
                var budget = QueryBudget()
                (budget.records, budget.ordered) = (9, ordered)
                let (plan, _) = try QueryPlan.make(
                    query, type, QueryDriver.all(query, type), chosen: nil, gathered: 1_000, budget: &budget, in: row,
                    connection)
                let run = QueryRun(
                    query: query, type: type, zone: row, rights: nil, snapshot: row.position, isContinued: place != nil,
                    order: QueryOrder(ascending: query.sortDescriptors.map(\.ascending)),
                    comparing: PredicateWork(query.predicate), connection: connection)
                let page = try run.page(plan, after: place, limit: 400, budget: &budget)
                names += page.found.map(\.record)
                count += 1
                place = page.reached
            } while place != nil
            return (names, count)
        }
    }

    // MARK: Comparing

    /// Comparing counts as reading does: with many values a page goes through fewer records, and puts fewer in order.
    @Test func whatIsComparedEndsAPageEarlier() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let things = (0..<10).map { Write.thing("r\($0)", ["age": .int64(1), "name": .string("é\($0)")]) }
            #expect(try await anna.codes(things, in: zone) == Array(repeating: nil, count: 10))
            // A record counts as four: 500 values, and their accents.
            let others = ["è", "ê"].map { letter in
                Query.Condition(.isIn("name", (0..<250).map { .string("\(letter)\($0)") }), isNegated: true)
            }
            let names = (0..<10).map { "r\($0)" }
            let walked = try await pages(
                of: Query(recordType: "Thing", predicate: Query.Predicate(others)), ordered: 100, on: server)
            #expect(walked.names == names && walked.count == 4)
            let one = Query.Condition(.compare("age", .equal, .int64(1)))
            let query = Query(
                recordType: "Thing", predicate: Query.Predicate([one] + others),
                sortDescriptors: [Query.SortDescriptor(key: "name", ascending: true)])
            let gathered = try await pages(of: query, ordered: 40, on: server)
            #expect(gathered.names == names && gathered.count == 1)
            let met = try await pages(of: query, ordered: 39, on: server)
            #expect(met.names == names && met.count == 4)
        }
    }

    /// What a record's lists and texts cost shows only with the record: what cannot be put in order then is met in it.
    @Test func whatTurnsOutToBeDearIsMetInOrder() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let tags = Value.list((0..<40).map { .int64(Int64($0)) })
            let things = (0..<10).map {
                Write.thing("r\($0)", ["age": .int64(1), "name": .string("n\($0)"), "tags": tags])
            }
            #expect(try await anna.codes(things, in: zone) == Array(repeating: nil, count: 10))
            // A record counts as four: 40 times 20 values.
            let query = Query(
                recordType: "Thing",
                predicate: Query.Predicate([
                    Query.Condition(.compare("age", .equal, .int64(1))),
                    Query.Condition(.containsAny("tags", (0..<20).map { .int64(-1 - Int64($0)) }), isNegated: true),
                ]), sortDescriptors: [Query.SortDescriptor(key: "name", ascending: true)])
            let names = (0..<10).map { "r\($0)" }
            let gathered = try await pages(of: query, ordered: 40, on: server)
            #expect(gathered.names == names && gathered.count == 1)
            let met = try await pages(of: query, ordered: 20, on: server)
            #expect(met.names == names && met.count == 4)
        }
    }

    /// One record must not cost more than all that a page may put in order.
    @Test func aRecordIsNotComparedWithoutEnd() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let tags = Value.list((0..<9_900).map { .int64(Int64($0)) })
            #expect(try await anna.codes([.thing("a", ["tags": tags])], in: zone) == [nil])
            let others = (0..<4).map { number in
                Query.Condition(
                    .containsAny("tags", (0..<250).map { .int64(-1 - Int64(number * 250 + $0)) }), isNegated: true)
            }
            let query = Query(recordType: "Thing", predicate: Query.Predicate(others))
            try await expectRefusal(.limitExceeded) { try await anna.query(query, in: zone) }
        }
    }

    /// However long a text is, it is compared with many values at once: one record does not spoil others' queries.
    @Test func aLongTextIsComparedWithManyValues() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let long = Value.string(String(repeating: "é", count: 400_000))
            let things = [
                Write.thing("a", ["tags": .list([.string("x"), long])]),
                Write.thing("b", ["tags": .list([.string("X")])]), Write.thing("c", ["tags": .list([.string("y")])]),
            ]
            #expect(try await anna.codes(things, in: zone) == [nil, nil, nil])
            let others = (0..<99).map { Value.string("é\($0)") }
            let query = Query(
                recordType: "Thing",
                predicate: Query.Predicate([Query.Condition(.containsAny("tags", [.string("x")] + others))]))
            let found = try await anna.names(query, in: zone)
            #expect(found.sorted() == ["a", "b"])
        }
    }

    /// However many conditions ask for words, a record's text is read once, and counts by its length.
    @Test func wordsOfACandidateAreReadOnce() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let text = String(repeating: "word ", count: 8_000)
            #expect(try await anna.codes([.thing("a", ["name": .string(text)])], in: zone) == [nil])
            let type = try #require(await server.schema().indexed["Thing"])
            let conditions = Array(repeating: Query.Condition(.words("word", all: false)), count: 50)
            let query = Query(recordType: "Thing", predicate: Query.Predicate(conditions))
            try await server.services.database.read { connection in
                let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                let run = QueryRun(
                    query: query, type: type, zone: row, rights: nil, snapshot: row.position, isContinued: false,
                    order: QueryOrder(ascending: []), comparing: PredicateWork(query.predicate), connection: connection)
                var budget = QueryBudget()
                let before = budget.records
                let found = try run.match("a", &budget)
                // 40,000 bytes are five records to read, and nineteen to find words in.
                #expect(before - budget.records >= 24)
                var subject = try #require(found)
                subject.fields = [:]
                #expect(subject.words == ["word"])
            }
        }
    }

    /// Looking for many values in zones that have none of them costs as much as finding some.
    @Test func zonesWithNothingCountByWhatIsLookedFor() async throws {
        try await QueryTests.withZone { anna, zone, server in
            #expect(try await anna.codes([.thing("a", ["age": .int64(1)])], in: zone) == [nil])
            let type = try #require(await server.schema().indexed["Thing"])
            let query = Query(
                recordType: "Thing",
                predicate: Query.Predicate([Query.Condition(.isIn("age", (0..<250).map { .int64(-1 - Int64($0)) }))]))
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
            let seal = try CursorSeal(server.services.addresses.cursorKey(), query, zone: nil, user: anna.user, path)
            try await server.services.database.read { connection in
                let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                func page(_ zones: Int) throws -> QueryPager.Page {
                    try QueryPager(
                        query: query, type: type, zones: Array(repeating: row, count: zones), rights: nil, cursor: nil,
                        seal: seal, limit: 10, connection: connection
                    ).page()
                }
                let (some, many) = (try page(40), try page(41))
                #expect(some.found.isEmpty && some.next == nil)
                #expect(many.found.isEmpty && many.next != nil)
            }
        }
    }

    /// What is counted at little cost is counted first: a list of many values does not take its place.
    @Test func conditionsOfManyValuesAreCountedLast() async throws {
        try await QueryTests.withZone { anna, zone, server in
            let things = (0..<4).map { Write.thing("r\($0)", ["age": .int64(1), "name": .string("x")]) }
            #expect(try await anna.codes(things, in: zone) == [nil, nil, nil, nil])
            let type = try #require(await server.schema().indexed["Thing"])
            let query = Query(
                recordType: "Thing",
                predicate: Query.Predicate([
                    Query.Condition(.isIn("age", (0..<250).map { .int64(Int64($0)) })),
                    Query.Condition(.isIn("name", [.string("x")] + (1..<250).map { .string("other\($0)") })),
                    Query.Condition(.compare("recordID", .equal, .string("r2"))),
                ]),
                sortDescriptors: ["age", "name"].map { Query.SortDescriptor(key: $0, ascending: true) })
            let drivers = QueryDriver.all(query, type)
            try await server.services.database.read { connection in
                let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                var budget = QueryBudget()
                budget.counted = 408
                let (plan, _) = try QueryPlan.make(
                    query, type, drivers, chosen: nil, gathered: 2, budget: &budget, in: row, connection)
                guard case .gather(let driver, _) = plan else {
                    Issue.record("\(plan)")
                    return
                }
                #expect(driver.key == "recordID")
            }
        }
    }

    @Test func aQueryReadsWhatItFinds() async throws {
        try await QueryTests.withZone { anna, zone, server in
            for start in stride(from: 0, to: 2000, by: 400) {
                let things = (start..<start + 400).map {
                    Write.thing("r\($0)", ["age": .int64(Int64($0 % 200)), "name": .string("n\($0 % 500)")])
                }
                #expect(try await anna.codes(things, in: zone) == Array(repeating: nil, count: 400))
            }
            let type = try #require(await server.schema().indexed["Thing"])
            let (rows, plan) = try await server.services.database.read { connection -> (Int, String) in
                let row = try #require(try connection.first("SELECT \(ZoneRow.columns) FROM zone z", [], ZoneRow.init))
                let counting = CountingConnection(connection)
                let query = try QueryTests.query("age = 7 AND name >= 'n'")
                let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
                let pager = QueryPager(
                    query: query, type: type, zones: [row], rights: nil, cursor: nil,
                    seal: try CursorSeal(server.services.addresses.cursorKey(), query, zone: row, user: nil, path),
                    limit: 400,
                    connection: counting)
                #expect(try pager.page().found.count == 10)
                guard connection.dialect == .sqlite else { return (counting.rows, "") }
                let plan = try connection.rows(
                    "EXPLAIN QUERY PLAN " + QueryDriver.ascending,
                    row.key + [.integer(1), .blob([1]), .text(""), .blob([2]), .integer(10)]
                ) { try $0.text("detail") }
                return (counting.rows, plan.joined(separator: "; "))
            }
            // The matches are counted once, read once as entries and once as records; the other condition is counted as
            // far.
            #expect(rows <= 45, "\(rows)")
            guard !TestPostgres.isForAll else { return }
            #expect(plan.contains("SEARCH record_index USING COVERING INDEX"), "\(plan)")
            #expect(plan.contains("(value,record)>(?,?) AND value<?"), "\(plan)")
            #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
        }
    }
}

/// Counts the rows that a connection hands over.
private final class CountingConnection: SQLConnection {
    private let next: any SQLConnection
    private(set) var rows = 0

    init(_ next: any SQLConnection) { self.next = next }

    func run(_ sql: String, _ values: [SQLValue], eachRow: (any SQLRow) throws -> Bool) throws -> Int {
        try next.run(sql, values) { row in
            rows += 1
            return try eachRow(row)
        }
    }

    func runScript(_ sql: String) throws { try next.runScript(sql) }
    func announce(_ announcement: Announcement) { next.announce(announcement) }
    var dialect: SQLDialect { next.dialect }
}
