import SealClient
import SealPrimitives
import SealStatements

/// Assets of a container's public database, part by part: the host has their bytes, the module the tree over them.
extension Core {
    /// A public database, a record that was read, a field → the handle of its reading; owner, zone and id of its bytes;
    /// how many there are.
    mutating func publicAsset(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, name, field) = try core { () throws(SealError) in
            (
                try publicZones[try reader.number()], try reader.string(atMost: Limits.nameBytes),
                try reader.string(atMost: Limits.nameBytes)
            )
        }
        for (name, content) in try zone.there(name).fields {
            guard name == field, case .publicAsset(let asset, let blob) = content else { continue }
            write(PublicAssetBytes(asset, blob: blob), of: zone, &writer)
            return
        }
        throw Refusal("unknownItem")
    }

    /// A public database, how many bytes a file has → as of `publicAsset`; how many chunks a part has, 0 where it goes
    /// in one; and the request that begins it in parts.
    mutating func publicUpload(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, bytes) = try core { () throws(SealError) -> (PublicZone, PublicAssetBytes) in
            let zone = try publicZones[try reader.number()]
            return (zone, try PublicAssetBytes(size: try reader.number(), random: &random))
        }
        write(bytes, of: zone, &writer)
        writer.number(UInt32(bytes.isInParts ? Limits.assetPartChunks : 0))
        var request = Wire.BeginUploadRequest()
        request.contentBytes = bytes.size
        writer.blob(request.protobuf())
    }

    private mutating func write(_ bytes: PublicAssetBytes, of zone: PublicZone, _ writer: inout CanonicalWriter) {
        writer.number(publicAssets.insert(bytes, &last))
        writer.string(zone.scope.owner.recordName)
        writer.string(zone.scope.zoneName)
        writer.string(bytes.blob)
        writer.number(bytes.size)
    }

    /// An upload, the answer to its beginning → nothing: the server takes parts as they are here.
    func publicUploadState(_ reader: inout CanonicalReader) throws(Refusal) {
        try core { () throws(SealError) in
            let bytes = try publicAssets[try reader.number()]
            try requireParts(try reader.blob(atMost: reader.remaining), of: bytes.size)
        }
    }

    /// An asset that is read or sent, its next bytes → nothing.
    func publicChunks(_ reader: inout CanonicalReader) throws(Refusal) {
        try core { () throws(SealError) in
            try publicAssets[try reader.number()].take(try reader.blob(atMost: reader.remaining))
        }
    }

    /// An upload, how many of its chunks have passed last → the root over them, which ends the part that they are.
    func publicPartRoot(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let root = try core { () throws(SealError) in
            let bytes = try publicAssets[try reader.number()]
            let count = Int(clamping: try reader.number(UInt32.self))
            return try AssetTree.root([Digest](bytes.leaves.suffix(count)))
        }
        writer.blob(root.bytes)
    }

    /// An asset all of whose bytes have passed, which are what was signed where it is read → the request that ends an
    /// upload in parts.
    func publicAssetEnd(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let asset = try core { () throws(SealError) in try publicAssets[try reader.number()].asset() }
        var request = Wire.FinishUploadRequest()
        request.root = asset.root.bytes
        writer.blob(request.protobuf())
    }
}
