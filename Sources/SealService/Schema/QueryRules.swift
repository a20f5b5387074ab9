import SealQuery
import SealSchema
import SealStatements
import SealWire

/// What the schema has to say about a query: every field known, readable, of the right kind and indexed for what is
/// asked.
package enum QueryRules {
    package static let unknownType = ServerError(
        .unknownItem, "There is no such record type.",
        remedy: "Types appear with their first record, or with the schema.")

    static func check(_ query: Query, _ type: IndexedType) throws(ServerError) {
        for condition in query.predicate.conditions { try check(condition.test, type) }
        for descriptor in query.sortDescriptors {
            let field = try field(descriptor.key, type)
            // Records are kept by name, and distances are found by what equality is found by: these orders cost no
            // more.
            let isFree = descriptor.relativeLocation != nil || descriptor.key == Query.SystemField.recordID.rawValue
            guard !field.indexes.isDisjoint(with: isFree ? [.queryable, .sortable] : .sortable) else {
                throw unmarked(descriptor.key, "sortable")
            }
            guard !field.type.isList else {
                throw mistaken(descriptor.key, "is a list, and has no order", "Sort by a field with one value.")
            }
            guard (descriptor.relativeLocation != nil) == (field.type.kind == .location) else {
                throw mistaken(
                    descriptor.key, "is sorted by in a way that its kind does not have",
                    "Sort locations by their distance, everything else by its value.")
            }
        }
    }

    private static func check(_ test: Query.Test, _ type: IndexedType) throws(ServerError) {
        switch test {
        case .never: return
        case .words:
            guard !type.searchable.isEmpty else {
                throw ServerError(
                    .invalidArguments, "No field of the record type is marked searchable.",
                    remedy: "Mark a string field SEARCHABLE in the schema.")
            }
        case .compare(let key, let comparison, let value):
            let field = try scalar(key, type, equality: comparison == .equal || comparison == .notEqual)
            try require(Query.fits(value, field.type.kind), key)
        case .between(let key, let low, let high):
            let field = try scalar(key, type, equality: false)
            try require(Query.fits(low, field.type.kind) && Query.fits(high, field.type.kind), key)
        case .isIn(let key, let values):
            let field = try scalar(key, type, equality: true)
            try require(values.allSatisfy { Query.fits($0, field.type.kind) }, key)
        case .beginsWith(let key, _):
            let field = try scalar(key, type, equality: nil)
            try require(field.type.kind == .string, key)
        case .contains(let key, let value): try list(key, [value], type)
        case .containsAny(let key, let values): try list(key, values, type)
        case .near(let key, _, _, _):
            let field = try scalar(key, type, equality: true)
            try require(field.type.kind == .location, key)
        }
    }

    /// - Parameter equality: whether QUERYABLE is what it takes, or SORTABLE; nil: either.
    private static func scalar(_ key: String, _ type: IndexedType, equality: Bool?) throws(ServerError)
        -> IndexedType.Field
    {
        let field = try field(key, type)
        switch equality {
        case true?: guard field.indexes.contains(.queryable) else { throw unmarked(key, "queryable") }
        case false?: guard field.indexes.contains(.sortable) else { throw unmarked(key, "sortable") }
        case nil:
            guard !field.indexes.isDisjoint(with: [.queryable, .sortable]) else { throw unmarked(key, "queryable") }
        }
        guard !field.type.isList else {
            throw mistaken(key, "is a list", "Ask for its elements: with CONTAINS, or ANY … IN.")
        }
        return field
    }

    private static func list(_ key: String, _ values: [Value], _ type: IndexedType) throws(ServerError) {
        let field = try field(key, type)
        guard field.indexes.contains(.queryable) else { throw unmarked(key, "queryable") }
        guard field.type.isList else {
            throw mistaken(
                key, "is not a list", "Parts of a text cannot be asked for; search words with self CONTAINS.")
        }
        try require(values.allSatisfy { Query.fits($0, field.type.kind) }, key)
    }

    private static func field(_ key: String, _ type: IndexedType) throws(ServerError) -> IndexedType.Field {
        guard let field = type.field(key) else {
            if Query.SystemField(rawValue: key) != nil { throw unmarked(key, "queryable") }
            throw ServerError(
                .invalidArguments, "The record type has no field \(key).",
                remedy: "Check the name; fields are in the schema.")
        }
        try checkReadable(key, field)
        return field
    }

    /// For what compares records as they are, without an index: no field is one that the server cannot compare.
    static func checkReadable(_ keys: Set<String>, _ type: IndexedType) throws(ServerError) {
        for key in keys.sorted() {
            if let field = type.fields[key] { try checkReadable(key, field) }
        }
    }

    private static func checkReadable(_ key: String, _ field: IndexedType.Field) throws(ServerError) {
        guard !field.isEncrypted else {
            throw ServerError(
                .invalidArguments, "The field \(key) is encrypted: the server cannot compare what it cannot read.",
                remedy: "Fetch the records and compare on the device.")
        }
        guard !field.isAsset else {
            throw ServerError(
                .invalidArguments, "The field \(key) is an asset, and assets are not compared.",
                remedy: "Ask for another field.")
        }
    }

    private static func require(_ fits: Bool, _ key: String) throws(ServerError) {
        guard fits else {
            throw mistaken(
                key, "is compared with a value of another kind", "Give a value of the kind that the schema says.")
        }
    }

    /// In CloudKit's words. The name is the schema's, or passed for one.
    static func unmarked(_ key: String, _ mark: String) -> ServerError {
        let name = Query.SystemField(rawValue: key)?.schemaName ?? key
        return ServerError(
            .invalidArguments, "The field \(name) is not marked \(mark).",
            remedy: "Mark it \(mark.uppercased()) in the schema; in production, deploy that.")
    }

    private static func mistaken(_ key: String, _ what: String, _ remedy: String) -> ServerError {
        ServerError(.invalidArguments, "The field \(key) \(what).", remedy: remedy)
    }
}
