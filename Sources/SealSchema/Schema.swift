public import SealStatements

/// A container's schema in one environment: what CloudKit's schema language describes.
public struct Schema: Sendable, Hashable {
    /// By name. `Users` and `cloudkit.share` are always there once `completed`.
    public var types: [String: RecordType]
    /// Custom security roles, besides `_world`, `_icloud` and `_creator`.
    public var roles: Set<String>

    public init(types: [String: RecordType] = [:], roles: Set<String> = []) {
        self.types = types
        self.roles = roles
    }
}

public struct RecordType: Sendable, Hashable {
    public var name: String
    /// By name; of the system fields (`___recordID`, `___createTime`, …) those that have an index.
    public var fields: [String: Field]
    /// Who may what in the public database.
    public var grants: [Grant]

    public init(name: String, fields: [String: Field] = [:], grants: [Grant] = Grant.usual) {
        self.name = name
        self.fields = fields
        self.grants = grants
    }

    public struct Field: Sendable, Hashable {
        public var type: ValueType
        public var isEncrypted: Bool
        public var indexes: Indexes

        public init(_ type: ValueType, isEncrypted: Bool = false, indexes: Indexes = []) {
            self.type = type
            self.isEncrypted = isEncrypted
            self.indexes = indexes
        }
    }

    public struct Indexes: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Equality.
        public static let queryable = Indexes(rawValue: 1)
        /// Ranges and sorting.
        public static let sortable = Indexes(rawValue: 2)
        /// Words of a text.
        public static let searchable = Indexes(rawValue: 4)
    }

    public struct Grant: Sendable, Hashable {
        public enum Right: UInt8, Sendable, Hashable, CaseIterable {
            case read = 1
            case create = 2
            case write = 3
        }

        public var rights: Set<Right>
        /// `_world`, `_icloud`, `_creator`, or a custom role.
        public var role: String

        public init(_ rights: Set<Right>, to role: String) {
            self.rights = rights
            self.role = role
        }

        /// What a new type grants: as in CloudKit.
        public static let usual = [
            Grant([.write], to: "_creator"), Grant([.create], to: "_icloud"), Grant([.read], to: "_world"),
        ]

        /// The roles that every container has: anybody, anybody with an account, the record's creator.
        public static let systemRoles: Set<String> = ["_world", "_icloud", "_creator"]

        /// The same rights with one grant a role, ordered by role: equal rights are equal values.
        public static func merged(_ grants: [Grant]) -> [Grant] {
            var rights: [String: Set<Right>] = [:]
            for grant in grants { rights[grant.role, default: []].formUnion(grant.rights) }
            return rights.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { Grant($0.value, to: $0.key) }
        }
    }
}
