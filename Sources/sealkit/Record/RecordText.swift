import Foundation
import SealKit
import SealStatements

/// How records look, as text and as JSON. Everything in them was written by somebody: it is escaped.
enum RecordText {
    static func text(_ record: Record) -> String {
        var rows: [(String, String)] = []
        if let author = record.lastModifiedUserRecordID {
            rows.append(("author", author.recordName.escaped.withNames + " (signature verified)"))
        }
        if let creator = record.creatorUserRecordID { rows.append(("creator", creator.recordName.escaped.withNames)) }
        if let date = record.modificationDate { rows.append(("modified", Timestamp.shown(date))) }
        if let parent = record.parent { rows.append(("parent", parent.recordName.escaped)) }
        for key in keys(record) { rows.append((key.escaped, field(key, of: record))) }
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return
            (["\(record.recordType.escaped) \(record.recordID.recordName.escaped)"]
            + rows.map { "  \($0.padded(to: width))\($1)" }).joined(separator: "\n")
    }

    /// One line of a list.
    static func line(_ record: Record) -> String {
        let fields = keys(record).map { "\($0.escaped)=\(field($0, of: record).shortened(to: 40))" }
        return "\(record.recordType.escaped) \(record.recordID.recordName.escaped)  \(fields.joined(separator: "  "))"
    }

    /// Those that were not asked for too.
    private static func keys(_ record: Record) -> [String] { (record.allKeys() + record.omittedKeys).sorted() }

    private static func field(_ key: String, of record: Record) -> String {
        if let value = record.encryptedValues.value(key) { return "\(text(value))  (encrypted)" }
        if let value = record.plainValue(key) { return "\(text(value))  (plain)" }
        if let asset: Asset = record[key] {
            return
                "asset\(asset.size.map { ", " + ByteCount.text(Int64(clamping: $0)) } ?? "")  (\(asset.isSealed ? "encrypted" : "plain"))"
        }
        return "(not fetched)"
    }

    private static func text(_ value: RecordValue) -> String {
        switch value {
        case .string(let text): "\"\(text.escaped)\""
        case .data(let bytes): bytes.count.counted("byte")
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date: Date(recordValue: value).map(Timestamp.text) ?? ""
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .reference(let reference): "→ \(reference.recordName.escaped)"
        case .list(let values): "[\(values.map(text).joined(separator: ", "))]"
        }
    }

    static func json(_ record: Record) -> JSONValue {
        var object: [String: JSONValue] = [
            "recordName": .string(record.recordID.recordName), "recordType": .string(record.recordType),
            "zone": .string(record.recordID.zoneID.zoneName), "zoneOwner": .string(record.recordID.zoneID.ownerName),
            "changeTag": JSONValue(record.recordChangeTag),
            "created": JSONValue(record.creationDate.map(Timestamp.text)),
            "modified": JSONValue(record.modificationDate.map(Timestamp.text)),
            "creator": JSONValue(record.creatorUserRecordID?.recordName),
            "author": JSONValue(record.lastModifiedUserRecordID?.recordName),
        ]
        if let parent = record.parent { object["parent"] = .string(parent.recordName) }
        var fields: [String: JSONValue] = [:]
        for key in keys(record) { fields[key] = jsonField(key, of: record) }
        object["fields"] = .object(fields)
        return .object(
            object.naming(record.creatorUserRecordID?.recordName, as: "creatorName")
                .naming(record.lastModifiedUserRecordID?.recordName, as: "authorName")
                .naming(record.recordID.zoneID.ownerName, as: "zoneOwnerName"))
    }

    private static func jsonField(_ key: String, of record: Record) -> JSONValue {
        if let value = record.encryptedValues.value(key) { return json(value, encrypted: true) }
        if let value = record.plainValue(key) { return json(value, encrypted: false) }
        if let asset: Asset = record[key] {
            return .object([
                "kind": .string("asset"), "encrypted": .bool(asset.isSealed),
                "size": asset.size.map { .integer(Int64(clamping: $0)) } ?? .null,
            ])
        }
        return .object(["kind": .string("omitted")])
    }

    private static func json(_ value: RecordValue, encrypted: Bool) -> JSONValue {
        .object(["kind": .string(kind(value)), "encrypted": .bool(encrypted), "value": json(value)])
    }

    /// `date`, `list-date`; of an empty list `list`.
    private static func kind(_ value: RecordValue) -> String {
        switch value.tag {
        case .type(let type): "\(type.isList ? "list-" : "")\(type.kind)"
        case .emptyList: "list"
        }
    }

    private static func json(_ value: RecordValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .data(let bytes): .string(Data(bytes).base64EncodedString())
        case .int64(let number): .integer(number)
        case .double(let number): .double(number)
        case .date: JSONValue(Date(recordValue: value).map(Timestamp.text))
        case .location(let place):
            .object(["latitude": .double(place.latitude), "longitude": .double(place.longitude)])
        case .reference(let reference): .object(["recordName": .string(reference.recordName)])
        case .list(let values): .array(values.map(json))
        }
    }

    /// A value alone, for pipes: text and data as they are.
    static func bytes(_ value: RecordValue) -> [UInt8] {
        switch value {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        default: Array(text(value).utf8)
        }
    }
}
