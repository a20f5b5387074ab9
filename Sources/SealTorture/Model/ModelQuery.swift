import SealKit
import SealLab
import SealQuery
import SealStatements

/// A query, as it is asked and as the model understands it.
struct ModelQuery: ModelCall {
    /// What a field's value has to fulfil. A record without the field fulfils nothing, negated or not.
    enum Condition {
        case less(Int)
        case atLeast(Int)
        case between(Int, Int)
        case isOne(of: [Int])
        case isNot(Int)
        /// Of `b`, which says its number in words.
        case textBegins(Int)
        case goesWith(Int)
    }

    let device: Int
    let zone: String
    let type: String
    let conditions: [Condition]
    /// By `a`, if at all: then what lacks it is no result.
    let isAscending: Bool?
    let limit: Int

    init(device: Int, zone: String, _ random: inout SeededRandom) {
        self.device = device
        self.zone = zone
        type = random.chance(80) ? "Note" : "Task"
        conditions = (0..<random.below(3)).map { _ in Self.condition(&random) }
        isAscending = random.chance(50) ? random.chance(50) : nil
        limit = 1 + random.below(5)
    }

    private static func condition(_ random: inout SeededRandom) -> Condition {
        let number = random.below(1_000)
        switch random.below(7) {
        case 0: return .less(number)
        case 1: return .atLeast(number)
        case 2: return .between(min(number, 500), number)
        case 3: return .isOne(of: (0..<200).map { _ in random.below(1_000) })
        case 4: return .isNot(number)
        case 5: return .textBegins(1 + random.below(9))
        default: return .goesWith(random.below(ModelRun.recordNames.count))
        }
    }

    // MARK: In the model

    func matches(_ stored: ModelStore.Stored) -> Bool {
        stored.type == type && (isAscending == nil || stored.fields["a"] != nil)
            && conditions.allSatisfy { Self.holds($0, stored.fields) }
    }

    private static func holds(_ condition: Condition, _ fields: [String: Int]) -> Bool {
        switch condition {
        case .less(let number): fields["a"].map { $0 < number } ?? false
        case .atLeast(let number): fields["a"].map { $0 >= number } ?? false
        case .between(let low, let high): fields["a"].map { low <= $0 && $0 <= high } ?? false
        case .isOne(let numbers): fields["a"].map { numbers.contains($0) } ?? false
        case .isNot(let number): fields["a"].map { $0 != number } ?? false
        case .textBegins(let digit): fields["b"].map { "\($0)".hasPrefix("\(digit)") } ?? false
        case .goesWith(let number): fields["go"] == number
        }
    }

    // MARK: As it is asked

    private var query: Query {
        var sort: [Query.SortDescriptor] = []
        if let isAscending { sort.append(Query.SortDescriptor(key: "a", ascending: isAscending)) }
        return Query(recordType: type, predicate: Query.Predicate(conditions.map(Self.test)), sortDescriptors: sort)
    }

    private static func test(_ condition: Condition) -> Query.Condition {
        func number(_ number: Int) -> RecordValue { number.recordValue }
        return switch condition {
        case .less(let least): .init(.compare("a", .less, number(least)))
        case .atLeast(let least): .init(.compare("a", .greaterOrEqual, number(least)))
        case .between(let low, let high): .init(.between("a", number(low), number(high)))
        case .isOne(let numbers): .init(.isIn("a", numbers.map(number)))
        case .isNot(let other): .init(.isIn("a", [number(other)]), isNegated: true)
        case .textBegins(let digit): .init(.beginsWith("b", "value \(digit)"))
        case .goesWith(let target):
            .init(
                .compare(
                    "go", .equal, .reference(ReferenceValue(recordName: ModelRun.recordNames[target], action: .none))))
        }
    }

    var opensDueKey: Bool { false }
    var description: String {
        "device \(device) asks \(zone) for \(type) with \(conditions), ascending \(isAscending.map { "\($0)" } ?? "no"), limit \(limit)"
    }

    struct Answer: Sendable {
        var records: [Record] = []
        var failure: SealKitError.Code?
    }

    func answer(from device: ModelDevice) async throws(SealKitError) -> Answer {
        var answer = Answer()
        do {
            var page = try await device.database.records(
                matching: query, inZoneWith: device.zoneID(zone), resultsLimit: limit)
            while true {
                for (_, result) in page.matchResults { answer.records.append(try result.get()) }
                guard let cursor = page.queryCursor else { return answer }
                page = try await device.database.records(continuingMatchFrom: cursor, resultsLimit: limit)
            }
        } catch {
            answer.failure = error.code
            return answer
        }
    }

    func explain(
        _ answer: Answer, by store: inout ModelStore, for device: ModelDevice
    ) throws -> [ModelDevice.Key: ModelDevice.Copy?] {
        guard let known = store.zone(zone, for: device.person) else {
            try check(
                answer.failure == .zoneNotFound,
                "fails with \(answer.failure?.rawValue ?? "nothing"), not with zoneNotFound")
            return [:]
        }
        if let failure = answer.failure { throw Finding("fails with \(failure.rawValue)") }
        let expected = known.live.filter { matches($0.value) }
        let names = answer.records.map(\.recordID.recordName)
        try check(names.sorted() == expected.keys.sorted(), "finds \(names.sorted()), not \(expected.keys.sorted())")
        for record in answer.records {
            if let stored = expected[record.recordID.recordName] { try record.checkEqual(stored) }
        }
        if let isAscending {
            let order = names.compactMap { expected[$0]?.fields["a"] }
            try check(
                order == (isAscending ? order.sorted() : order.sorted(by: >)),
                "finds \(names) in another order than asked for")
        }
        return [:]
    }
}
