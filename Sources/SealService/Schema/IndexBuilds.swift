import SealQuery
import SealSchema
import SealStatements
package import SealStorage
import SealWire

/// Indexes over records that were there before the index was: noted with the schema's change, made in the background,
/// and not used before they are whole.
package enum IndexBuilds {
    package static let unfinished = ServerError(
        .serviceUnavailable, "An index that the query needs is being made.", remedy: "Try again in a moment.",
        retryAfter: 1)

    /// Notes, in the schema change's transaction, every field whose entries have to be made or taken away. Called for
    /// imports, deployments and resets, and for fields that appear with a save where records may exist from before
    /// (`StoredSchema.hasHistory`): not for those that appear in a container that always had a schema, since no stored
    /// record has them.
    ///
    /// What takes long (indexing the records of all users) is only noted here, durably, and done after the commit.
    static func note(_ change: SchemaChange, _ connection: any SQLConnection) throws {
        for index in change.indexes where index.field != Query.SystemField.recordID.schemaName {
            func field(_ indexes: RecordType.Indexes) -> IndexedType.Field {
                IndexedType.Field(id: index.id, type: index.kind, isEncrypted: false, indexes: indexes)
            }
            let (before, after) = (field(index.before), field(index.after))
            guard before.isOrdered != after.isOrdered || before.isSearchable != after.isSearchable else { continue }
            // One that was under way begins anew: part of it was made for another schema.
            try connection.execute(
                """
                INSERT INTO index_build (field, container, environment, type, owner, zone, record) VALUES ($1, $2, $3, $4, $5, 0, '')
                ON CONFLICT (field) DO UPDATE SET owner = excluded.owner, zone = 0, record = ''
                """,
                [
                    .integer(index.id), .text(change.container), .integer(Int64(change.environment.rawValue)),
                    .text(index.type), .integer(Build.beforeAll),
                ])
        }
    }

    /// Whether any is to be made.
    package static func areThere(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM index_build LIMIT 1")
    }

    /// Whether nothing that the query reads is still being made.
    static func areFinished(
        for query: Query, _ type: IndexedType, _ schema: StoredSchema, in connection: any SQLConnection
    ) throws -> Bool {
        let building = try connection.rows(
            "SELECT field FROM index_build WHERE container = $1 AND environment = $2 AND type = $3",
            [.text(schema.container), .integer(Int64(schema.environment.rawValue)), .text(type.name)]
        ) { try $0.int64("field") }
        guard !building.isEmpty else { return true }
        var needed = Set(query.sortDescriptors.compactMap { type.field($0.key)?.id })
        for condition in query.predicate.conditions {
            if case .words = condition.test { needed.formUnion(type.searchable.compactMap { type.fields[$0]?.id }) }
            if let key = condition.test.key, let field = type.field(key) { needed.insert(field.id) }
        }
        return needed.isDisjoint(with: building)
    }

    /// What takes its turn.
    package struct Place: Sendable {
        let container: String
        let environment: Environment
    }

    /// One field's index under way.
    struct Build: Sendable, Equatable {
        let field: Int64
        let container: String
        let environment: Environment
        let type: String
        /// Where a build begins: public databases are numbered downwards from zero.
        static let beforeAll = Int64.min
        /// Before all records of a zone, whose former entries are still to be taken out.
        static let uncleared = ""
        /// The same, once they are: no record's name begins so.
        static let cleared = "\u{1}"

        /// The zone that it is at, and the last record there that is done.
        let owner: Int64
        let zone: Int64
        let record: String

        var isCleared: Bool { record != Self.uncleared }

        var place: Place { Place(container: container, environment: environment) }

        private static let columns = "field, container, environment, type, owner, zone, record"

        /// The one whose turn it is: containers and environments have a part each before any has a second one, however
        /// many fields wait there.
        /// - Parameter last: whose turn it was; nil at first.
        static func next(after last: Place?, in connection: any SQLConnection) throws -> Build? {
            func first(_ condition: String, _ values: [SQLValue]) throws -> Build? {
                try connection.first(
                    """
                    SELECT \(columns) FROM index_build WHERE \(condition)
                    ORDER BY container, environment, field LIMIT 1
                    """, values, Build.init)
            }
            let later = try last.flatMap {
                try first(
                    "(container, environment) > ($1, $2)",
                    [.text($0.container), .integer(Int64($0.environment.rawValue))])
            }
            return try later ?? first("1 = 1", [])
        }

        /// Whether it is still where it was: it may have begun anew, for another schema.
        func isStill(in connection: any SQLConnection) throws -> Bool {
            try connection.first(
                "SELECT \(Self.columns) FROM index_build WHERE field = $1", [.integer(field)], Build.init) == self
        }

        private init(_ row: any SQLRow) throws {
            field = try row.int64("field")
            container = try row.text("container")
            environment = try row.environment("environment")
            type = try row.text("type")
            owner = try row.int64("owner")
            zone = try row.int64("zone")
            record = try row.text("record")
        }

        /// - Parameter zone: `ZoneRow.key`.
        func move(to zone: [SQLValue], _ record: String, in connection: any SQLConnection) throws {
            try connection.execute(
                "UPDATE index_build SET owner = $2, zone = $3, record = $4 WHERE field = $1",
                [.integer(field)] + zone + [.text(record)])
        }
    }
}
