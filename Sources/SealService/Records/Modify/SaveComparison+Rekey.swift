import SealCoding
import SealStatements
import SealWire
import SwiftProtobuf

/// New keys for what is stored already.
extension SaveComparison {
    func isRewrap(_ content: RecordBatch.Content, of known: Predecessor) throws -> Bool {
        let statement = content.statement
        guard statement.isKeyCarried || batch.isRekeying, statement.parent == known.parent,
            let before = known.statement.decoded, before.share == statement.share
        else { return false }
        if statement.isKeyCarried { return content.fields.bytes == known.fields }
        return try (before.epochContext != statement.epochContext || before.isKeyCarried)
            && Self.showsTheSame(content.fields.bytes, as: known.fields)
    }

    /// See `AcceptedRecord.isKeyKnown`.
    func isKeyKnown(_ statement: Statement, after before: Predecessor?) -> Bool {
        guard statement.isKeyCarried, let before else { return false }
        if before.isKeyKnown || before.share > 0 { return true }
        // Of a zone that was never shared as a whole nobody but its owner had the keys.
        guard statement.formerScope != nil, case .rosters(let rosters) = batch.judge else { return true }
        return rosters.scopes.values.first { $0.share == nil }?.roster.isShared ?? true
    }

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
