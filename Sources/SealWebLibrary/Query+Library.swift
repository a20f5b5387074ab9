import SealPrimitives
import SealStatements

private let nameBytes = Limits.nameBytes

/// Queries as a web app asks them: compared by the rules of SealQuery, whose sources are part of this module.
extension Query {
    /// A type; conditions, each: a field's name, the comparison's number or 7 IN, 8 BEGINS_WITH, 9 LIST_CONTAINS,
    /// whether it is the opposite that is asked for, and values in canonical bytes; then what it is sorted by, each: a
    /// field's name, and whether ascending.
    init(_ reader: inout CanonicalReader) throws(SealError) {
        let type = try reader.string(atMost: nameBytes)
        var conditions: [Condition] = []
        for _ in 0..<(try Query.count(&reader, ofAtLeast: 10, atMost: Query.Limits.conditions)) {
            conditions.append(try Condition(&reader))
        }
        var order: [SortDescriptor] = []
        for _ in 0..<(try Query.count(&reader, ofAtLeast: 5, atMost: Query.Limits.sortDescriptors)) {
            let key = try reader.string(atMost: nameBytes)
            order.append(SortDescriptor(key: key, ascending: try reader.flag()))
        }
        self.init(recordType: type, predicate: Predicate(conditions), sortDescriptors: order)
    }

    fileprivate static func count(
        _ reader: inout CanonicalReader, ofAtLeast bytes: Int, atMost most: Int
    ) throws(SealError) -> Int {
        let count = try reader.count(UInt32.self, ofAtLeast: bytes)
        guard count <= most else { throw .invalidLength }
        return count
    }
}

extension Query.Condition {
    fileprivate init(_ reader: inout CanonicalReader) throws(SealError) {
        let key = Query.SystemField.canonicalName(try reader.string(atMost: nameBytes))
        let (comparator, isNegated) = (try reader.byte(), try reader.flag())
        var values: [Value] = []
        for _ in 0..<(try Query.count(&reader, ofAtLeast: 5, atMost: Query.Limits.listValues)) {
            values.append(try Value(canonicalBytes: try reader.blob(atMost: reader.remaining)))
        }
        if comparator == 7 {
            self.init(.isIn(key, values), isNegated: isNegated)
            return
        }
        guard values.count == 1 else { throw .malformed }
        switch (comparator, values[0]) {
        case (8, .string(let prefix)): self.init(.beginsWith(key, prefix), isNegated: isNegated)
        case (8, _): throw .malformed
        case (9, let value): self.init(.contains(key, value), isNegated: isNegated)
        case (let number, let value):
            guard let comparison = Query.Comparison(rawValue: number) else { throw .malformed }
            self.init(.compare(key, comparison, value), isNegated: isNegated)
        }
    }
}

extension Query.Subject {
    init(_ statement: Statement, created: Int64, modified: Int64, _ fields: [String: Value]) {
        self.init(
            recordType: statement.recordType, recordName: statement.recordName, created: created, modified: modified,
            creator: statement.creator.recordName, author: statement.author.recordName, fields: fields)
    }

    // Words and distances no web app can ask for (`Query.init`): what they are judged by is left out of the module.

    func hasWords(of text: String, all: Bool) -> Bool { false }
    func metres(_ key: String, from other: Location) -> Double? { nil }
}
