import SealStatements

/// What is different in a newer schema, for people and for the rules of deployment.
public struct SchemaDifference: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case addedRole(String)
        case removedRole(String)
        case addedType(String)
        case removedType(String)
        case addedField(String, type: String, RecordType.Field)
        case removedField(String, type: String, RecordType.Field)
        /// Another kind, or encrypted where it was plain, or plain where it was encrypted.
        case changedKind(String, type: String, from: RecordType.Field, to: RecordType.Field)
        case changedIndexes(String, type: String, from: RecordType.Field, to: RecordType.Field)
        case changedGrants(type: String, from: [RecordType.Grant], to: [RecordType.Grant])
    }

    /// Roles first, then types and in each its fields, by name.
    public let changes: [Change]

    /// - Parameters: two schemas; built-in types count as there in both.
    public init(from old: Schema, to new: Schema) {
        let (old, new) = (old.completed, new.completed)
        var changes: [Change] = []
        for role in old.roles.union(new.roles).sorted() where old.roles.contains(role) != new.roles.contains(role) {
            changes.append(new.roles.contains(role) ? .addedRole(role) : .removedRole(role))
        }
        for name in Set(old.types.keys).union(new.types.keys).sorted() {
            changes += SchemaDifference.compare(name, old.types[name], new.types[name])
        }
        self.changes = changes
    }

    /// What would take something away that records or apps rely on: types, fields and roles that go, kinds that change,
    /// plain fields that become encrypted or the other way round. Production refuses these. Indexes and grants may
    /// change in either direction: no record is touched by them.
    public var losses: [Change] { changes.filter(\.isLoss) }

    private static func compare(_ name: String, _ old: RecordType?, _ new: RecordType?) -> [Change] {
        var changes: [Change] = []
        if old == nil { changes.append(.addedType(name)) }
        guard let new else { return [.removedType(name)] }
        let before = old?.fields ?? [:]
        for field in Set(before.keys).union(new.fields.keys).sorted() {
            // A system field is always there; what changes are its indexes.
            let system = SystemField(rawValue: field).map { RecordType.Field($0.type) }
            switch (before[field] ?? system, new.fields[field] ?? system) {
            case (nil, let added?): changes.append(.addedField(field, type: name, added))
            case (let removed?, nil): changes.append(.removedField(field, type: name, removed))
            case (let from?, let to?) where from.type != to.type || from.isEncrypted != to.isEncrypted:
                changes.append(.changedKind(field, type: name, from: from, to: to))
            case (let from?, let to?) where from.indexes != to.indexes:
                changes.append(.changedIndexes(field, type: name, from: from, to: to))
            default: break
            }
        }
        // What a new type grants is told as well: it is what people should look at before they deploy.
        let (from, to) = (old?.grants ?? [], new.grants)
        if RecordType.Grant.merged(from) != RecordType.Grant.merged(to) {
            changes.append(.changedGrants(type: name, from: from, to: to))
        }
        return changes
    }
}

extension SchemaDifference.Change {
    public var isLoss: Bool {
        switch self {
        case .removedRole, .removedType, .removedField, .changedKind: true
        case .addedRole, .addedType, .addedField, .changedIndexes, .changedGrants: false
        }
    }
}

extension SchemaDifference.Change: CustomStringConvertible {
    /// One line: `+ field Note.title STRING QUERYABLE`.
    public var description: String {
        switch self {
        case .addedRole(let role): "+ role \(role)"
        case .removedRole(let role): "- role \(role)"
        case .addedType(let type): "+ record type \(type)"
        case .removedType(let type): "- record type \(type)"
        case .addedField(let field, let type, let definition): "+ field \(type).\(field) \(definition.text)"
        case .removedField(let field, let type, let definition): "- field \(type).\(field) \(definition.text)"
        case .changedKind(let field, let type, let from, let to),
            .changedIndexes(let field, let type, let from, let to):
            "~ field \(type).\(field) \(from.text) -> \(to.text)"
        case .changedGrants(let type, let from, let to):
            "~ grants of \(type): \(Self.text(from)) -> \(Self.text(to))"
        }
    }

    private static func text(_ grants: [RecordType.Grant]) -> String {
        grants.isEmpty ? "none" : grants.map { $0.text.dropFirst("GRANT ".count) }.joined(separator: "; ")
    }
}
