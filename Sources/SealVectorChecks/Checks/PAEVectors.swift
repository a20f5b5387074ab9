package import SealPrimitives

package enum PAEVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        let pieces = try test.strings("pieces").map { text throws(VectorError) in try core(Hex.decode(text)) }
        guard type == "Hash" else { return try test.expect("encoded", .hex(encode(pieces))) }
        let (hash, derived, sha256) = hashes(
            [[UInt8](try test.string("label").utf8)] + pieces, key: try test.secret("key"))
        try test.expect("hash", hash)
        try test.expect("derived", derived)
        try test.expect("sha256", sha256)
    }

    private static func pae(_ pieces: [[UInt8]]) -> PAE {
        var pae = PAE(pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        return pae
    }

    package static func encode(_ pieces: [[UInt8]]) -> [UInt8] { pae(pieces).finish() }

    package static func hashes(_ pieces: [[UInt8]], key: SecretBytes) -> (JSON, JSON, JSON) {
        (.hex(Hash.digest(pae(pieces))), .hex(Hash.derive(key, pae(pieces))), .hex(Hash.sha256(pae(pieces))))
    }
}
