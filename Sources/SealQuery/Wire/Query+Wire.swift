import SealCoding
import SealStatements
public import SealWire
import SwiftProtobuf

extension Query {
    /// A query as it travels, with everything checked that does not depend on a schema.
    public init(_ wire: Sealkit_V1_Query) throws(QueryError) {
        guard wire.filterBy.count <= Limits.conditions, wire.sortBy.count <= Limits.sortDescriptors else {
            throw QueryError("the query has too many conditions or sort descriptors", remedy: "ask in several queries")
        }
        var conditions: [Condition] = []
        for condition in wire.filterBy { conditions.append(try Condition(condition)) }
        self.init(
            recordType: wire.recordType, predicate: Predicate(conditions),
            sortDescriptors: try wire.sortBy.map { descriptor throws(QueryError) in try SortDescriptor(descriptor) })
        try validate()
    }

    public var wire: Sealkit_V1_Query {
        .with {
            $0.recordType = recordType
            $0.filterBy = predicate.conditions.map(\.wire)
            $0.sortBy = sortDescriptors.map(\.wire)
        }
    }

    static let malformed = QueryError(
        "a condition does not have the values that its comparator takes", remedy: "see the comparators in query.proto")
}

extension Query.SortDescriptor {
    init(_ wire: Sealkit_V1_SortDescriptor) throws(QueryError) {
        guard wire.hasRelativeLocation else {
            self.init(key: wire.fieldName, ascending: !wire.descending)
            return
        }
        guard !wire.descending else {
            throw QueryError("a distance is sorted by descending", remedy: "the nearest comes first")
        }
        self.init(
            key: wire.fieldName,
            relativeLocation: Location(
                latitude: wire.relativeLocation.latitude, longitude: wire.relativeLocation.longitude))
    }

    var wire: Sealkit_V1_SortDescriptor {
        .with {
            $0.fieldName = key
            $0.descending = !ascending
            if let relativeLocation {
                $0.relativeLocation = .with {
                    $0.latitude = relativeLocation.latitude
                    $0.longitude = relativeLocation.longitude
                }
            }
        }
    }
}

extension Query.Condition {
    init(_ wire: Sealkit_V1_Condition) throws(QueryError) {
        guard wire.values.count <= Query.Limits.listValues else {
            throw QueryError("a list has more than \(Query.Limits.listValues) values", remedy: "ask in several queries")
        }
        var values: [Value] = []
        for value in wire.values {
            do { values.append(try Value(value)) } catch { throw Query.malformed }
        }
        self.init(
            try Query.Test(
                wire.comparator, Query.SystemField.canonicalName(wire.fieldName), values, distance: wire.distance),
            isNegated: wire.negated)
    }

    var wire: Sealkit_V1_Condition {
        var wire = Sealkit_V1_Condition()
        wire.negated = isNegated
        wire.fieldName = test.key ?? ""
        switch test {
        case .never: wire.comparator = .never
        case .compare(_, let comparison, let value):
            wire.comparator = Sealkit_V1_Comparator(rawValue: Int(comparison.rawValue)) ?? .unspecified
            wire.values = [value.wire]
        case .between(_, let low, let high):
            wire.comparator = .between
            wire.values = [low.wire, high.wire]
        case .isIn(_, let values):
            wire.comparator = .in
            wire.values = values.map(\.wire)
        case .beginsWith(_, let prefix):
            wire.comparator = .beginsWith
            wire.values = [Value.string(prefix).wire]
        case .contains(_, let value):
            wire.comparator = .listContains
            wire.values = [value.wire]
        case .containsAny(_, let values):
            wire.comparator = .listContainsAny
            wire.values = values.map(\.wire)
        case .words(let text, let all):
            wire.comparator = all ? .containsAllTokens : .containsAnyTokens
            wire.values = [Value.string(text).wire]
        case .near(_, let latitude, let longitude, let metres):
            wire.comparator = .near
            wire.values = [Value.location(Location(latitude: latitude, longitude: longitude)).wire]
            wire.distance = metres
        }
        return wire
    }
}

extension Query.Test {
    fileprivate init(_ comparator: Sealkit_V1_Comparator, _ key: String, _ values: [Value], distance: Double)
        throws(QueryError)
    {
        switch (comparator, values.count, values.first) {
        case (.between, 2, _): self = .between(key, values[0], values[1])
        case (.in, _, _): self = .isIn(key, values)
        case (.listContainsAny, _, _): self = .containsAny(key, values)
        case (.beginsWith, 1, .string(let prefix)): self = .beginsWith(key, prefix)
        case (.listContains, 1, let value?): self = .contains(key, value)
        case (.containsAnyTokens, 1, .string(let text)) where key.isEmpty: self = .words(text, all: false)
        case (.containsAllTokens, 1, .string(let text)) where key.isEmpty: self = .words(text, all: true)
        case (.near, 1, .location(let place)):
            self = .near(key, latitude: place.latitude, longitude: place.longitude, metres: distance)
        case (.never, 0, _) where key.isEmpty: self = .never
        case (_, 1, let value?):
            guard let comparison = UInt8(exactly: comparator.rawValue).flatMap(Query.Comparison.init(rawValue:)) else {
                throw Query.malformed
            }
            self = .compare(key, comparison, value)
        default: throw Query.malformed
        }
    }
}
