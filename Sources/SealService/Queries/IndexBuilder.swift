import SealQuery
import SealStatements
package import SealStorage

/// Makes the indexes that `IndexBuilds` notes, some records at a time: they are read beside the writer, which only
/// takes what is to be entered, in one transaction with how far it came. A crash repeats nothing and leaves nothing
/// out.
package enum IndexBuilder {
    package static func run(_ schemas: SchemaStore, _ turn: JobTurn) async throws {
        var last: IndexBuilds.Place?
        while let part = try await turn.read({ [last] in try IndexPart.next(schemas, after: last, in: $0) }) {
            last = part.place
            try await turn.step(at: part.home ?? turn.home) { try part.write(in: $0) }
        }
    }
}

/// The next records of an index that is noted.
package struct IndexPart: Sendable {
    private let build: IndexBuilds.Build
    /// Nil where the schema has no index of it any more.
    private let type: IndexedType?
    /// Nil before the first one, and where it is gone.
    private let zone: ZoneRow?
    private var entries: [Entry] = []
    private var last: String
    /// Nothing of the zone comes after these.
    private var isZoneDone = true

    fileprivate struct Entry {
        let record: String
        let position: Int64
        /// By the number of the field.
        let keys: [Int64: Set<IndexKey>]
        /// Nil where they are there already.
        let words: Set<String>?

        /// What it brings: rows and words.
        var parts: Int { keys.reduce(words?.count ?? 0) { $0 + $1.value.count } }
    }

    /// What one transaction takes.
    private static let mostRecords = 200
    private static let mostBytes = 4 * 1024 * 1024
    private static let mostParts = 10_000

    /// - Parameter last: where the part before this one was; nil for the first.
    /// - Returns: nil where no index is to be made.
    package static func next(
        _ schemas: SchemaStore, after last: IndexBuilds.Place?, in connection: any SQLConnection
    ) throws -> IndexPart? {
        guard let build = try IndexBuilds.Build.next(after: last, in: connection) else { return nil }
        let schema = try schemas.schema(build.container, build.environment, in: connection)
        return try IndexPart(build, schema.indexed[build.type], connection)
    }

    private init(_ build: IndexBuilds.Build, _ type: IndexedType?, _ connection: any SQLConnection) throws {
        self.build = build
        self.type = type
        last = build.record
        zone = try connection.first(
            "SELECT \(ZoneRow.columns) FROM zone z WHERE z.owner = $1 AND z.zone = $2",
            [.integer(build.owner), .integer(build.zone)], ZoneRow.init)
        guard let zone, build.isCleared, let type else { return }
        var room = (records: Self.mostRecords, bytes: Self.mostBytes, parts: Self.mostParts)
        try connection.stream(
            """
            SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND name > $3 AND deleted = 0
            ORDER BY name
            """, zone.key + [.text(build.record)]
        ) { row in
            guard room.records > 0, room.bytes > 0, room.parts > 0 else {
                isZoneDone = false
                return false
            }
            let record = try StoredRecord(row)
            let before = last
            last = record.name
            room.records -= 1
            room.bytes -= record.fields.count
            guard let entry = try Entry(record, type, of: build.field, in: zone, connection) else { return true }
            guard entry.parts <= room.parts || entries.isEmpty else {
                last = before
                isZoneDone = false
                return false
            }
            room.parts -= entry.parts
            entries.append(entry)
            return true
        }
    }

    package var place: IndexBuilds.Place { build.place }

    /// The zone that it is at; nil where that is gone.
    package var home: Home? { zone.map { .zone(owner: $0.owner, zone: $0.number) } }

    package func write(in connection: any SQLConnection) throws {
        guard try build.isStill(in: connection) else { return }
        if let zone {
            guard build.isCleared else {
                try clear(zone, connection)
                return
            }
            if let type {
                let (upTo, isAll) = try enter(zone, type, connection)
                guard isZoneDone, isAll else {
                    try build.move(to: zone.key, upTo, in: connection)
                    return
                }
            }
        }
        let next = try connection.first(
            """
            SELECT \(ZoneRow.columns) FROM zone z WHERE (z.owner, z.zone) > ($1, $2) AND z.container = $3 AND z.environment = $4
            ORDER BY z.owner, z.zone LIMIT 1
            """,
            [
                .integer(build.owner), .integer(build.zone), .text(build.container),
                .integer(Int64(build.environment.rawValue)),
            ],
            ZoneRow.init)
        if let next {
            try build.move(to: next.key, IndexBuilds.Build.uncleared, in: connection)
        } else {
            try connection.execute("DELETE FROM index_build WHERE field = $1", [.integer(build.field)])
        }
    }

    /// What is there may be of another schema.
    private func clear(_ zone: ZoneRow, _ connection: any SQLConnection) throws {
        let count = try connection.execute(
            """
            DELETE FROM record_index WHERE (owner, zone, field, value, record, position) IN (
                SELECT owner, zone, field, value, record, position FROM record_index
                WHERE owner = $1 AND zone = $2 AND field = $3 LIMIT $4)
            """, zone.key + [.integer(build.field), .integer(Int64(Self.mostParts))])
        guard count < Self.mostParts else { return }
        try build.move(to: zone.key, IndexBuilds.Build.cleared, in: connection)
    }

    /// - Returns: up to which record what is there is entered now, in the order of names, and whether that is all of
    ///   the part.
    private func enter(
        _ zone: ZoneRow, _ type: IndexedType, _ connection: any SQLConnection
    ) throws -> (upTo: String, isAll: Bool) {
        let search = SearchIndex(zone: zone, connection: connection)
        var rows = IndexRows(zone: zone, connection)
        var done = build.record
        for read in entries {
            var entry = read
            let position = try connection.first(
                "SELECT position FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
                zone.key + [.text(read.record)]
            ) { try $0.int64("position") }
            if position != read.position {
                // Its save has entered what it changed, and nothing else. What it left as it was is entered from the
                // record as it is now: the next part reads that; only what a part begins with is read in the writer.
                guard done == build.record else {
                    try rows.write()
                    return (done, false)
                }
                guard let now = try current(read.record, type, zone, connection) else {
                    done = read.record
                    continue
                }
                entry = now
            }
            for (field, keys) in entry.keys {
                for key in keys {
                    let isThere = try RecordIndex.has(key, of: entry.record, field: field, in: zone, connection)
                    if !isThere { rows.insert(key, field, entry.record, at: entry.position) }
                }
            }
            if let words = entry.words { try search.replace(words, of: entry.record, type: type.name) }
            done = entry.record
        }
        try rows.write()
        return (last, true)
    }

    /// What a record holds now; nil where it is gone.
    private func current(
        _ name: String, _ type: IndexedType, _ zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Entry? {
        let record = try connection.first(
            "SELECT \(StoredRecord.columns) FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(name)], StoredRecord.init)
        return try record.flatMap { try Entry($0, type, of: build.field, in: zone, connection) }
    }
}

extension IndexPart.Entry {
    /// Nil for what is in no index of the type.
    /// - Parameter field: the index that is made.
    fileprivate init?(
        _ record: StoredRecord, _ type: IndexedType, of field: Int64, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws {
        guard record.type == type.name else { return nil }
        let index = RecordIndex(zone: zone, connection: connection)
        let subject = try Query.Subject(record, type)
        let words = type.searchable.isEmpty ? [] : subject.words
        // One that has too many is not found by them.
        guard RecordIndex.parts(subject.fields, words, type) <= RecordIndex.mostParts else { return nil }
        // One that was too much is in no index that was made meanwhile, also where this one's end makes it fit.
        let mayBeOut = RecordIndex.mayHaveBeenTooMuch(record.fields)
        var keys: [Int64: Set<IndexKey>] = [:]
        for (other, value) in RecordIndex.values(subject, type, of: mayBeOut ? nil : field) {
            let isWanted = try other == field || !index.has(value, of: record.name, field: other)
            if isWanted { keys[other] = IndexKey.entries(of: value) }
        }
        let areThere = try SearchIndex(zone: zone, connection: connection).has(words, of: record.name, type: type.name)
        self.init(record: record.name, position: record.position, keys: keys, words: areThere ? nil : words)
    }
}
