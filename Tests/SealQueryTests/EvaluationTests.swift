import Foundation
import SealStatements
import Testing

@testable import SealQuery

@Suite(.timeLimit(.minutes(60))) struct EvaluationTests {
    private static func date(_ microseconds: Int64) -> Date {
        Date(timeIntervalSinceReferenceDate: ReferenceDate.seconds(ofMicroseconds: microseconds))
    }

    private static func next(_ date: Date, up: Bool) -> Date {
        let seconds = date.timeIntervalSinceReferenceDate
        return Date(timeIntervalSinceReferenceDate: up ? seconds.nextUp : seconds.nextDown)
    }

    private func matches(_ text: String, _ fields: [String: Value], _ arguments: any Query.Argument...) throws -> Bool {
        try Query.Predicate(text: text, arguments: arguments).matches(
            Query.Subject(
                recordType: "T", recordName: "one", created: 5, modified: 6, creator: "_a", author: "_b", fields: fields
            ))
    }

    @Test func strings() throws {
        let fields: [String: Value] = ["name": .string("Ängström")]
        #expect(try matches("name = 'äNGSTRÖM'", fields))
        #expect(try matches("name = %@", fields, "A\u{308}ngstro\u{308}m"))
        #expect(try !matches("name = 'Angstrom'", fields))
        #expect(try matches("name BEGINSWITH 'Än'", fields))
        #expect(try !matches("name BEGINSWITH 'än'", fields))
        #expect(try matches("name > 'Zz'", fields))
        #expect(try matches("name IN {'x', 'ÄNGSTRÖM'}", fields))
        #expect(try matches("NOT name IN {'x'}", fields))
    }

    @Test func manyValuesAtOnce() throws {
        let fields: [String: Value] = [
            "name": .string("Ängström"), "empty": .string(""), "number": .int64(2),
            "list": .list([.string("E\u{301}"), .double(2)]), "to": .reference(ReferenceValue(recordName: "r")),
        ]
        func found(_ test: Query.Test) -> Bool {
            Query.Predicate([Query.Condition(test)]).matches(
                Query.Subject(recordType: "T", recordName: "one", fields: fields))
        }
        let accented = Value.string("\u{C9}")
        #expect(found(.isIn("name", [.int64(1), .string("A\u{308}NGSTRÖM")])))
        #expect(!found(.isIn("name", [.string("Ängströ"), .string("Ängströms"), .string("")])))
        #expect(found(.isIn("empty", [.string("x"), .string("")])))
        #expect(!found(.isIn("empty", [.int64(0)])))
        #expect(found(.isIn("number", [.string("2"), .double(2)])))
        #expect(found(.isIn("to", [.string("x"), .string("r")])))
        #expect(!found(.isIn("to", [.string("R")])))
        #expect(found(.contains("list", accented)))
        #expect(found(.containsAny("list", [.string("e"), accented])))
        #expect(found(.containsAny("list", [.string("e"), .int64(2)])))
        #expect(!found(.containsAny("list", [.string("e"), .string("\u{C9}e"), .int64(3)])))
    }

    /// The short way to the order of two strings, and to an index's key, leads where the long one does.
    @Test func stringsAreOrderedByTheirFoldedBytes() {
        let parts = ["", "a", "A", "b", "Z", "é", "e", "\u{301}", "\u{308}", "ß", "İ", "~", " ", "k", "\u{212A}", "é"]
        func text() -> String { (0..<Int.random(in: 0...5)).map { _ in parts.randomElement() ?? "" }.joined() }
        var seen: [ValueOrder.Order: Int] = [:]
        for _ in 0..<20_000 {
            let common = text()
            let (left, right) = (common + text(), common + text())
            let (first, second) = (Fold.bytes(left), Fold.bytes(right))
            let order: ValueOrder.Order =
                first == second ? .equal : first.lexicographicallyPrecedes(second) ? .less : .greater
            seen[order, default: 0] += 1
            #expect(ValueOrder.compare(.string(left), .string(right)) == order, "\(left) \(right)")
            let count = Int.random(in: 0...6)
            #expect(Fold.bytes(left, atMost: count) == Array(first.prefix(count)), "\(left) \(count)")
        }
        #expect(seen.count == 3)
    }

    /// However many marks stand in a row, putting them in order takes no time that grows with their square.
    @Test func ofMarksInARowThirtyCount() {
        let many = "x" + String(repeating: "\u{323}\u{308}", count: 100_000)
        #expect(Fold.bytes(many) == Fold.bytes("x" + String(repeating: "\u{323}\u{308}", count: 15)))
        #expect(Fold.bytes(many, atMost: 20) == Array(Fold.bytes(many).prefix(20)))
        #expect(Words.of(many) == ["x"])
        let tibetan = "x" + String(repeating: "\u{F73}", count: 100_000)
        #expect(Fold.bytes(tibetan) == Fold.bytes("x" + String(repeating: "\u{F73}", count: 30)))
        #expect(Fold.bytes("\u{AC8C}\u{11AB}") == Array("\u{AC90}".utf8))
    }

    @Test func theBeginningOfALongTextIsFoldedAsTheWholeIs() {
        for unit in ["A\u{308}", "\u{1112}\u{1161}\u{11AB}", "x\u{323}\u{308}", "Ä", "\u{AC00}", "aé"] {
            let text = String(repeating: unit, count: 4_000)
            for count in [1, 2, 3, 5, 64, 511, 512] {
                #expect(Fold.bytes(text, atMost: count) == Array(Fold.bytes(text).prefix(count)), "\(unit) \(count)")
            }
        }
    }

    @Test func wordsEndWhereLettersAndDigitsDo() {
        #expect(Words.of("") == [])
        #expect(Words.of(" ,.") == [])
        #expect(Words.of("The red, red-hot; (2nd) SPOON") == ["red", "hot", "2nd", "spoon"])
        #expect(Words.of("their these theirs") == ["theirs"])
        #expect(Words.of("Ångström naïve 日本") == ["angstrom", "naive", "日本"])
        let long = String(repeating: "ü", count: 70)
        #expect(Words.of("x \(long)y z") == ["x", String(repeating: "u", count: 64), "z"])
    }

    @Test func numbers() throws {
        let fields: [String: Value] = [
            "int": .int64(9_007_199_254_740_993), "real": .double(-0.0), "odd": .double(.nan),
        ]
        #expect(try !matches("int = 9007199254740992.0", fields))
        #expect(try matches("int > 9007199254740992.0", fields))
        #expect(try matches("real = 0", fields))
        #expect(try matches("odd > 1e300", fields))
        #expect(try matches("odd = %@", fields, Double.nan))
        #expect(try matches("int < 1e300", fields))
    }

    @Test func whatIsAbsentOrOfAnotherKindFulfilsNothing() throws {
        for text in [
            "gone = 1", "gone != 1", "NOT gone = 1", "NOT gone IN {1}", "NOT gone CONTAINS 1", "name = 1", "name != 1",
            "NOT name CONTAINS 'x'",
        ] {
            #expect(try !matches(text, ["name": .string("x")]), "\(text)")
        }
        #expect(try matches("NOT tags CONTAINS 'x'", ["tags": .list([])]))
    }

    @Test func systemFields() throws {
        #expect(
            try matches("recordID = 'one' AND creationDate < %@ AND ___modTime > %@", [:], Self.date(6), Self.date(5)))
        // By the date that apps are shown, and not by a microsecond near the argument.
        for (date, order) in [
            (Self.date(5), "="), (Self.next(Self.date(5), up: true), "<"), (Self.next(Self.date(5), up: false), ">"),
        ] {
            for other in ["<", "=", ">"] {
                #expect(try matches("creationDate \(other) %@", [:], date) == (other == order))
            }
        }
        #expect(
            try matches(
                "creatorUserRecordID = %@ AND lastModifiedUserRecordID != '_a'", [:], ReferenceValue(recordName: "_a")))
        #expect(try !matches("recordID = 'ONE'", [:]))
    }

    @Test func words() throws {
        let fields: [String: Value] = [
            "a": .string("The Café of BOB"), "b": .list([.string("smith-jones")]), "n": .int64(7),
        ]
        #expect(try matches("self CONTAINS 'cafe x'", fields))
        #expect(try matches("allTokens TOKENMATCHES[cdl] 'bob Jones'", fields))
        #expect(try !matches("allTokens TOKENMATCHES[cdl] 'bob x'", fields))
        #expect(try !matches("self CONTAINS 'the of'", fields))
        #expect(try !matches("self CONTAINS 'smi'", fields))
        var subject = Query.Subject(recordType: "T", recordName: "x", fields: fields)
        subject.searchableFields = ["b"]
        #expect(try !Query.Predicate("self CONTAINS 'bob'").matches(subject))
    }

    @Test func distances() throws {
        // Rome to Milan: 477 km.
        let rome = Location(latitude: 41.9028, longitude: 12.4964)
        let fields: [String: Value] = ["place": .location(Location(latitude: 45.4642, longitude: 9.19))]
        #expect(try matches("distanceToLocation:fromLocation:(place, %@) < 478000", fields, rome))
        #expect(try !matches("distanceToLocation:fromLocation:(place, %@) < 476000", fields, rome))
        #expect(abs(Distance.metres(0, 0, 0, 180) - Distance.farthest) < 1)
    }

    @Test func sorting() throws {
        let query = Query(
            recordType: "T", predicate: .constant(true),
            sortDescriptors: [.init(key: "name", ascending: true), .init(key: "age", ascending: false)])
        func keys(_ name: String, _ age: Int64) throws -> [IndexKey] {
            try #require(
                query.sortKeys(
                    of: .init(recordType: "T", recordName: "x", fields: ["name": .string(name), "age": .int64(age)])))
        }
        #expect(try query.isOrdered(keys("anna", 3), keys("Bert", 9)))
        #expect(try query.isOrdered(keys("anna", 3), keys("ANNA", 2)))
        #expect(try !query.isOrdered(keys("anna", 2), keys("ANNA", 3)))
        #expect(!query.matches(.init(recordType: "T", recordName: "x", fields: ["name": .string("x")])))
    }

    // MARK: Properties

    private static let numbers: [Double] = [
        0, -0.0, 1, 1.5, -1.5, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, -0x1p63, 1e300, .leastNonzeroMagnitude,
    ]
    private static let integers: [Int64] = [0, 1, -1, 2, .min, .max, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1]
    private static let texts = [
        "", "a", "A", "ab", "Ab", "b", "é", "e\u{301}", "É", "ß", "SS", "İ", "i", "I", "K", "\u{212A}", "a\u{0}", "日本",
        "🙂", String(repeating: "x", count: 600), String(repeating: "x", count: 599) + "y",
    ]

    private static func value(_ kind: ValueKind) -> Value {
        switch kind {
        case .int64: .int64(integers.randomElement() ?? 0)
        case .double: .double(numbers.randomElement() ?? 0)
        case .date: .date(numbers.filter(\.isFinite).randomElement() ?? 0)
        case .data: .data([[], [0], [0, 0], [1], [255], [UInt8](repeating: 255, count: 700)].randomElement() ?? [])
        case .reference: .reference(ReferenceValue(recordName: ["a", "A", "ab", "b"].randomElement() ?? "a"))
        default: .string(texts.randomElement() ?? "")
        }
    }

    private static let kinds: [ValueKind] = [.int64, .double, .date, .data, .reference, .string]

    @Test func keysAreOrderedAsValues() throws {
        for _ in 0..<20_000 {
            let kind = Self.kinds.randomElement() ?? .int64
            let left = Self.value(kind)
            let right = Self.value(kind)
            let order = try #require(ValueOrder.compare(left, right))
            let keys = (try #require(IndexKey(left)), try #require(IndexKey(right)))
            switch order {
            case .less: #expect(keys.0 <= keys.1, "\(left) \(right)")
            case .equal: #expect(keys.0 == keys.1, "\(left) \(right)")
            case .greater: #expect(keys.0 >= keys.1, "\(left) \(right)")
            }
            #expect(keys.0 < .end)
            #expect(keys.1 < .end)
        }
    }

    /// What an index would be asked for holds every record that fulfils a condition.
    @Test func rangesHoldEverythingThatMatches() {
        var matched = 0
        for _ in 0..<40_000 {
            let kind = Self.kinds.randomElement() ?? .int64
            let isList = Bool.random()
            let other = Self.kinds.randomElement() ?? .int64
            let argument = Bool.random() ? kind : other
            let field: Value =
                isList ? .list((0..<Int.random(in: 0..<4)).map { _ in Self.value(kind) }) : Self.value(kind)
            let test: Query.Test =
                switch Int.random(in: 0..<6) {
                case 0, 1: .compare("f", Query.Comparison.allCases.randomElement() ?? .equal, Self.value(argument))
                case 2: .between("f", Self.value(argument), Self.value(argument))
                case 3: .isIn("f", (0..<3).map { _ in Self.value(argument) })
                case 4:
                    isList
                        ? .containsAny("f", [Self.value(argument), Self.value(argument)])
                        : .beginsWith("f", Self.texts.randomElement() ?? "")
                default: .contains("f", Self.value(argument))
                }
            let condition = Query.Condition(test, isNegated: test.mayBeNegated && Bool.random())
            guard condition.matches(Query.Subject(recordType: "T", recordName: "x", fields: ["f": field])) else {
                continue
            }
            guard let ranges = condition.ranges(in: kind) else { continue }
            matched += 1
            let entries = IndexKey.entries(of: field)
            #expect(
                ranges.contains { range in entries.contains { $0 >= range.lower && $0 < range.upper } },
                "\(condition) \(field)")
            for (first, second) in zip(ranges, ranges.dropFirst()) { #expect(first.upper < second.lower) }
        }
        #expect(matched > 1000)
    }

    @Test func cellsHoldEverythingInsideACircle() {
        var inside = 0
        for _ in 0..<3_000 {
            let latitude = Bool.random() ? Double.random(in: -90...90) : [-90, 90, 0, 89.9, -89.9].randomElement() ?? 0
            let longitude =
                Bool.random() ? Double.random(in: -180...180) : [-180, 180, 0, 179.9, -179.9].randomElement() ?? 0
            let metres = pow10(Double.random(in: -1...7.4))
            let ranges = Cells.ranges(latitude: latitude, longitude: longitude, metres: metres)
            #expect(ranges.count <= 64)
            let spread = min(180, metres / 111_000 * 2)
            for _ in 0..<40 {
                let place = (
                    max(-90, min(90, latitude + Double.random(in: -spread...spread))),
                    wrapped(longitude + Double.random(in: -spread...spread) * 3)
                )
                guard Distance.metres(latitude, longitude, place.0, place.1) <= metres,
                    let cell = Cells.cell(place.0, place.1)
                else { continue }
                inside += 1
                #expect(ranges.contains { $0.contains(cell) }, "\(latitude) \(longitude) \(metres) \(place)")
            }
        }
        #expect(inside > 1000)
    }

    @Test func aSmallCircleHasSmallCells() {
        let ranges = Cells.ranges(latitude: 41.9, longitude: 12.5, metres: 1000)
        let share = ranges.reduce(0.0) { $0 + Double($1.upperBound - $1.lowerBound) } / 0x1p64
        // The circle has 6e-9 of the earth; its cells may have a few times that.
        #expect(share < 1e-6)
    }

    private func wrapped(_ longitude: Double) -> Double {
        let shifted = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return (shifted < 0 ? shifted + 360 : shifted) - 180
    }

    private func pow10(_ exponent: Double) -> Double {
        var result = 1.0
        for _ in 0..<Int(abs(exponent) * 100) { result *= 1.0232929922807542 }
        return exponent < 0 ? 1 / result : result
    }
}
