import SealQuery
import SealStatements

/// What finding out whether a record fulfils a predicate costs (`ComparisonWork`). The predicate is read once for all
/// records: it may be as long as a request.
struct PredicateWork: Sendable {
    /// Whether a record's words are read for it.
    let asksForWords: Bool
    /// What each record costs, whatever it holds.
    private let constant: Int
    /// What each field is compared with.
    private let others: [String: ComparisonWork.Others]

    init(_ predicate: Query.Predicate) {
        var (asksForWords, constant) = (false, 1)
        var others: [String: ComparisonWork.Others] = [:]
        for condition in predicate.conditions {
            switch condition.test {
            case .never, .near: constant += 1
            case .words(let text, _):
                asksForWords = true
                constant += ComparisonWork.of(text)
            case .beginsWith(let key, let prefix): others[key, default: .init()].add([.string(prefix)])
            case .compare(let key, _, let value), .contains(let key, let value):
                others[key, default: .init()].add([value])
            case .between(let key, let low, let high): others[key, default: .init()].add([low, high])
            case .isIn(let key, let values), .containsAny(let key, let values):
                others[key, default: .init()].add(values)
            }
        }
        (self.asksForWords, self.constant, self.others) = (asksForWords, constant, others)
    }

    /// - Parameter field: what comparing something with a field's value costs.
    func of<Failure: Error>(_ field: (_ key: String) throws(Failure) -> ComparisonWork) throws(Failure) -> Int {
        var sum = constant
        for (key, others) in others { sum += try field(key).times(others) }
        return sum
    }
}
