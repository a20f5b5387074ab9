public import SealStatements

extension Query {
    /// Conditions that must all hold: CloudKit's predicates have no OR, so they are nothing else. None: every record.
    public struct Predicate: Sendable, Hashable {
        public let conditions: [Condition]

        public init(_ conditions: [Condition]) { self.conditions = conditions }

        /// `TRUEPREDICATE` or `FALSEPREDICATE`.
        public static func constant(_ value: Bool) -> Predicate { Predicate(value ? [] : [Condition(.never)]) }
    }

    /// One test of a record, or its opposite. A record without the field passes neither.
    public struct Condition: Sendable, Hashable {
        public let test: Test
        public let isNegated: Bool

        public init(_ test: Test, isNegated: Bool = false) {
            self.test = test
            self.isNegated = isNegated
        }

        var negated: Condition { Condition(test, isNegated: !isNegated) }
    }

    public enum Comparison: UInt8, Sendable, Hashable, CaseIterable {
        case equal = 1
        case notEqual, less, lessOrEqual, greater, greaterOrEqual

        /// What holds of `b` and `a` when this holds of `a` and `b`.
        var flipped: Comparison {
            switch self {
            case .equal, .notEqual: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            }
        }
    }

    /// What is asked of a record. Keys are field names, system fields under CloudKit's name (`recordID`).
    public enum Test: Sendable, Hashable {
        /// `FALSEPREDICATE`
        case never
        /// `age < 3`. Strings are compared without regard to case, references by the record's name.
        case compare(String, Comparison, Value)
        /// `age BETWEEN {3, 5}`, both ends included.
        case between(String, Value, Value)
        /// `age IN {3, 5}`
        case isIn(String, [Value])
        /// `name BEGINSWITH 'An'`, with regard to case.
        case beginsWith(String, String)
        /// `tags CONTAINS 'red'`, `'red' IN tags`, `ANY tags = 'red'`: of lists.
        case contains(String, Value)
        /// `ANY tags IN {'red', 'blue'}`: of lists.
        case containsAny(String, [Value])
        /// `self CONTAINS 'bob smith'`: any (or all) of these words in the searchable texts, without regard to case and
        /// accents.
        case words(String, all: Bool)
        /// `distanceToLocation:fromLocation:(place, %@) < 1000`: at most so many metres away.
        case near(String, latitude: Double, longitude: Double, metres: Double)

        public var key: String? {
            switch self {
            case .never, .words: nil
            case .compare(let key, _, _), .between(let key, _, _), .isIn(let key, _), .beginsWith(let key, _),
                .contains(let key, _), .containsAny(let key, _), .near(let key, _, _, _):
                key
            }
        }

        /// NOT does not go with ranges, distances and words, as in CloudKit.
        var mayBeNegated: Bool {
            switch self {
            case .between, .words, .near: false
            case .never, .compare, .isIn, .beginsWith, .contains, .containsAny: true
            }
        }
    }
}
