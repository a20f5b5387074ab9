import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What queries find.
@Suite(.timeLimit(.minutes(60))) struct QueryTests {
    static func withZone(_ body: @Sendable (Person, TestZone, RunningServer) async throws -> Void) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await body(anna, try await anna.makeZone(), server)
        }
    }

    static let rome = Location(latitude: 41.9028, longitude: 12.4964)
    static let milan = Location(latitude: 45.4642, longitude: 9.19)

    /// Saves things and gives what is needed to change them.
    static func save(_ things: [String: [String: Value]], by person: Person, in zone: TestZone) async throws -> [String:
        SavedRecord]
    {
        let saved = try await person.save(things.map { .thing($0.key, $0.value) }, in: zone)
        #expect(saved.allSatisfy { $0.result.code == nil })
        return Dictionary(uniqueKeysWithValues: saved.map { ($0.name, $0) })
    }

    static func query(_ text: String, _ sort: Query.SortDescriptor..., type: String = "Thing") throws -> Query {
        Query(recordType: type, predicate: try Query.Predicate(text), sortDescriptors: sort)
    }

    @Test func everyOperatorFindsWhatItShould() async throws {
        try await Self.withZone { anna, zone, server in
            _ = try await Self.save(
                [
                    "a": [
                        "age": .int64(3), "name": .string("Anna"), "tags": .list([.string("red"), .string("Blue")]),
                    ],
                    "b": ["age": .int64(5), "name": .string("bert"), "tags": .list([]), "ratio": .double(2.5)],
                    "c": [
                        "age": .int64(-7), "name": .string("ANNA maria"), "place": .location(Self.milan),
                        "day": .date(9.1),
                    ],
                    "d": [
                        "owner": .reference(ReferenceValue(recordName: "a")), "numbers": .list([.int64(1), .int64(1)]),
                    ],
                ], by: anna, in: zone)
            _ = try await anna.save([.thing("z", ["age": .int64(3)], type: "Other")], in: zone)
            #expect(try await anna.names("TRUEPREDICATE", in: zone) == ["a", "b", "c", "d"])
            #expect(try await anna.names("FALSEPREDICATE", in: zone) == [])
            #expect(try await anna.names("age = 3", in: zone) == ["a"])
            #expect(try await anna.names("age != 3", in: zone) == ["b", "c"])
            #expect(try await anna.names("age < 3", in: zone) == ["c"])
            #expect(try await anna.names("age <= 3.5", in: zone) == ["a", "c"])
            #expect(try await anna.names("age > -7", in: zone) == ["a", "b"])
            #expect(try await anna.names("age >= -7 AND age < 5", in: zone) == ["a", "c"])
            #expect(try await anna.names("age BETWEEN {3, 5}", in: zone) == ["a", "b"])
            #expect(try await anna.names("age IN {3, -7, 100}", in: zone) == ["a", "c"])
            #expect(try await anna.names("age IN {}", in: zone) == [])
            #expect(try await anna.names("age IN {3, 5, -7} AND age IN {9, 5, 4, -7}", in: zone) == ["b", "c"])
            #expect(try await anna.names("NOT age IN {3}", in: zone) == ["b", "c"])
            #expect(try await anna.names("NOT age > 3", in: zone) == ["a", "c"])
            #expect(try await anna.names("ratio = 2.5", in: zone) == ["b"])
            #expect(try await anna.names("ratio > 2", in: zone) == ["b"])
            #expect(try await anna.names("name = 'ANNA'", in: zone) == ["a"])
            #expect(try await anna.names("name BEGINSWITH 'An'", in: zone) == ["a"])
            #expect(try await anna.names("NOT name BEGINSWITH 'An'", in: zone) == ["b", "c"])
            #expect(try await anna.names("tags CONTAINS 'blue'", in: zone) == ["a"])
            #expect(try await anna.names("NOT tags CONTAINS 'blue'", in: zone) == ["b"])
            #expect(try await anna.names("ANY tags IN {'red', 'blue'}", in: zone) == ["a"])
            #expect(try await anna.names("tags CONTAINS 'red' AND tags CONTAINS 'blue'", in: zone) == ["a"])
            #expect(try await anna.names("1 IN numbers", in: zone) == ["d"])
            #expect(try await anna.names("self CONTAINS 'maria blue'", in: zone) == ["a", "c"])
            #expect(try await anna.names("allTokens TOKENMATCHES[cdl] 'anna blue'", in: zone) == ["a"])
            #expect(try await anna.names("self CONTAINS 'anna' AND self CONTAINS 'maria'", in: zone) == ["c"])
            #expect(try await anna.names("self CONTAINS 'ann'", in: zone) == [])
            #expect(try await anna.names("owner = %@", ReferenceValue(recordName: "a"), in: zone) == ["d"])
            #expect(try await anna.names("day <= %@", Date(timeIntervalSinceReferenceDate: 9.1), in: zone) == ["c"])
            #expect(try await anna.names("day < %@", Date(timeIntervalSinceReferenceDate: 9.1), in: zone) == [])
            #expect(try await anna.names("recordID = 'b'", in: zone) == ["b"])
            #expect(try await anna.names("recordName IN {'b', 'd', 'z'}", in: zone) == ["b", "d"])
            let near = "distanceToLocation:fromLocation:(place, %@) < "
            #expect(try await anna.names(near + "478000", Self.rome, in: zone) == ["c"])
            #expect(try await anna.names(near + "476000", Self.rome, in: zone) == [])
        }
    }

    /// By the date that apps see of them: what one of them says finds the record, and the next double on either side
    /// does not.
    @Test func systemDatesAreComparedAsTheyAreShown() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server).inProduction
            let marked = RecordType.Field(ValueType(.date), indexes: [.queryable, .sortable])
            var schema = Schema()
            schema.types["Thing"] = RecordType(
                name: "Thing", fields: ["age": .init(ValueType(.int64)), "___createTime": marked, "___modTime": marked])
            try await server.deploy(schema)
            let zone = try await anna.makeZone()
            var dates: [Double] = []
            for (index, step) in [0, 1, 1, 123_457, 4_000_000].enumerated() {
                server.clock.set(server.clock.now + Int64(step))
                dates.append(ReferenceDate.seconds(ofMicroseconds: server.clock.now))
                _ = try await Self.save(["r\(index)": ["age": .int64(1)]], by: anna, in: zone)
            }
            for key in ["creationDate", "modificationDate"] {
                for (index, seconds) in dates.enumerated() {
                    #expect(try await anna.names("\(key) = %@", Value.date(seconds), in: zone) == ["r\(index)"])
                    #expect(try await anna.names("\(key) = %@", Value.date(seconds.nextUp), in: zone) == [])
                    #expect(
                        try await anna.names("\(key) <= %@", Value.date(seconds.nextDown), in: zone)
                            == (0..<index).map { "r\($0)" })
                    #expect(
                        try await anna.names("\(key) > %@", Value.date(seconds), in: zone)
                            == ((index + 1)..<5).map { "r\($0)" })
                }
                #expect(try await anna.names("\(key) < %@", Value.date(-1e300), in: zone) == [])
                #expect(try await anna.names("\(key) < %@", Value.date(1e300), in: zone).count == 5)
            }
        }
    }

    @Test func answersVerifyAndHoldWhatWasAskedFor() async throws {
        try await Self.withZone { anna, zone, _ in
            _ = try await Self.save(["a": ["age": .int64(3), "name": .string("x")]], by: anna, in: zone)
            let all = try await anna.query(try Self.query("age = 3"), in: zone)
            #expect(all.scopes.map(\.head) == [Data(zone.roster.head.bytes)] && all.matches.map(\.scope) == [0])
            _ = try anna.open(all.matches[0].record, in: zone)
            let part = try await anna.query(try Self.query("age = 3"), in: zone, keys: ["name"]).matches[0].record
            _ = try anna.open(part, in: zone)
            #expect(part.fields.map { if case .omitted = $0.content { $0.name } else { "" } } == ["age", ""])
        }
    }

    /// Random records and queries: the server finds what going through all records by hand finds, in the order that was
    /// asked for.
    @Test func whatIndexesFindIsWhatEvaluationFinds() async throws {
        try await Self.withZone { anna, zone, server in
            let texts = ["", "a", "A", "ab", "b c", "É", "e\u{301}"]
            func fields() -> [String: Value] {
                var fields: [String: Value] = [:]
                if Int.random(in: 0..<4) > 0 { fields["age"] = .int64(.random(in: -3...3)) }
                if Int.random(in: 0..<4) > 0 { fields["name"] = .string(texts.randomElement() ?? "") }
                if Bool.random() { fields["ratio"] = .double([0, -0.0, 1.5, .infinity, .nan].randomElement() ?? 0) }
                if Bool.random() {
                    fields["tags"] = .list((0..<Int.random(in: 0..<3)).map { _ in .int64(.random(in: 0...3)) })
                }
                if Bool.random() {
                    fields["place"] = .location(
                        Location(latitude: .random(in: -90...90), longitude: .random(in: -180...180)))
                }
                return fields
            }
            var things: [String: [String: Value]] = [:]
            for index in 0..<120 { things["r\(index)"] = fields() }
            things["all"] = [
                "age": .int64(1), "name": .string("x"), "ratio": .double(1), "tags": .list([.int64(1)]),
                "place": .location(Self.rome),
            ]
            let saved = try await Self.save(things, by: anna, in: zone)
            for name in things.keys.shuffled().prefix(40) where name != "all" {
                let record = try #require(saved[name])
                if Bool.random() {
                    things[name] = fields()
                    #expect(try await anna.codes([.thing(after: record, things[name] ?? [:])], in: zone) == [nil])
                } else {
                    things[name] = nil
                    #expect(try await anna.codes([.deletion(of: record)], in: zone) == [nil])
                }
            }
            func number() -> Value {
                Bool.random() ? .int64(.random(in: -3...3)) : .double([0, 1.5, -0.5, .nan].randomElement() ?? 0)
            }
            func condition() -> Query.Condition {
                let numeric = ["age", "ratio"].randomElement() ?? "age"
                let test: Query.Test =
                    switch Int.random(in: 0..<9) {
                    case 0, 1: .compare(numeric, Query.Comparison.allCases.randomElement() ?? .less, number())
                    case 2: .between(numeric, number(), number())
                    case 3: .isIn(numeric, [number(), number()])
                    case 4: .beginsWith("name", texts.randomElement() ?? "")
                    case 5:
                        .compare(
                            "name", Query.Comparison.allCases.randomElement() ?? .less,
                            .string(texts.randomElement() ?? ""))
                    case 6: .contains("tags", .int64(.random(in: 0...3)))
                    case 7: .words("b x", all: Bool.random())
                    default:
                        .near(
                            "place", latitude: .random(in: -90...90), longitude: .random(in: -180...180),
                            metres: .random(in: 1e6...1e7))
                    }
                return Query.Condition(
                    test,
                    isNegated: {
                        if case .between = test {
                            false
                        } else if case .near = test {
                            false
                        } else if case .words = test {
                            false
                        } else {
                            Bool.random()
                        }
                    }())
            }
            let sorts: [[Query.SortDescriptor]] = [
                [], [], [.init(key: "age", ascending: true)], [.init(key: "name", ascending: false)],
                [.init(key: "age", ascending: false), .init(key: "name", ascending: true)],
                [.init(key: "place", relativeLocation: Self.rome)],
                [.init(key: "recordID", ascending: false)],
            ]
            for _ in 0..<150 {
                let query = Query(
                    recordType: "Thing", predicate: .init((0..<Int.random(in: 0..<3)).map { _ in condition() }),
                    sortDescriptors: sorts.randomElement() ?? [])
                let found: [String]
                do {
                    found = try await anna.names(query, in: zone, limit: UInt32.random(in: 1...20))
                } catch let refusal as Refusal {
                    // The one thing that evaluation could do and the server does not.
                    #expect(
                        refusal.failure.reason.contains("___recordID") || refusal.failure.reason.contains("sortable"),
                        "\(refusal) \(query)")
                    continue
                }
                let subjects = things.mapValues { $0 }.map {
                    Query.Subject(recordType: "Thing", recordName: $0.key, fields: $0.value)
                }
                let wanted = subjects.filter { query.matches($0) }
                #expect(found.sorted() == wanted.map(\.recordName).sorted(), "\(query)")
                let byName = Dictionary(uniqueKeysWithValues: wanted.map { ($0.recordName, $0) })
                let keys = found.compactMap { byName[$0].flatMap { query.sortKeys(of: $0) } }
                for (first, second) in zip(keys, keys.dropFirst()) {
                    #expect(query.isOrdered(first, second), "\(query)")
                }
            }
        }
    }

    @Test func indexesFollowSavesAndDeletions() async throws {
        try await Self.withZone { anna, zone, server in
            func rows() async throws -> [Int64] {
                try await server.services.database.read { connection in
                    try ["record_index", "search_document"].map { table in
                        try connection.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") } ?? -1
                    }
                }
            }
            var saved = try await Self.save(
                [
                    "a": [
                        "age": .int64(3), "name": .string("one two"), "tags": .list([.int64(1), .int64(2), .int64(1)]),
                    ]
                ], by: anna, in: zone)
            #expect(try await rows() == [4, 1])
            saved["a"] = try await anna.save(
                [.thing(after: try #require(saved["a"]), ["age": .int64(3), "name": .string("two three")])], in: zone)[
                    0]
            #expect(try await rows() == [2, 1])
            #expect(try await anna.names("self CONTAINS 'one'", in: zone) == [])
            #expect(try await anna.names("self CONTAINS 'three'", in: zone) == ["a"])
            saved["a"] = try await anna.save([.deletion(of: try #require(saved["a"]))], in: zone)[0]
            #expect(try await rows() == [0, 0])
            #expect(try await anna.names("self CONTAINS 'three'", in: zone) == [])
            // Made again after its tombstone.
            let tombstone = try #require(saved["a"])
            var again = Write.thing(after: tombstone, ["age": .int64(9)])
            again.tag = ""
            #expect(try await anna.codes([again], in: zone) == [nil])
            #expect(try await anna.names("age = 9", in: zone) == ["a"])
            // A record of encrypted fields alone leaves nothing.
            var sealed = Write("s", nil)
            sealed.type = "Thing"
            sealed.fields = [("secret", .encrypted(.string("words")))]
            #expect(try await anna.codes([sealed], in: zone) == [nil])
            #expect(try await rows() == [1, 0])
            _ = try await Self.save(["b": ["name": .string("words")]], by: anna, in: zone)
            _ = try await anna.deleteZone(zone)
            #expect(try await rows() == [0, 0])
            let terms = try await server.services.database.read { connection in
                let isSQLite = connection.dialect == .sqlite
                let term = "1_1_thing_words"
                return try connection.rows(
                    isSQLite
                        ? "SELECT rowid AS id FROM search_term WHERE search_term MATCH $1"
                        : "SELECT id FROM search_document WHERE $1 = ANY(string_to_array(terms, ' '))",
                    [.text(isSQLite ? "\"\(term)\"" : term)]
                ) { try $0.int64("id") }
            }
            #expect(terms.isEmpty)
        }
    }
}
