import Foundation
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Pages: nothing twice, nothing left out that stood still, nothing believed that a cursor says.
@Suite(.timeLimit(.minutes(60))) struct QueryCursorTests {
    private func things(_ count: Int) -> [String: [String: Value]] {
        Dictionary(
            uniqueKeysWithValues: (0..<count).map {
                ("r\(100 + $0)", ["age": .int64(Int64($0)), "half": .int64(Int64($0 / 2))])
            })
    }

    static let orders: [[Query.SortDescriptor]] = [
        [], [.init(key: "age", ascending: true)], [.init(key: "age", ascending: false)],
        [.init(key: "half", ascending: true), .init(key: "age", ascending: false)],
        [.init(key: "recordID", ascending: true)],
    ]

    @Test(arguments: orders) func pagesStayRightWhileDataChanges(_ sort: [Query.SortDescriptor]) async throws {
        try await QueryTests.withZone { anna, zone, _ in
            var saved = try await QueryTests.save(things(30), by: anna, in: zone)
            let query = Query(recordType: "Thing", predicate: try Query.Predicate("age >= 0"), sortDescriptors: sort)
            var still = Set(saved.keys)
            var seen: [String] = []
            var cursor = Data()
            var round = 0
            repeat {
                let page = try await anna.query(query, in: zone, cursor: cursor, limit: 4)
                seen += page.matches.map(\.record.recordName)
                cursor = page.cursor
                round += 1
                // Others insert before, between and after, delete, and move records across the place where the reader
                // is.
                let victim = try #require(saved.keys.filter { still.contains($0) }.randomElement())
                let mover = try #require(saved.keys.filter { still.contains($0) && $0 != victim }.randomElement())
                still.subtract([victim, mover])
                var writes = [Write.deletion(of: try #require(saved[victim]))]
                writes.append(
                    .thing(
                        after: try #require(saved[mover]),
                        ["age": .int64(.random(in: 0...60)), "half": .int64(.random(in: 0...30))]))
                writes.append(
                    .thing("n\(round)", ["age": .int64(.random(in: 0...60)), "half": .int64(.random(in: 0...30))]))
                writes.append(.thing("s\(round)", ["age": .int64(0), "half": .int64(0)]))
                #expect(try await anna.codes(writes, in: zone) == [nil, nil, nil, nil])
                saved[victim] = nil
                saved[mover] = nil
            } while !cursor.isEmpty
            #expect(Set(seen).count == seen.count, "\(seen)")
            #expect(still.isSubset(of: seen))
        }
    }

    @Test func anEditThatMovesNothingHidesNothing() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let saved = try await QueryTests.save(things(6), by: anna, in: zone)
            let query = try QueryTests.query("age >= 0", .init(key: "age", ascending: true))
            let first = try await anna.query(query, in: zone, limit: 3)
            let last = try #require(saved["r105"])
            #expect(
                try await anna.codes([.thing(after: last, ["age": .int64(5), "half": .int64(77)])], in: zone) == [nil])
            let rest = try await anna.query(query, in: zone, cursor: first.cursor, limit: 3)
            #expect((first.matches + rest.matches).map(\.record.recordName) == (100..<106).map { "r\($0)" })
            #expect(rest.cursor.isEmpty)
        }
    }

    /// What an app does with its results: the element that each was found by is taken off of it.
    @Test func aListThatLosesAnElementComesOnce() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            func tags(_ tags: String...) -> [String: Value] { ["tags": .list(tags.map { .string($0) })] }
            let saved = try await QueryTests.save(["r0": tags("a", "b"), "r1": tags("b")], by: anna, in: zone)
            let query = try QueryTests.query("ANY tags IN {'a', 'b'}")
            let first = try await anna.query(query, in: zone, limit: 1)
            let found = try #require(saved["r0"])
            #expect(try await anna.codes([.thing(after: found, tags("b"))], in: zone) == [nil])
            let rest = try await anna.query(query, in: zone, cursor: first.cursor)
            #expect((first.matches + rest.matches).map(\.record.recordName) == ["r0", "r1"])
        }
    }

    @Test func aTextThatIsEmptiedAndFilledComesOnce() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            var found = try await anna.save([.thing("r0", ["name": .string("x")])], in: zone)[0]
            #expect(try await anna.codes([.thing("r1", ["name": .string("x")])], in: zone) == [nil])
            let query = try QueryTests.query("self CONTAINS 'x'")
            let first = try await anna.query(query, in: zone, limit: 1)
            found = try await anna.save([.thing(after: found, ["name": .string("")])], in: zone)[0]
            #expect(try await anna.codes([.thing(after: found, ["name": .string("x")])], in: zone) == [nil])
            let rest = try await anna.query(query, in: zone, cursor: first.cursor)
            #expect((first.matches + rest.matches).map(\.record.recordName) == ["r0", "r1"])
        }
    }

    @Test func zonesOfADatabaseAreAskedTogether() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let other = try await anna.makeZone("other")
            let third = try await anna.makeZone("third")
            _ = try await QueryTests.save(
                ["a": ["age": .int64(1)], "b": ["age": .int64(4)], "e": ["age": .int64(4)]], by: anna, in: zone)
            _ = try await QueryTests.save(["a": ["age": .int64(2)], "c": ["age": .int64(4)]], by: anna, in: other)
            _ = try await QueryTests.save(["d": ["age": .int64(3)], "b": ["age": .int64(4)]], by: anna, in: third)
            for limit: UInt32 in [0, 1, 2, 3] {
                let up = try await anna.names(
                    QueryTests.query("age > 0", .init(key: "age", ascending: true)), in: nil, limit: limit)
                #expect(up == ["a", "a", "d", "b", "e", "c", "b"])
                let down = try await anna.names(
                    QueryTests.query("age > 0", .init(key: "age", ascending: false)), in: nil, limit: limit)
                #expect(down == up.reversed())
                #expect(
                    try await anna.names(QueryTests.query("TRUEPREDICATE"), in: nil, limit: limit).sorted()
                        == up.sorted())
                let byName = try await anna.names(
                    QueryTests.query("TRUEPREDICATE", .init(key: "recordID", ascending: true)), in: nil, limit: limit)
                #expect(byName == up.sorted())
            }
            let page = try await anna.query(QueryTests.query("age > 0"), in: nil)
            #expect(Set(page.scopes.map(\.zone.zoneName)) == ["notes", "other", "third"])
            for match in page.matches {
                let name = page.scopes[Int(match.scope)].zone.zoneName
                _ = try anna.open(match.record, in: name == "notes" ? zone : name == "other" ? other : third)
            }
        }
    }

    /// A page may end at any of them, in any zone: the zones on either side go on where they are.
    @Test(arguments: [true, false]) func equalKeysInManyZonesComeOnceEach(ascending: Bool) async throws {
        try await QueryTests.withZone { anna, first, _ in
            var zones = [first]
            for name in ["other", "third", "fourth"] { zones.append(try await anna.makeZone(name)) }
            var expected: [String] = []
            for (index, zone) in zones.enumerated() {
                // The names of a later zone come before an earlier one's.
                let names = (0..<6).map { "\(9 - index)\($0)" }
                let ages = names.enumerated().map { Int64($0.offset < 4 ? 5 : 6) }
                _ = try await QueryTests.save(
                    Dictionary(uniqueKeysWithValues: zip(names, ages.map { ["age": .int64($0), "half": .int64(1)] })),
                    by: anna, in: zone)
                expected += names
            }
            for sort in [
                [Query.SortDescriptor(key: "half", ascending: ascending)],
                [.init(key: "half", ascending: ascending), .init(key: "age", ascending: !ascending)],
                [.init(key: "age", ascending: ascending)],
            ] {
                let query = Query(
                    recordType: "Thing", predicate: try Query.Predicate("half = 1"), sortDescriptors: sort)
                let whole = try await anna.names(query, in: nil)
                #expect(whole.sorted() == expected.sorted())
                for limit: UInt32 in 1...7 {
                    #expect(try await anna.names(query, in: nil, limit: limit) == whole, "\(limit) a page")
                }
            }
        }
    }

    /// One zone has more to look at than a page takes, and its results come late; what the other has found beyond that
    /// waits.
    @Test(arguments: [true, false]) func aZoneThatIsNotGoneThroughHoldsTheOthersBack(ascending: Bool) async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let other = try await anna.makeZone("other")
            // More than one zone's share of what is read for a page.
            for start in stride(from: 0, to: 1_200, by: 400) {
                let writes = (start..<start + 400).map { age in
                    Write.thing(
                        "a\(age)",
                        ["age": .int64(Int64(age)), "flag": .int64([40, 1_150, 1_160].contains(age) ? 1 : 0)])
                }
                #expect(try await anna.codes(writes, in: zone) == Array(repeating: nil, count: 400))
            }
            let ages: [Int64] = [-5, 45, 600, 1_155, 2_000]
            let writes = ages.map { Write.thing("b\($0)", ["age": .int64($0), "flag": .int64(1)]) }
            #expect(try await anna.codes(writes, in: other) == Array(repeating: nil, count: 5))
            // No index finds these: every record is looked at.
            let query = try QueryTests.query("flag != 0", .init(key: "age", ascending: ascending))
            let names = ["b-5", "a40", "b45", "b600", "a1150", "b1155", "a1160", "b2000"]
            for limit: UInt32 in [0, 3] {
                #expect(try await anna.names(query, in: nil, limit: limit) == (ascending ? names : names.reversed()))
            }
            let first = try await anna.query(query, in: nil, keys: [])
            #expect(first.matches.count < names.count, "one page goes through all of it")
            #expect(!first.cursor.isEmpty, "one page goes through all of it")
        }
    }

    /// What one participant may be shown next is not for another to ask on from.
    @Test func aCursorIsNoOtherParticipants() async throws {
        try await RunningServer.with { server in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var shared = try await anna.makeSharedZone()
            for person in [bert, carl] { try await anna.share(&shared, with: person) }
            let zone = shared
            _ = try await QueryTests.save(things(6), by: anna, in: zone)
            let query = try QueryTests.query("age >= 0", .init(key: "age", ascending: true))
            let cursor = try await bert.query(query, in: zone, limit: 2).cursor
            #expect(!cursor.isEmpty)
            let others = [
                try await refusal { try await carl.query(query, in: zone, cursor: cursor) },
                try await refusal { try await anna.query(query, in: zone, cursor: cursor) },
            ]
            #expect(others == [.invalidArguments, .invalidArguments])
            let rest = try await bert.query(query, in: zone, cursor: cursor)
            #expect(rest.matches.map(\.record.recordName) == ["r102", "r103", "r104", "r105"])
        }
    }

    /// It may stand at a record that its reader is not shown: its length must not say which.
    @Test func aCursorIsAsLongAsAnyOther() throws {
        var random = SystemRandom()
        let path = DatabasePath(container: TestClient.container, environment: .development, database: .public)
        let seal = try CursorSeal(
            SecretBytes(random: &random), try QueryTests.query("age >= 0"), zone: nil, user: nil, path)
        func length(_ record: String, key: Int) -> Int {
            let place = QueryPlace(keys: [IndexKey(bytes: [UInt8](repeating: 1, count: key))], record: record)
            return QueryCursor(driver: 0, zone: 1, place: place, snapshots: [1: 1], run: 1).data(seal).count
        }
        let lengths = ["a", String(repeating: "a", count: 100), String(repeating: "a", count: 255)].flatMap { name in
            [0, 1, 63, 300, 500].map { length(name, key: $0) }
        }
        #expect(Set(lengths).count == 1)
        // What needs more has the next length, and opens too.
        let long = [UInt8](repeating: 7, count: 1_020)
        let closed = [long, long + [7]].map { seal.close($0) }
        #expect(closed[1].count == closed[0].count + 1_024)
        #expect(try closed.map { try seal.open($0) } == [long, long + [7]])
    }

    @Test func aCursorIsOfOneQueryCallerAndZone() async throws {
        try await QueryTests.withZone { anna, zone, server in
            _ = try await QueryTests.save(things(6), by: anna, in: zone)
            let query = try QueryTests.query("age >= 0", .init(key: "age", ascending: true))
            let cursor = try await anna.query(query, in: zone, limit: 2).cursor
            #expect(!cursor.isEmpty)
            func code(_ cursor: Data, _ query: Query, _ zone: TestZone?, by person: Person? = nil) async throws
                -> ErrorCode?
            {
                try await refusal { try await (person ?? anna).query(query, in: zone, cursor: cursor) }
            }
            #expect(try await code(cursor, query, zone) == nil)
            #expect(
                try await code(cursor, QueryTests.query("age >= 1", .init(key: "age", ascending: true)), zone)
                    == .invalidArguments)
            #expect(try await code(cursor, query, nil) == .invalidArguments)
            let other = try await anna.makeZone("other")
            #expect(try await code(cursor, query, other) == .invalidArguments)
            let bert = try await Person.ready(server)
            #expect(try await code(cursor, query, nil, by: bert) == .invalidArguments)
            #expect(try await code(Data([9]) + cursor.dropFirst(), query, zone) == .changeTokenExpired)
            #expect(try await code(Data(cursor.dropLast()), query, zone) == .invalidArguments)
            #expect(try await code(cursor + [0], query, zone) == .invalidArguments)
            #expect(try await code(Data(repeating: 1, count: 20_000), query, zone) == .invalidArguments)
            // From before a restore: its place in the feed was never given out.
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
            let row = try await server.services.database.read { connection in
                try connection.first("SELECT \(ZoneRow.columns) FROM zone z WHERE z.name = 'notes'", [], ZoneRow.init)
            }
            let seal = try CursorSeal(server.services.addresses.cursorKey(), query, zone: row, user: anna.user, path)
            let opened = try QueryCursor(cursor, seal, keys: 1)
            let future = QueryCursor(
                driver: opened.driver, zone: opened.zone, place: opened.place,
                snapshots: opened.snapshots.mapValues { $0 + 1_000 }, run: opened.run
            ).data(seal)
            #expect(try await code(future, query, zone) == .changeTokenExpired)
            // Whatever else a cursor says, the answer is a page or a refusal.
            for _ in 0..<300 {
                var damaged = cursor
                for _ in 0..<Int.random(in: 1...3) {
                    damaged[Int.random(in: damaged.indices)] = UInt8.random(in: 0...255)
                }
                let found = try await code(damaged, query, zone)
                #expect(found == nil || found == .invalidArguments || found == .changeTokenExpired)
            }
        }
    }

    @Test func pagesEndByBytesToo() async throws {
        try await QueryTests.withZone { anna, zone, _ in
            let large = Value.data([UInt8](repeating: 7, count: 900_000))
            for name in ["a", "b", "c", "d"] {
                #expect(try await anna.codes([.thing(name, ["age": .int64(1), "large": large])], in: zone) == [nil])
            }
            let query = try QueryTests.query("age = 1")
            let first = try await anna.query(query, in: zone)
            #expect(first.matches.count == 2)
            let second = try await anna.query(query, in: zone, cursor: first.cursor)
            #expect((first.matches + second.matches).map(\.record.recordName) == ["a", "b", "c", "d"])
        }
    }
}
