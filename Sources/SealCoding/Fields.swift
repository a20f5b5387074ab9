public import SealPrimitives
public import SealStatements
public import SealWire
import SwiftProtobuf

import struct Foundation.Data

extension WireField {
    /// - Throws: `malformed`, `invalidLength`.
    public init(_ wire: Sealkit_V1_Field) throws(SealError) {
        switch wire.content {
        case .plain(let value): self = .stored(.plain(try Value(value)), blob: nil)
        case .encrypted(let sealed):
            guard let byte = UInt8(exactly: sealed.kind) else { throw .malformed }
            let tag = try ValueTag(byte: byte)
            guard tag.mayBeEncrypted else { throw .unsupported }
            self = .stored(.encrypted(tag, sealed: [UInt8](sealed.sealed)), blob: nil)
        case .asset(let asset):
            let commitment = AssetCommitment(
                salt: try Digest(asset.salt), chunkCount: asset.chunkCount, root: try Digest(asset.root),
                descriptor: [UInt8](asset.descriptor))
            self = .stored(.asset(commitment), blob: asset.blob)
        case .omitted(let digest): self = .digest(try Digest(digest))
        case .publicAsset(let asset):
            self = .publicAsset(try PublicAsset(claimed: asset.size, root: try Digest(asset.root)), blob: asset.blob)
        case nil: throw .malformed
        }
    }

    public func wire(name: String) -> Sealkit_V1_Field {
        var wire = Sealkit_V1_Field()
        wire.name = name
        switch self {
        case .stored(.plain(let value), _): wire.plain = value.wire
        case .stored(.encrypted(let tag, let sealed), _):
            wire.encrypted = .with {
                $0.kind = UInt32(tag.byte)
                $0.sealed = Data(sealed)
            }
        case .stored(.asset(let asset), let blob):
            wire.asset = .with {
                $0.blob = blob ?? ""
                $0.salt = Data(asset.salt.bytes)
                $0.chunkCount = asset.chunkCount
                $0.root = Data(asset.root.bytes)
                $0.descriptor = Data(asset.descriptor)
            }
        case .digest(let digest): wire.omitted = Data(digest.bytes)
        case .publicAsset(let asset, let blob):
            wire.publicAsset = .with {
                $0.blob = blob
                $0.size = asset.size
                $0.root = Data(asset.root.bytes)
            }
        }
        return wire
    }
}

extension Sealkit_V1_DerivedDeletion {
    /// - Throws: `malformed` for a path that is none.
    public func siblings() throws(SealError) -> [Digest] { try [Digest](treePath: [UInt8](path)) }
}

extension DerivedDeletion {
    /// - Parameters:
    ///   - record: the record's own statement, verified.
    ///   - tombstone: the one that `wire` brings, verified.
    /// - Throws: `malformed` for a path that is none.
    public init(_ wire: Sealkit_V1_DerivedDeletion, of record: VerifiedStatement, tombstone: VerifiedStatement)
        throws(SealError)
    {
        guard let count = Int(exactly: wire.count), let index = Int(exactly: wire.index) else { throw .malformed }
        self.init(record: record, tombstone: tombstone, count: count, index: index, path: try wire.siblings())
    }
}

extension TakenRecord {
    /// - Parameter record: the statement that `wire` brings, verified.
    /// - Throws: `invalidNotice` where the reference is missing; decoding errors.
    public init(_ wire: Sealkit_V1_TakenRecord, record: VerifiedStatement) throws(SealError) {
        try self.init(record: record, field: wire.field, fieldsInMessage: wire.record.fields) {
            field throws(SealError) in (field.name, try WireField(field))
        }
    }
}

extension StatementProof {
    public init(_ wire: Sealkit_V1_StatementProof) throws(SealError) {
        guard let leafCount = Int(exactly: wire.leafCount),
            let index = Int(exactly: wire.index)
        else { throw .malformed }
        self.init(
            signature: [UInt8](wire.signature), leafCount: leafCount, index: index,
            path: try [Digest](treePath: [UInt8](wire.path)))
    }

    public var wire: Sealkit_V1_StatementProof {
        .with {
            $0.signature = Data(signature)
            $0.leafCount = UInt32(leafCount)
            $0.index = UInt32(index)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(path.count * Digest.byteCount)
            for node in path { node.append(to: &bytes) }
            $0.path = Data(bytes)
        }
    }
}
