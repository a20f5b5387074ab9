import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension AssetVectors: Construction {
    static let construction = VectorConstruction.assets
    static let algorithm = "Asset chunks and hash tree"
    static let header = [
        "Layout: where the bytes of an asset of `size` lie.",
        "Chunk: chunk `chunk` of an asset of `size` under `fileKey` and `salt`. Its padded plaintext is `plaintext`, or `count` bytes `byte`; sealed it is `sealed`, or its leaf is `leaf`.",
        "Open: `sealed` as chunk `chunk`.",
        "Tree: `leaves` have `root`.",
    ]
    private static let fileKey = [UInt8](repeating: 0x70, count: 32)
    private static let salt = GrantHash.of([3])

    static func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Layout") { group in
            for size in [0, 1, 100, 65_535, 65_536, 65_537, 140_000, 10_000_000] as [UInt64] {
                let layout = AssetLayout(size: size)
                group.valid(
                    "\(size) bytes",
                    [
                        "size": .number(size), "paddedSize": .number(layout.paddedSize),
                        "chunkCount": .number(layout.chunkCount), "sealedBytes": .number(layout.sealedBytes),
                        "blobBytes": .number(layout.blobBytes),
                    ])
            }
        }
        let base: [String: JSON] = ["fileKey": .hex(fileKey), "salt": .hex(salt)]
        let short = [UInt8]("An asset.".utf8) + [UInt8](repeating: 0, count: 23)
        let sealed = try seal(short, chunk: 0, size: 9, fileKey: SecretBytes(copying: fileKey), salt: salt)
        try builder.group("Chunk") { group in
            group.valid(
                "a single chunk",
                base.merging(["size": .number(9), "chunk": .int(0), "plaintext": .hex(short), "sealed": .hex(sealed)]) {
                    $1
                })
            let layout = AssetLayout(size: 140_000)
            for chunk in 0..<Int(layout.chunkCount) {
                let count = layout.plaintextBytes(ofChunk: UInt64(chunk))
                let sealed = try seal(
                    [UInt8](repeating: UInt8(chunk), count: count), chunk: UInt64(chunk), size: 140_000,
                    fileKey: SecretBytes(copying: fileKey), salt: salt)
                group.valid(
                    "chunk \(chunk) of \(layout.chunkCount)",
                    base.merging([
                        "size": .number(140_000), "chunk": .int(chunk), "byte": .int(chunk), "count": .int(count),
                        "leaf": .hex(AssetTree.leaf(sealed)),
                    ]) { $1 })
            }
            group.altered("a chunk of another length", ["count": .int(1)])
            group.altered("a chunk past the end", ["chunk": .int(3)])
        }
        try builder.group("Open") { group in
            group.valid(
                "a single chunk",
                base.merging(["size": .number(9), "chunk": .int(0), "sealed": .hex(sealed), "plaintext": .hex(short)]) {
                    $1
                })
            var altered = sealed
            altered[3] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            group.altered("another file key", ["fileKey": .hex(Digest.zero)])
            group.altered("another salt", ["salt": .hex(Digest.zero)])
            group.altered("a chunk past the end", ["chunk": .int(1)])
            for (comment, nonce) in [
                ("without the last chunk's mark", [UInt8](repeating: 0, count: 12)),
                ("with another chunk's number", [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ] {
                var output = [UInt8](repeating: 0, count: short.count + 16)
                try short.withUnsafeBytes { plaintext in
                    try output.withUnsafeMutableBytes { output in
                        try ChunkAEAD.seal(
                            plaintext, into: output, nonce: nonce,
                            under: Hash.derive(SecretBytes(copying: fileKey), .assetChunks, salt.bytes))
                    }
                }
                group.altered("sealed \(comment)", ["sealed": .hex(output)])
            }
            // Two chunks of the same length, so that the number alone makes the difference.
            let full = [UInt8](repeating: 5, count: Limits.assetChunkBytes)
            let first = try seal(full, chunk: 0, size: 140_000, fileKey: SecretBytes(copying: fileKey), salt: salt)
            group.altered(
                "as another chunk of its length", ["size": .number(140_000), "chunk": .int(1), "sealed": .hex(first)])
        }
        try builder.group("Tree") { group in
            for count in [1, 2, 3, 5, 8] {
                let leaves = (0..<count).map { AssetTree.leaf([UInt8($0)]) }
                group.valid(
                    "\(count) leaves",
                    ["leaves": .array(leaves.map { .hex($0) }), "root": .hex(try AssetTree.root(leaves))])
            }
            group.altered("no leaf", ["leaves": .array([])])
        }
    }
}
