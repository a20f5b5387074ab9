import SealPrimitives
import SealStatements
import SealStorage

/// What the server has under a record's name, as far as a save needs it.
struct Predecessor {
    let type: String
    let tag: Int64
    let revision: UInt64
    let hash: Digest
    let creator: UserID
    let created: Int64
    let modified: Int64
    let isDeleted: Bool
    let assets: Int
    /// Of its fields as they are stored.
    let fieldBytes: Int
    /// Empty until they are read: they may be long, and most saves need none of them.
    private(set) var fields: [UInt8]
    let parent: String?
    let deleteReferences: Int
    /// It went with the target of a reference, whose deletion has this place: its newest statement is still a save.
    let wentWith: Int64?
    let statement: StoredStatement
    /// The scope of its newest statement: a share's number, or 0.
    let share: Int64
    /// Its key is one that others know than those who read its scope.
    let isKeyKnown: Bool

    /// Fields up to that come along at once where somebody will look at them; longer ones only for what is accepted.
    private static let shortFields: Int64 = 4096

    struct Wanted {
        let name: String
        /// Somebody looks at the fields of a record that is accepted.
        let withShortFields: Bool
    }

    /// What there is under each name, in the same places.
    /// - Parameter wanted: nil where nothing is looked for.
    static func find(
        _ wanted: [Wanted?], in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> [Predecessor?] {
        var found = [Predecessor?](repeating: nil, count: wanted.count)
        let places = wanted.indices.filter { wanted[$0] != nil }
        try connection.runEach(
            """
            SELECT type, tag, revision, hash, creator, created, deleted, assets, LENGTH(fields) AS field_bytes, modified,
                parent, delete_references, went_with, statement, share, key_known,
                CASE WHEN LENGTH(fields) <= $4 THEN fields END AS fields FROM record
            WHERE owner = $1 AND zone = $2 AND name = $3
            """,
            wanted.compactMap(\.self).map {
                zone.key + [.text($0.name), .integer($0.withShortFields ? shortFields : 0)]
            }
        ) { set, row in
            found[places[set]] = Predecessor(
                type: try row.text("type"), tag: try row.int64("tag"),
                revision: UInt64(bitPattern: try row.int64("revision")),
                hash: try Digest(try row.bytes("hash")), creator: UserID(try ID16(try row.bytes("creator"))),
                created: try row.int64("created"),
                modified: try row.int64("modified"), isDeleted: try row.bool("deleted"),
                assets: Int(try row.int64("assets")),
                fieldBytes: Int(try row.int64("field_bytes")), fields: try row.optionalBytes("fields") ?? [],
                parent: try row.optionalText("parent"),
                deleteReferences: Int(try row.int64("delete_references")),
                wentWith: try row.optionalInt64("went_with"), statement: StoredStatement(try row.bytes("statement")),
                share: try row.int64("share"),
                isKeyKnown: try row.bool("key_known"))
        }
        return found
    }

    /// The same, with what it holds.
    func withFields(of name: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Predecessor {
        guard fields.count < fieldBytes else { return self }
        var whole = self
        whole.fields =
            try connection.first(
                "SELECT fields FROM record WHERE owner = $1 AND zone = $2 AND name = $3", zone.key + [.text(name)]
            ) { try $0.bytes("fields") } ?? []
        return whole
    }
}
