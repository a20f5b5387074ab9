import SealStatements

extension Query {
    /// Checks names, kinds and limits: what a query holds does not depend on who made it.
    public func validate() throws(QueryError) {
        guard Names.isIdentifier(recordType) else {
            throw QueryError(
                "the record type is not a name", remedy: "use letters, digits and underscores, a letter first")
        }
        guard predicate.conditions.count <= Limits.conditions else {
            throw QueryError(
                "the predicate has more than \(Limits.conditions) conditions", remedy: "ask in several queries")
        }
        for condition in predicate.conditions { try condition.validate() }
        guard sortDescriptors.count <= Limits.sortDescriptors else {
            throw QueryError(
                "there are more than \(Limits.sortDescriptors) sort descriptors", remedy: "leave the last ones out")
        }
        guard Set(sortDescriptors.map(\.key)).count == sortDescriptors.count else {
            throw QueryError("a key is sorted by twice", remedy: "name each key once")
        }
        for descriptor in sortDescriptors {
            try Query.checkKey(descriptor.key)
            if let place = descriptor.relativeLocation { try Query.checkPlace(place.latitude, place.longitude) }
        }
    }

    static func checkKey(_ key: String) throws(QueryError) {
        guard
            Query.SystemField(rawValue: key) != nil || (Names.isIdentifier(key) && !Names.isReservedField(key))
        else {
            throw QueryError(
                "a key is neither a field's name nor a system field that can be asked for",
                remedy: "system fields are \(Query.SystemField.allCases.map(\.rawValue).joined(separator: ", "))")
        }
    }

    static func checkPlace(_ latitude: Double, _ longitude: Double) throws(QueryError) {
        guard abs(latitude) <= 90, abs(longitude) <= 180 else {
            throw QueryError(
                "a location is not on the earth", remedy: "give latitude within ±90 and longitude within ±180 degrees")
        }
    }
}

extension Query.Condition {
    func validate() throws(QueryError) {
        if let key = test.key { try Query.checkKey(key) }
        if isNegated, !test.mayBeNegated {
            throw QueryError(
                "NOT does not go with BETWEEN, words or a distance, as in CloudKit",
                remedy: "negate comparisons, IN, CONTAINS or BEGINSWITH")
        }
        switch test {
        case .never: break
        case .compare(let key, _, let value), .contains(let key, let value): try Query.checkValue(value, of: key)
        case .between(let key, let low, let high):
            try Query.checkValue(low, of: key)
            try Query.checkValue(high, of: key)
        case .isIn(let key, let values), .containsAny(let key, let values):
            guard values.count <= Query.Limits.listValues else {
                throw QueryError(
                    "a list has more than \(Query.Limits.listValues) values", remedy: "ask in several queries")
            }
            for value in values { try Query.checkValue(value, of: key) }
        case .beginsWith(let key, let text): try Query.checkValue(.string(text), of: key)
        case .words(let text, _):
            try Query.checkSize(text.utf8.count)
            guard Words.of(text).count <= Query.Limits.words else {
                throw QueryError("a search has more than \(Query.Limits.words) words", remedy: "search for fewer")
            }
        case .near(_, let latitude, let longitude, let metres):
            try Query.checkPlace(latitude, longitude)
            guard metres.isFinite, metres >= 0 else {
                throw QueryError("a distance is not a number of metres", remedy: "give zero or more metres")
            }
        }
    }
}

extension Query {
    /// - Parameter key: what it is compared with; checked before.
    fileprivate static func checkValue(_ value: Value, of key: String) throws(QueryError) {
        switch value {
        case .string(let text): try checkSize(text.utf8.count)
        case .data(let bytes): try checkSize(bytes.count)
        case .reference(let reference): try checkSize(reference.recordName.utf8.count)
        case .int64, .double: break
        case .date(let seconds):
            guard seconds.isFinite else {
                throw QueryError(
                    "\(key) is compared with a date that is no number", remedy: "give a date that is finite")
            }
        case .location:
            throw QueryError(
                "a location is compared with",
                remedy: "ask for a distance: distanceToLocation:fromLocation:(key, %@) < metres")
        case .list: throw QueryError("a list is compared with", remedy: "use IN, or CONTAINS for one element")
        }
    }

    fileprivate static func checkSize(_ size: Int) throws(QueryError) {
        guard size <= Limits.valueBytes else {
            throw QueryError(
                "a value has more than \(Limits.valueBytes) bytes", remedy: "ask for a part of it with BEGINSWITH")
        }
    }
}
