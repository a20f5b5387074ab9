package import SealQuery
package import SealStatements
package import SealStorage
import SealWire

/// Keeps a zone's index entries in step with its records, inside each save's transaction: an entry for each value of a
/// field that the schema marks, written and removed only where it changed.
package struct RecordIndex {
    package let zone: ZoneRow
    package let connection: any SQLConnection

    /// - Parameter schema: as it holds after these changes.
    package func follow(_ changes: [RecordChange], _ schema: StoredSchema) throws {
        var written = (elements: 0, words: 0)
        for change in changes {
            guard let type = schema.indexed[change.type], type.hasEntries else { continue }
            try follow(change, type, &written)
        }
    }

    private func follow(
        _ change: RecordChange, _ type: IndexedType, _ written: inout (elements: Int, words: Int)
    ) throws {
        let isWanted = { (name: String) in type.fields[name].map { $0.isOrdered || $0.isSearchable } ?? false }
        let hasFields = !type.ordered.isEmpty || !type.searchable.isEmpty
        let values = hasFields ? try PlainFields.values(change.fields, where: isWanted) : [:]
        let words = type.searchable.isEmpty ? [] : Self.words(values, type, known: change.words)
        guard Self.parts(values, words, type) <= Self.mostParts else { throw Self.tooMany }
        let former = hasFields ? try PlainFields.values(change.formerFields, where: isWanted) : [:]
        for (name, field) in type.ordered {
            try replace(former[name], with: values[name], field.id, change, &written.elements)
        }
        for (name, field) in type.orderedSystem {
            try replace(change.formerValue(name), with: change.value(name), field.id, change, &written.elements)
        }
        // Read again only where a text is another one: not those of a deleted record, which may be long.
        guard type.searchable.contains(where: { !Value.isSame(values[$0], former[$0]) }) else { return }
        written.words += words.count
        guard written.words <= Self.mostWords else { throw Self.tooManyWords }
        try SearchIndex(zone: zone, connection: connection).replace(words, of: change.name, type: type.name)
    }

    /// What one record may bring into the indexes: each part is a row, or a term with the names of its zone and type,
    /// that no account pays for and every other write waits for.
    package static let mostParts = 10_000

    /// Elements of lists that one request may bring into the indexes and take out of them: a row each.
    package static let mostElements = 100_000

    /// Words that the records of one request may bring into the indexes: a term each.
    package static let mostWords = 40_000

    private static let tooManyWords = ServerError(
        .limitExceeded, "The request brings more than \(mostWords) words into indexes.",
        remedy: "Send fewer records at once, or take the index from such fields in the schema.")

    private static let tooManyElements = ServerError(
        .limitExceeded, "The request changes more than \(mostElements) list elements in fields that are indexed.",
        remedy: "Send fewer records at once, or take the index from such fields in the schema.")

    static let tooMany = ServerError(
        .limitExceeded, "A record has more than \(mostParts) words and list elements in fields that are indexed.",
        remedy: "Take the index from such fields in the schema, or spread the values over several records.")

    /// Words, and elements of indexed lists.
    private static func parts(_ values: [String: Value], _ words: Set<String>, _ type: IndexedType) -> Int {
        type.ordered.reduce(words.count) { sum, field in
            guard case .list(let elements) = values[field.name] else { return sum }
            return sum + elements.count
        }
    }

    /// - Parameter known: those of some fields that were read already.
    package static func words(
        _ values: [String: Value], _ type: IndexedType, known: [String: Set<String>] = [:]
    ) -> Set<String> {
        var subject = Query.Subject(
            recordType: type.name, recordName: "", fields: values, searchableFields: type.searchable)
        subject.knownWords = known
        return subject.words
    }

    private func replace(
        _ former: Value?, with value: Value?, _ field: Int64, _ change: RecordChange, _ elements: inout Int
    ) throws {
        guard !Value.isSame(former, value) else { return }
        let old = former.map(IndexKey.entries) ?? []
        let new = value.map(IndexKey.entries) ?? []
        let (gone, come) = (old.subtracting(new), new.subtracting(old))
        if Self.isList(former) || Self.isList(value) {
            elements += gone.count + come.count
            guard elements <= Self.mostElements else { throw Self.tooManyElements }
        }
        for key in gone {
            try connection.execute(
                "DELETE FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3 AND value = $4 AND record = $5",
                zone.key + [.integer(field), .blob(key.bytes), .text(change.name)])
        }
        for key in come { try insert(key, field, change.name, at: change.position) }
    }

    private static func isList(_ value: Value?) -> Bool {
        if case .list = value { true } else { false }
    }

    /// - Parameter position: the place in the zone's feed at which the record came to have this value.
    package func insert(_ key: IndexKey, _ field: Int64, _ record: String, at position: Int64) throws {
        try connection.execute(
            """
            INSERT INTO record_index (owner, zone, field, value, record, position) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (owner, zone, field, value, record, position) DO NOTHING
            """,
            zone.key + [.integer(field), .blob(key.bytes), .text(record), .integer(position)])
    }

    /// Adds one field's entries of a stored record, where they are missing. One that has too many is not found by them.
    /// - Parameter position: its place in the zone's feed.
    func add(_ subject: Query.Subject, at position: Int64, _ type: IndexedType, _ id: Int64) throws {
        let words = type.searchable.isEmpty ? [] : subject.words
        guard Self.parts(subject.fields, words, type) <= Self.mostParts else { return }
        let ordered =
            type.ordered.first { $0.field.id == id }?.name
            ?? type.orderedSystem.first { $0.field.id == id }?.name.rawValue
        if let ordered, let value = subject.value(ordered) {
            for key in IndexKey.entries(of: value) {
                let isThere = try connection.exists(
                    "SELECT 1 FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3 AND value = $4 AND record = $5",
                    zone.key + [.integer(id), .blob(key.bytes), .text(subject.recordName)])
                if !isThere { try insert(key, id, subject.recordName, at: position) }
            }
        }
        try SearchIndex(zone: zone, connection: connection).replace(words, of: subject.recordName, type: type.name)
    }
}

extension Value {
    /// Byte for byte, which is less than what texts are equal by, and takes no time that grows with their marks.
    fileprivate static func isSame(_ left: Value?, _ right: Value?) -> Bool {
        switch (left, right) {
        case (.string(let left)?, .string(let right)?): left.utf8.elementsEqual(right.utf8)
        case (.list(let left)?, .list(let right)?): left.elementsEqual(right) { isSame($0, $1) }
        default: left == right
        }
    }
}

extension RecordChange {
    fileprivate func value(_ field: Query.SystemField) -> Value? {
        guard kind != .deleted else { return nil }
        return switch field {
        case .recordID: .reference(ReferenceValue(recordName: name))
        case .creationDate: .date(ReferenceDate.seconds(ofMicroseconds: created))
        case .modificationDate: .date(ReferenceDate.seconds(ofMicroseconds: modified))
        case .creatorUserRecordID: .reference(ReferenceValue(recordName: creator.recordName))
        case .lastModifiedUserRecordID: .reference(ReferenceValue(recordName: author.recordName))
        }
    }

    /// Of the record before: nil for one that was just made.
    fileprivate func formerValue(_ field: Query.SystemField) -> Value? {
        guard kind != .created, let former else { return nil }
        return switch field {
        case .recordID: .reference(ReferenceValue(recordName: name))
        // Neither ever changes.
        case .creationDate: .date(ReferenceDate.seconds(ofMicroseconds: created))
        case .creatorUserRecordID: .reference(ReferenceValue(recordName: creator.recordName))
        case .modificationDate: .date(ReferenceDate.seconds(ofMicroseconds: former.modified))
        case .lastModifiedUserRecordID:
            (try? Statement(canonicalBytes: former.statement)).map {
                .reference(ReferenceValue(recordName: $0.author.recordName))
            }
        }
    }
}
