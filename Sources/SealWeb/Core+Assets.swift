import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Assets, part by part: the module holds no more of one than a part.
extension Core {
    /// A zone, a record, a field → the handle of its opening; owner, zone and id of its bytes; its size, how many bytes
    /// its sealed chunks have, and how many there are to fetch with the leaves behind them.
    mutating func beginAsset(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let name = try reader.string(atMost: Limits.nameBytes)
        let (asset, blob) = try zone.asset(try reader.string(atMost: Limits.nameBytes), of: name)
        writer.number(assets.insert(AssetReading(asset), &last))
        writer.string(zone.scope.owner.recordName)
        writer.string(zone.scope.zoneName)
        writer.string(blob)
        writer.number(asset.size)
        writer.number(asset.layout.sealedBytes)
        writer.number(asset.layout.blobBytes)
    }

    /// An asset, its leaves → nothing: they are held against the signed root before anything is opened.
    func assetLeaves(_ reader: inout CanonicalReader) throws(SealError) {
        try assets[try reader.number()].take(leaves: try reader.blob(atMost: reader.remaining))
    }

    /// An asset, its next sealed chunks → what is in them.
    func openChunks(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let asset = try assets[try reader.number()]
        writer.blob(try asset.open(try reader.blob(atMost: reader.remaining)))
    }

    // MARK: Uploads

    /// A zone, how many bytes a file has → the handle of its upload; owner, zone and id of it; how many bytes there are
    /// to seal with the padding; how many chunks a part has, 0 where it goes in one; and the request that begins it in
    /// parts.
    mutating func beginUpload(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let writing = try AssetWriting(size: try reader.number(), random: &random)
        writer.number(uploads.insert(writing, &last))
        writer.string(zone.scope.owner.recordName)
        writer.string(zone.scope.zoneName)
        writer.string(writing.id.hex)
        writer.number(writing.layout.paddedSize)
        let isInParts = writing.layout.chunkCount > UInt64(Limits.assetPartChunks)
        writer.number(UInt32(isInParts ? Limits.assetPartChunks : 0))
        var request = Wire.BeginUploadRequest()
        request.contentBytes = writing.layout.sealedBytes
        writer.blob(request.protobuf())
    }

    /// An upload, the answer to its beginning → nothing: the server takes parts as they are here.
    func uploadState(_ reader: inout CanonicalReader) throws(SealError) {
        let writing = try uploads[try reader.number()]
        try requireParts(try reader.blob(atMost: reader.remaining), of: writing.layout.sealedBytes)
    }

    /// - Parameter state: the server's answer to an upload of so many bytes that begins.
    /// - Throws: `unsupported` for parts of another size than they have here.
    func requireParts(_ state: [UInt8], of contentBytes: UInt64) throws(SealError) {
        let state = try Wire.UploadState(protobuf: state)
        guard state.contentBytes == contentBytes, Int(state.partChunks) == Limits.assetPartChunks else {
            throw .unsupported
        }
    }

    /// An upload, the file's next bytes with the padding's → them sealed.
    func sealChunks(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let writing = try uploads[try reader.number()]
        writer.blob(try writing.seal(try reader.blob(atMost: reader.remaining)))
    }

    /// An upload, how many of its chunks were sealed last → the root over them, which ends the part that they are.
    func partRoot(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let writing = try uploads[try reader.number()]
        let count = Int(clamping: try reader.number(UInt32.self))
        writer.blob(try AssetTree.root([Digest](writing.leaves.suffix(count))).bytes)
    }

    /// An upload whose chunks are sealed → its leaves, and the request that ends one in parts.
    func endUpload(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let writing = try uploads[try reader.number()]
        writer.blob(writing.leaves.reduce(into: []) { $0 += $1.bytes })
        var request = Wire.FinishUploadRequest()
        request.root = try writing.asset().root.bytes
        writer.blob(request.protobuf())
    }
}
