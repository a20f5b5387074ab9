import SealCoding
import SealStatements
import SealWire
import SwiftProtobuf

extension RecordSave {
    /// Whether a record's fields, as stored, may be the same values sealed under another key: plain values and assets
    /// are the very same, sealed ones are of the same kind and size. More a server cannot see.
    static func showsTheSame(_ fields: [UInt8], as known: [UInt8]) throws -> Bool {
        let now = try Sealkit_V1_Record(serializedBytes: fields).fields
        let before = try Sealkit_V1_Record(serializedBytes: known).fields
        guard now.count == before.count else { return false }
        for (one, other) in zip(now, before) {
            guard one.name == other.name else { return false }
            switch (try WireField(one), try WireField(other)) {
            case (.stored(.plain(let value), _), .stored(.plain(let former), _)):
                guard value == former else { return false }
            case (.stored(.encrypted(let type, let sealed), _), .stored(.encrypted(let formerType, let former), _)):
                guard type == formerType, sealed.count == former.count else { return false }
            case (.stored(.asset(let asset), let blob), .stored(.asset(let former), let formerBlob)):
                guard asset.salt == former.salt, asset.root == former.root, asset.chunkCount == former.chunkCount,
                    blob == formerBlob
                else { return false }
            default: return false
            }
        }
        return true
    }
}
