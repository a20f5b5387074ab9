import Foundation
import SealCoding
package import SealPrimitives
import SealStatements
package import SealStorage
import SealWire
import SwiftProtobuf

/// A record's row. `fields`, `statement` and `proof` are kept as they travel.
package struct StoredRecord: Sendable {
    package let name: String
    package let type: String
    package let position: Int64
    package let created: Int64
    package let modified: Int64
    package let isDeleted: Bool
    package let hash: Digest
    package let statement: [UInt8]
    /// A serialized `StatementProof`.
    package let proof: [UInt8]
    /// A serialized `Record` that has nothing but fields: appended to the system fields it gives the whole record, by
    /// protobuf's own rule that concatenated messages merge.
    package let fields: [UInt8]
    /// The number behind the change tag; a new tag alone leaves the record's place in the feed as it is.
    package let tag: Int64
    package let assets: Int
    /// How many of its references lead to what it goes with (`DeleteReference`).
    let deleteReferences: Int
    /// For a record that went with the target of a reference: the place of that target's deletion (`Cascade`).
    let wentWith: Int64?
    /// The scope of its newest statement: a share's number, or 0.
    package let share: Int64
    /// Its newest statement took it out of a share, and is all that the reader of that share gets of it.
    var isDeparture = false
    /// A serialized `SignedMove`, where the newest statement is not itself what brought the record into its share.
    let move: [UInt8]?

    package static let columns = """
        name, type, position, created, modified, deleted, hash, statement, proof, fields, tag, assets,
        delete_references, went_with, share,
        CASE WHEN move_hash = hash THEN NULL ELSE move END AS move
        """

    package init(_ row: any SQLRow) throws {
        name = try row.text("name")
        type = try row.text("type")
        position = try row.int64("position")
        created = try row.int64("created")
        modified = try row.int64("modified")
        isDeleted = try row.bool("deleted")
        hash = try Digest(try row.bytes("hash"))
        statement = try row.bytes("statement")
        proof = try row.bytes("proof")
        fields = try row.bytes("fields")
        tag = try row.int64("tag")
        assets = Int(try row.int64("assets"))
        deleteReferences = Int(try row.int64("delete_references"))
        wentWith = try row.optionalInt64("went_with")
        share = try row.int64("share")
        move = try row.optionalBytes("move")
    }

    /// As the zone's viewer has it: a participant of shares gets what is in them, and of what left them that it did.
    package static func find(
        _ name: String, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> StoredRecord? {
        let found = try connection.first(byName, zone.key + [.text(name)], StoredRecord.init)
        if let found, zone.sees(share: found.share, isDeleted: found.isDeleted, tag: found.tag) { return found }
        return try zone.visibleShares.flatMap { try departure(name, from: $0, in: zone, connection) }
    }

    private static let byName = "SELECT \(columns) FROM record WHERE owner = $1 AND zone = $2 AND name = $3"

    var fieldMessages: [Sealkit_V1_Field] {
        get throws { try Sealkit_V1_Record(serializedBytes: fields).fields }
    }

    /// The record as it travels: serialized, with the fields that are desired; the others as digests, so that the
    /// statement stays verifiable.
    package func serialized(desired: Set<String>?) throws -> [UInt8] {
        let fields: [UInt8]
        if let desired, !self.fields.isEmpty {
            var encoder = FieldEncoder()
            for field in try fieldMessages {
                let content = try WireField(field)
                if desired.contains(field.name) {
                    try encoder.append(field.name, content)
                } else {
                    try encoder.append(field.name, .digest(try content.digest(name: field.name)))
                }
            }
            fields = encoder.bytes
        } else {
            fields = self.fields
        }
        var writer = WireWriter(capacity: fields.count + statement.count + proof.count + name.utf8.count + 128)
        writer.systemFields(
            name: name, type: type, position: position, tag: tag, created: created, modified: modified,
            isDeleted: isDeleted)
        if isDeparture { writer.number(100, 1) }
        writer.raw(fields)
        writer.blob(7, statement)
        writer.blob(8, proof)
        if let move { writer.blob(101, move) }
        return writer.bytes
    }
}

extension WireWriter {
    /// A `Record`'s system fields, by their numbers in the schema.
    mutating func systemFields(
        name: String, type: String, position: Int64, tag: Int64, created: Int64, modified: Int64, isDeleted: Bool
    ) {
        text(1, name)
        text(2, type)
        text(3, ChangeTag.text(tag))
        signed(4, created)
        signed(5, modified)
        number(9, UInt64(bitPattern: position))
        number(10, isDeleted ? 1 : 0)
    }
}

/// Writes `Record.fields`, one after another. Only what this version knows is written, so nothing else is ever stored.
struct FieldEncoder {
    private var writer: WireWriter

    /// - Parameter capacity: bytes that are known to come; there is room for an ordinary record in any case.
    init(capacity: Int = 0) { writer = WireWriter(capacity: max(2048, capacity)) }

    var bytes: [UInt8] { writer.bytes }

    /// An encrypted value that is written as `append` would write it (`SentField.Content.encrypted`).
    mutating func append(element: ArraySlice<UInt8>) { writer.raw(element) }

    mutating func append(_ name: String, _ field: WireField) throws {
        guard case .stored(.encrypted(let tag, let sealed), _) = field else {
            let message = try field.wire(name: name).serializedBytes() as [UInt8]
            writer.head(6, count: message.count)
            writer.raw(message)
            return
        }
        // Nearly every field is one of these: Field { name = 1, encrypted = 3 { kind = 1, sealed = 2 } }.
        let kind = UInt64(tag.byte)
        let kindSize = kind == 0 ? 0 : 1 + WireWriter.varintSize(Int(kind))
        let valueSize = kindSize + (sealed.isEmpty ? 0 : 1 + WireWriter.varintSize(sealed.count) + sealed.count)
        let nameSize = 1 + WireWriter.varintSize(name.utf8.count) + name.utf8.count
        writer.head(6, count: nameSize + 1 + WireWriter.varintSize(valueSize) + valueSize)
        writer.text(1, name)
        writer.head(3, count: valueSize)
        writer.number(1, kind)
        writer.blob(2, sealed)
    }
}
