import SealEnvelope
package import SealPrimitives
import SealStatements

package enum AssetVectors {
    package static func seal(
        _ plaintext: [UInt8], chunk: UInt64, size: UInt64, fileKey: SecretBytes, salt: Digest
    ) throws(SealError) -> [UInt8] {
        let cipher = AssetCipher(fileKey: fileKey, salt: salt, layout: AssetLayout(size: size))
        var output = [UInt8](repeating: 0, count: plaintext.count + ChunkAEAD.tagBytes)
        let result = unsafe plaintext.withUnsafeBytes { plaintext in
            unsafe output.withUnsafeMutableBytes { output in
                Result { () throws(SealError) in try unsafe cipher.seal(chunk: chunk, plaintext, into: output) }
            }
        }
        try result.get()
        return output
    }

    private static func open(_ sealed: [UInt8], chunk: UInt64, by cipher: AssetCipher) throws(SealError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: max(sealed.count - ChunkAEAD.tagBytes, 0))
        let result = unsafe sealed.withUnsafeBytes { sealed in
            unsafe output.withUnsafeMutableBytes { output in
                Result { () throws(SealError) in try unsafe cipher.open(chunk: chunk, sealed, into: output) }
            }
        }
        try result.get()
        return output
    }

    static func check(_ test: Fields, type: String) throws(VectorError) {
        if type == "Tree" {
            let leaves = try test.digests("leaves")
            return try test.expect("root", .hex(try core(AssetTree.root(leaves))))
        }
        let size: UInt64 = try test.number("size")
        let layout = AssetLayout(size: size)
        if type == "Layout" {
            try test.expect("paddedSize", .number(layout.paddedSize))
            try test.expect("chunkCount", .number(layout.chunkCount))
            try test.expect("sealedBytes", .number(layout.sealedBytes))
            return try test.expect("blobBytes", .number(layout.blobBytes))
        }
        let chunk: UInt64 = try test.small("chunk")
        let (fileKey, salt) = (try test.secret("fileKey"), try test.digest("salt"))
        if type == "Chunk" {
            let plaintext =
                test.has("plaintext")
                ? try test.bytes("plaintext")
                : [UInt8](repeating: try test.small("byte"), count: Int(try test.small("count", as: UInt32.self)))
            let sealed = try core(seal(plaintext, chunk: chunk, size: size, fileKey: fileKey, salt: salt))
            return test.has("sealed")
                ? try test.expect("sealed", .hex(sealed)) : try test.expect("leaf", .hex(AssetTree.leaf(sealed)))
        }
        let sealed = try test.bytes("sealed")
        let cipher = AssetCipher(fileKey: fileKey, salt: salt, layout: layout)
        try test.expect("plaintext", .hex(try core(open(sealed, chunk: chunk, by: cipher))))
    }
}
