import SealEnvelope
import SealPrimitives
import SealStatements

enum AssetVectors: Construction {
    static let name = "assets"
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

    private static func seal(_ plaintext: [UInt8], chunk: UInt64, size: UInt64, fileKey: SecretBytes, salt: Digest)
        throws -> [UInt8]
    {
        let cipher = AssetCipher(fileKey: fileKey, salt: salt, layout: AssetLayout(size: size))
        var output = [UInt8](repeating: 0, count: plaintext.count + ChunkAEAD.tagBytes)
        try plaintext.withUnsafeBytes { plaintext in
            try output.withUnsafeMutableBytes { try cipher.seal(chunk: chunk, plaintext, into: $0) }
        }
        return output
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "Tree" {
            let leaves = try test.array("leaves").map { json in
                guard case .string(let text) = json else { throw VectorError.missing("leaves") }
                return try Digest(Hex.decode(text))
            }
            return try test.expect("root", .hex(try AssetTree.root(leaves)))
        }
        let size: UInt64 = try test.number("size")
        if type == "Layout" {
            let layout = AssetLayout(size: size)
            try test.expect("paddedSize", .number(layout.paddedSize))
            try test.expect("chunkCount", .number(layout.chunkCount))
            try test.expect("sealedBytes", .number(layout.sealedBytes))
            return try test.expect("blobBytes", .number(layout.blobBytes))
        }
        let chunk = UInt64(try test.int("chunk"))
        if type == "Chunk" {
            let plaintext =
                test.has("plaintext")
                ? try test.bytes("plaintext")
                : [UInt8](repeating: UInt8(try test.int("byte")), count: try test.int("count"))
            let sealed = try seal(
                plaintext, chunk: chunk, size: size, fileKey: test.secret("fileKey"), salt: test.digest("salt"))
            if test.has("sealed") {
                try test.expect("sealed", .hex(sealed))
            } else {
                try test.expect("leaf", .hex(AssetTree.leaf(sealed)))
            }
            return
        }
        let cipher = AssetCipher(
            fileKey: try test.secret("fileKey"), salt: try test.digest("salt"), layout: AssetLayout(size: size))
        let sealed = try test.bytes("sealed")
        var output = [UInt8](repeating: 0, count: max(sealed.count - ChunkAEAD.tagBytes, 0))
        try sealed.withUnsafeBytes { sealed in
            try output.withUnsafeMutableBytes { try cipher.open(chunk: chunk, sealed, into: $0) }
        }
        try test.expect("plaintext", .hex(output))
    }
}
