import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A record of a batch as it is sent: sealed where it is private, and signed.
struct SignedRecord: Sendable {
    let statement: Statement
    let statementBytes: [UInt8]
    let hash: Digest
    /// As they are sent.
    let fields: [Wire.Field]
    let digests: FieldList<Digest>
    /// For the next save in this epoch; nil in the public database.
    let recordKey: SecretBytes?

    /// Of a zone.
    init(_ sealed: SealedRecord, of item: ZoneBatch.Item) {
        statement = sealed.statement
        statementBytes = sealed.statementBytes
        hash = sealed.hash
        recordKey = sealed.recordKey
        var fields: [Wire.Field] = []
        var digests = FieldList<Digest>()
        fields.reserveCapacity(sealed.fields.count)
        digests.reserveCapacity(sealed.fields.count)
        for (name, content, digest) in sealed.fields {
            switch content {
            case .carried(let digest): fields.append(Wire.Field(.digest(digest), name: name))
            case .stored(let field):
                fields.append(Wire.Field(.stored(field, blob: field.isAsset ? item.blob(of: name) : nil), name: name))
            }
            digests[name] = digest
        }
        (self.fields, self.digests) = (fields, digests)
    }

    /// Of the public database.
    /// - Throws: what no statement can say.
    init(statementBytes: [UInt8], fields: [Wire.Field], digests: FieldList<Digest>) throws(SealError) {
        statement = try Statement(canonicalBytes: statementBytes)
        self.statementBytes = statementBytes
        hash = Statement.hash(statementBytes)
        (self.fields, self.digests) = (fields, digests)
        recordKey = nil
    }

    func wire(_ item: ZoneBatch.Item) -> Wire.Record {
        .with { wire in
            wire.recordName = statement.recordName
            wire.recordType = statement.recordType
            wire.statement = statementBytes
            switch item {
            case .delete(_, _, _, let tag):
                wire.changeTag = tag
                wire.deleted = true
            case .save(let record):
                wire.changeTag = record.recordChangeTag ?? ""
                wire.fields = fields
            }
        }
    }
}

extension ZoneBatch.Item {
    /// Where the bytes of an asset are, which were uploaded before.
    fileprivate func blob(of field: String) -> String? {
        guard case .save(let record) = self, case .asset(let asset)? = record.fields[field] else { return nil }
        return asset.remote?.blob
    }
}

extension StoredField {
    fileprivate var isAsset: Bool { if case .asset = self { true } else { false } }
}
