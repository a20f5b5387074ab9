import SealQuery
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
        var rows = IndexRows(zone: zone, connection)
        var words = 0
        for change in changes {
            guard let type = schema.indexed[change.type], type.hasEntries else { continue }
            try follow(change, type, &rows, &words)
            // What one record alone takes out is never too much, or it could not be deleted.
            guard rows.count + words <= Self.mostPartsPerRequest || changes.count == 1 else {
                throw Self.tooMany(with: change)
            }
        }
        try rows.write()
    }

    private func follow(
        _ change: RecordChange, _ type: IndexedType, _ rows: inout IndexRows, _ wordCount: inout Int
    ) throws {
        let isWanted = { (name: String) in type.fields[name].map { $0.isOrdered || $0.isSearchable } ?? false }
        let values = type.hasFieldEntries ? try PlainFields.values(change.fields, where: isWanted) : [:]
        let words = type.searchable.isEmpty ? [] : Self.words(values, type, known: change.words)
        guard Self.parts(values, words, type) <= Self.mostParts else { throw Self.tooMany }
        let former = type.hasFieldEntries ? try PlainFields.values(change.formerFields, where: isWanted) : [:]
        let isFormerEntered = try !Self.isTooMuch(former, type) && isEntered(change, former, type)
        for (name, field) in type.ordered where !isFormerEntered || !Value.isSame(former[name], values[name]) {
            rows.replace(former[name], with: values[name], isFormerEntered: isFormerEntered, field.id, change)
        }
        for (name, field) in type.orderedSystem {
            rows.replace(
                change.formerValue(name), with: change.value(name), isFormerEntered: isFormerEntered, field.id, change)
        }
        // Read again only where a text is another one: not those of a deleted record, which may be long.
        guard !isFormerEntered || type.searchable.contains(where: { !Value.isSame(values[$0], former[$0]) })
        else { return }
        let room = Self.mostPartsPerRequest - wordCount
        wordCount += try SearchIndex(zone: zone, connection: connection).replace(
            words, of: change.name, type: type.name
        ) { if $0 > room { throw Self.tooMany(with: change) } }
    }

    /// Whether the former version is in each index that it belongs into: one that was too much is in none of those that
    /// were made meanwhile, also where the index is gone that made it so.
    private func isEntered(_ change: RecordChange, _ former: [String: Value], _ type: IndexedType) throws -> Bool {
        guard Self.mayHaveBeenTooMuch(change.formerFields) else { return true }
        for (name, field) in type.ordered {
            guard try has(former[name], of: change.name, field: field.id) else { return false }
        }
        for (name, field) in type.orderedSystem {
            guard try has(change.formerValue(name), of: change.name, field: field.id) else { return false }
        }
        return true
    }

    /// - Parameter fields: as they are stored. Each part has a byte or more.
    static func mayHaveBeenTooMuch(_ fields: [UInt8]) -> Bool { fields.count > mostParts }

    /// Whether the index of a field has what a record holds there: it is entered as a whole, or not at all.
    func has(_ value: Value?, of record: String, field: Int64) throws -> Bool {
        var key = value.flatMap { IndexKey($0) }
        // What is not on the earth has no key.
        if case .list(let elements)? = value { key = elements.lazy.compactMap { IndexKey($0) }.first }
        guard let key else { return true }
        return try Self.has(key, of: record, field: field, in: zone, connection)
    }

    static func has(
        _ key: IndexKey, of record: String, field: Int64, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3 AND value = $4 AND record = $5",
            zone.key + [.integer(field), .blob(key.bytes), .text(record)])
    }

    /// What one record may bring into the indexes: each part is a row, or a term with the names of its zone and type,
    /// that no account pays for and every other write waits for.
    package static let mostParts = 10_000

    /// What one request may bring into the indexes and take out of them, together.
    package static let mostPartsPerRequest = 25_000

    /// What is sent comes before what goes along with it, of which there are fewer only once some were deleted before.
    private static func tooMany(with change: RecordChange) -> ServerError {
        change.wentAlong ? tooManyAlong : tooManyTogether
    }

    private static let tooManyAlong = ServerError(
        .limitExceeded,
        "What goes with a deletion takes more than \(mostPartsPerRequest) values, list elements and words out of indexes.",
        remedy: "Delete some of the records that refer to it first, or fewer in one request.")

    private static let tooManyTogether = ServerError(
        .limitExceeded,
        "The request changes more than \(mostPartsPerRequest) values, list elements and words in fields that are indexed.",
        remedy: "Send fewer records at once, or take the index from such fields in the schema.")

    static let tooMany = ServerError(
        .limitExceeded, "A record has more than \(mostParts) words and list elements in fields that are indexed.",
        remedy: "Take the index from such fields in the schema, or spread the values over several records.")

    /// Words, and elements of indexed lists.
    static func parts(_ values: [String: Value], _ words: Set<String>, _ type: IndexedType) -> Int {
        type.ordered.reduce(words.count) { sum, field in
            guard case .list(let elements) = values[field.name] else { return sum }
            return sum + elements.count
        }
    }

    /// Whether a record that held these was left out of the indexes that were made while it did. A word has a byte and
    /// another one after it, so that few texts are taken apart for this.
    private static func isTooMuch(_ former: [String: Value], _ type: IndexedType) -> Bool {
        let elements = parts(former, [], type)
        let bytes = type.searchable.reduce(0) { sum, name in
            switch former[name] {
            case .string(let text): sum + text.utf8.count + 1
            case .list(let texts):
                texts.reduce(sum) { if case .string(let text) = $1 { $0 + text.utf8.count + 1 } else { $0 } }
            default: sum
            }
        }
        guard elements + bytes / 2 > mostParts else { return false }
        return elements > mostParts || parts(former, words(former, type), type) > mostParts
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

    /// What a record holds that belongs into the indexes of fields, by their numbers.
    /// - Parameter wanted: of one field; nil for all.
    static func values(_ subject: Query.Subject, _ type: IndexedType, of wanted: Int64?) -> [Int64: Value] {
        var values: [Int64: Value] = [:]
        for (name, field) in type.ordered where wanted == nil || field.id == wanted {
            values[field.id] = subject.value(name)
        }
        for (name, field) in type.orderedSystem where wanted == nil || field.id == wanted {
            values[field.id] = subject.value(name.rawValue)
        }
        return values
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
