import Foundation
import SealStatements
import Testing

@testable import SealQuery

@Suite(.timeLimit(.minutes(60))) struct LanguageTests {
    static let rome = Location(latitude: 41.9, longitude: 12.5)

    private func conditions(_ text: String, _ arguments: [any Query.Argument] = []) throws -> [Query.Condition] {
        try Query.Predicate(text: text, arguments: arguments, now: Date(timeIntervalSince1970: 7)).conditions
    }

    private func one(_ text: String, _ arguments: any Query.Argument...) throws -> Query.Test {
        let all = try conditions(text, arguments)
        #expect(all.count == 1)
        #expect(all.first?.isNegated == false)
        return try #require(all.first).test
    }

    @Test func comparisons() throws {
        #expect(try one("age = 3") == .compare("age", .equal, .int64(3)))
        #expect(try one("age == %d", 3) == .compare("age", .equal, .int64(3)))
        #expect(try one("%K != %@", "age", 3) == .compare("age", .notEqual, .int64(3)))
        #expect(try one("age <> -3") == .compare("age", .notEqual, .int64(-3)))
        #expect(try one("age < 2.5e1") == .compare("age", .less, .double(25)))
        #expect(try one("3 < age") == .compare("age", .greater, .int64(3)))
        #expect(try one("age =< %f", 3) == .compare("age", .lessOrEqual, .double(3)))
        #expect(try one("age >= -9223372036854775808") == .compare("age", .greaterOrEqual, .int64(.min)))
        #expect(try one(#"name ==[c] 'it\'s "x"'"#) == .compare("name", .equal, .string(#"it's "x""#)))
        #expect(try one("done = TRUE") == .compare("done", .equal, .int64(1)))
        #expect(try one("modificationDate > now") == .compare("modificationDate", .greater, .date(7 - 978_307_200)))
        #expect(try one("___modTime > now()") == .compare("modificationDate", .greater, .date(7 - 978_307_200)))
        #expect(try one("recordName = 'a'") == .compare("recordID", .equal, .string("a")))
        #expect(try one("#between = 1") == .compare("between", .equal, .int64(1)))
        #expect(
            try one("owner = %@", ReferenceValue(recordName: "a"))
                == .compare("owner", .equal, .reference(ReferenceValue(recordName: "a"))))
        #expect(try one("day = %@", Date(timeIntervalSinceReferenceDate: 0.1)) == .compare("day", .equal, .date(0.1)))
        #expect(try one("day < %@", Date.distantPast) == .compare("day", .less, .date(-63_114_076_800)))
        for date in [Double.nan, .infinity].map(Date.init(timeIntervalSinceReferenceDate:)) {
            let error = #expect(throws: QueryError.self) { try one("day > %@", date) }
            #expect(error?.reason.contains("day") == true)
        }
    }

    @Test func listsRangesPrefixes() throws {
        #expect(try one("age BETWEEN {3, 5}") == .between("age", .int64(3), .int64(5)))
        #expect(try one("age between %@", [3, 5]) == .between("age", .int64(3), .int64(5)))
        #expect(try one("age BETWEEN {%@, %@}", 3, 5) == .between("age", .int64(3), .int64(5)))
        #expect(try one("age IN {3, 5}") == .isIn("age", [.int64(3), .int64(5)]))
        #expect(try one("age IN {}") == .isIn("age", []))
        #expect(try one("name IN %@", ["a", "b"]) == .isIn("name", [.string("a"), .string("b")]))
        #expect(try one("name BEGINSWITH 'An'") == .beginsWith("name", "An"))
        #expect(try one("tags CONTAINS 'red'") == .contains("tags", .string("red")))
        #expect(try one("'red' IN tags") == .contains("tags", .string("red")))
        #expect(try one("ANY tags = 'red'") == .contains("tags", .string("red")))
        #expect(try one("SOME tags CONTAINS 'red'") == .contains("tags", .string("red")))
        #expect(try one("ANY tags IN {'red', 'blue'}") == .containsAny("tags", [.string("red"), .string("blue")]))
        #expect(try one("ANY %@ IN tags", ["red"]) == .containsAny("tags", [.string("red")]))
    }

    @Test func wordsAndPlaces() throws {
        #expect(try one("self CONTAINS 'bob smith'") == .words("bob smith", all: false))
        #expect(try one("SELF contains[cd] %@", "bob") == .words("bob", all: false))
        #expect(try one("allTokens TOKENMATCHES[cdl] %@", "bob smith") == .words("bob smith", all: true))
        #expect(try one("ALL tokenize:using:(%@, 'Cdl') IN allTokens", "a b") == .words("a b", all: true))
        #expect(try one("ANY tokenize:using:(%@, 'Cdl') IN allTokens", "a b") == .words("a b", all: false))
        let near = Query.Test.near("place", latitude: 41.9, longitude: 12.5, metres: 1000)
        #expect(try one("distanceToLocation:fromLocation:(place, %@) < 1000", Self.rome) == near)
        #expect(try one("1000 >= distanceToLocation:fromLocation:(place, %@)", Self.rome) == near)
    }

    @Test func conjunctionsAndNegations() throws {
        #expect(try conditions("TRUEPREDICATE").isEmpty)
        #expect(try conditions("NOT FALSEPREDICATE").isEmpty)
        #expect(try conditions("FALSEPREDICATE") == [.init(.never)])
        #expect(try conditions("NOT TRUEPREDICATE") == [.init(.never)])
        let three = try conditions("(a = 1 && (b = 2)) and not (c = 3)")
        #expect(three.map(\.isNegated) == [false, false, true])
        #expect(three.map(\.test.key) == ["a", "b", "c"])
        #expect(try conditions("!!a = 1") == [.init(.compare("a", .equal, .int64(1)))])
        #expect(try conditions("NOT a IN {1}") == [.init(.isIn("a", [.int64(1)]), isNegated: true)])
    }

    /// What CloudKit does not have, and a word that the error has to say.
    @Test(arguments: [
        ("a = 1 OR b = 2", "OR"), ("a = 1 || b = 2", "OR"), ("ALL a = 1", "ALL"), ("NONE a = 1", "ALL"),
        ("a ENDSWITH 'x'", "ENDSWITH"),
        ("a LIKE 'x*'", "LIKE"), ("a MATCHES 'x'", "MATCHES"), ("a.b = 1", "key paths"), ("a.@count = 1", "key paths"),
        ("NOT (a = 1 AND b = 2)", "NOT"), ("NOT (a BETWEEN {1, 2})", "NOT"), ("NOT (self CONTAINS 'x')", "NOT"),
        ("SUBQUERY(a, $x, $x = 1)", "function"), ("FUNCTION(a, 'x') = 1", "function"), ("count(a) = 1", "function"),
        ("a = nil", "absence"),
        ("a + 1 = 2", "arithmetic"), ("a CONTAINS[c] 'x'", "words"), ("a BEGINSWITH[c] 'x'", "case"),
        ("ANY a < 3", "ANY"), ("a = b", "one value"),
        ("1 = 1", "one field"), ("a BETWEEN {1}", "two values"), ("a IN 3", "list"), ("self = 3", "record"),
        ("a =[d] 'x'", "accents"),
        ("", "go on"), ("a", "go on"), ("a =", "go on"), ("a = 1 b", "go on"), ("(a = 1", "go on"), ("a = 'x", "end"),
        ("a = 12x", "number"),
        ("a = 0x12", "number"), ("a = 1e999", "range"), ("a = %x", "format"), ("a = %@", "argument"),
        ("a = \\", "character"),
        ("recordType = 'x'", "system field"), ("AND = 1", "missing"), ("a = 'x\\q'", "escape"),
        ("a BEGINSWITH 3", "string"), ("a IN {b}", "value"),
    ])
    func refused(_ text: String, _ word: String) throws {
        let error = try #require(throws: QueryError.self) { try Query.Predicate(text) }
        #expect(error.reason.contains(word), "\(error)")
        #expect(!error.remedy.isEmpty)
    }

    @Test func refusedArguments() throws {
        #expect(throws: QueryError.self) { try Query.Predicate("a = 1", 3) }
        #expect(throws: QueryError.self) { try Query.Predicate("a = %d", "x") }
        #expect(throws: QueryError.self) { try Query.Predicate("%K = 1", "a.b") }
        #expect(throws: QueryError.self) { try Query.Predicate("a = %@", [1]) }
        #expect(throws: QueryError.self) { try Query.Predicate("a = %@", Self.rome) }
        #expect(throws: QueryError.self) {
            try Query.Predicate("distanceToLocation:fromLocation:(place, %@) > 10", Self.rome)
        }
        #expect(throws: QueryError.self) {
            try Query.Predicate("distanceToLocation:fromLocation:(place, %@) < -1", Self.rome)
        }
        #expect(throws: QueryError.self) {
            try Query.Predicate("distanceToLocation:fromLocation:(place, %@) < 1", Location(latitude: 91, longitude: 0))
        }
    }

    @Test func errorsSayWhere() throws {
        let error = try #require(throws: QueryError.self) { try Query.Predicate("age > 3 AND name LIKE 'secret*'") }
        #expect(error.offset == 17)
        #expect(!"\(error)".contains("secret"))
    }

    @Test func limits() throws {
        let fifty = Array(repeating: "a = 1", count: 50).joined(separator: " AND ")
        #expect(try conditions(fifty).count == 50)
        #expect(throws: QueryError.self) { try conditions(fifty + " AND a = 1") }
        #expect(throws: QueryError.self) { try Query.Predicate("a IN %@", Array(repeating: 1, count: 251)) }
        #expect(throws: QueryError.self) { try Query.Predicate("a = %@", String(repeating: "x", count: 1025)) }
        #expect(throws: QueryError.self) { try Query.Predicate(String(repeating: "(", count: 20_000)) }
        #expect(throws: QueryError.self) { try Query.Predicate(String(repeating: "!", count: 20_000) + "a = 1") }
        #expect(throws: QueryError.self) { try Query.Predicate("a = '" + String(repeating: "x", count: 65_536) + "'") }
        #expect(throws: QueryError.self) {
            try Query.Predicate("self CONTAINS %@", (0..<33).map { "word\($0)" }.joined(separator: " "))
        }
    }

    @Test func randomTextsNeverCrash() {
        let pieces = [
            "a", "self", "ANY", "NOT", "!", "(", ")", "{", "}", ",", "AND", "OR", "=", "<", "BETWEEN", "IN", "CONTAINS",
            "BEGINSWITH", "%@", "%K", "%d",
            "'x'", "'", "3", "-", ".5", "1e", "#", "#a", "[c]", "[", "distanceToLocation:fromLocation:",
            "tokenize:using:", "allTokens",
            "TOKENMATCHES", "now", "nil", "é", "\u{0}", "\\", "🙂", ".", "@", "$", "TRUEPREDICATE", "\n",
        ]
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<12)).map { _ in pieces.randomElement() ?? "" }.joined(
                separator: Bool.random() ? " " : "")
            let arguments: [any Query.Argument] = (0..<Int.random(in: 0..<3)).map { _ in
                [3, "b", 2.5, [1, 2], Self.rome][Int.random(in: 0..<5)] as any Query.Argument
            }
            if (try? Query.Predicate(text: text, arguments: arguments)) != nil { accepted += 1 }
        }
        #expect(accepted > 0)
    }

    @Test func builder() throws {
        let built =
            Query.Field<Int>("age") > 3 && Query.Field<String>("name").beginsWith("An")
            && !(Query.Field<String>("city") == "Rome")
            && Query.Field<[String]>("tags").contains("red")
            && Query.Field<Location>("place").isWithin(metres: 10, of: Self.rome)
            && Query.Predicate.containsAnyWord(of: "bob")
            && Query.Field<Date>("modificationDate").between(
                Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1))
        let read = try Query.Predicate(
            """
            age > 3 AND name BEGINSWITH 'An' AND NOT city = 'Rome' AND tags CONTAINS 'red' \
            AND distanceToLocation:fromLocation:(place, %@) < 10 AND self CONTAINS 'bob' AND modificationDate BETWEEN %@
            """, Self.rome, [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1)])
        #expect(built == read)
    }
}
