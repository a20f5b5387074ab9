import SealStatements
import SealStorage

/// The change of a public database whose turn it is, and how far its subscribers were told.
struct PublicChangeRow {
    let position: Int64
    let zoneOwner: Int64
    let container: String
    let environment: Environment
    let origin: [UInt8]
    /// Microseconds since 1970.
    let changed: Int64
    let recordType: String
    /// Nil where more changed than is kept.
    let record: RecordChange?
    /// The last subscription that was told.
    let told: (owner: Int64, id: String)

    /// The words of changes' long texts, by the changes' positions.
    typealias Words = [Int64: [String: Set<String>]]

    /// The oldest that waits after another one; nil: of all.
    /// - Parameter words: that were read already.
    static func next(
        _ words: Words, after last: PublicChangeRow?, in connection: any SQLConnection
    ) throws -> PublicChangeRow? {
        try connection.first(oldest, [.integer(last?.position ?? .min), .integer(1)]) { try PublicChangeRow($0, words) }
    }

    private static let mostBytes = 4 * 1024 * 1024

    /// Of the oldest that wait, as many as one transaction may take.
    static func words(atMost count: Int, in connection: any SQLConnection) throws -> Words {
        var words: Words = [:]
        var bytes = 0
        try connection.stream(oldest, [.integer(.min), .integer(Int64(count))]) { row in
            let fields = try row.bytes("fields")
            bytes += fields.count
            guard words.isEmpty || bytes <= mostBytes else { return false }
            words[try row.int64("position")] = try PlainFields.values(fields).compactMapValues(\.wordsOfLongTexts)
            return true
        }
        return words
    }

    private static let oldest = """
        SELECT c.position, c.zone_owner, z.container, z.environment, c.origin, c.changed, c.reason, c.record, c.record_type,
            c.creator, c.author, c.created, c.modified, c.fields, c.told_owner, c.told_id
        FROM public_change c JOIN zone z ON z.owner = c.zone_owner AND z.zone = 1
        WHERE c.position > $1 ORDER BY c.position LIMIT $2
        """

    private init(_ row: any SQLRow, _ words: Words) throws {
        position = try row.int64("position")
        zoneOwner = try row.int64("zone_owner")
        container = try row.text("container")
        environment = try row.environment("environment")
        origin = try row.bytes("origin")
        changed = try row.int64("changed")
        recordType = try row.text("record_type")
        told = (try row.int64("told_owner"), try row.text("told_id"))
        guard let reason = PublicChanges.Reason(rawValue: try row.int64("reason")) else {
            throw StorageError.unexpectedType(column: "reason", wanted: "a reason")
        }
        guard let kind = reason.kind else {
            record = nil
            return
        }
        let fields = try row.bytes("fields")
        record = RecordChange(
            kind: kind, name: try row.text("record"), type: recordType, position: 0,
            creator: try UserID(recordName: try row.text("creator")),
            author: try UserID(recordName: try row.text("author")), created: try row.int64("created"),
            modified: try row.int64("modified"), fields: kind == .deleted ? [] : fields, words: words[position] ?? [:],
            formerFields: kind == .deleted ? fields : [], formerBytes: kind == .deleted ? fields.count : 0,
            isNewRow: false,
            shares: [], former: nil)
    }

    /// The key of the zone that it was in.
    var zoneKey: [SQLValue] { [.integer(zoneOwner), .integer(1)] }

    /// It was told to everybody.
    func settle(in connection: any SQLConnection) throws {
        try connection.execute("DELETE FROM public_change WHERE position = $1", [.integer(position)])
    }

    /// Notes how far it was told.
    func move(to last: (owner: Int64, id: String), in connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE public_change SET told_owner = $2, told_id = $3 WHERE position = $1",
            [.integer(position), .integer(last.owner), .text(last.id)])
    }
}
