import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// Sealed fields. The first byte says how the rest is sealed: 0 as the kind that it begins with, 1 the same with its
/// padding put behind, others as the kind that they name.
enum SealedFieldTarget: FuzzTarget {
    static let name = "sealed-field"
    static let seeds = [
        Seed.hex("padding", "plaintext", prefix: [0]), .hex("values", "encoded", prefix: [1]),
        .hex("records", "sealed", prefix: [2]),
    ]

    static func run(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        var plaintext = [UInt8](input.dropFirst())
        if mode == 1 { plaintext = Padding.pad(plaintext) }
        guard let tag = try? ValueTag(byte: mode < 2 ? plaintext.first ?? 1 : mode) else { return }
        let record = World.record
        var pae = PAE(.sealedField, pieces: 3)
        pae.add(record.context)
        pae.add("body")
        pae.add(tag.byte)
        let sealed = seal(plaintext, under: record.opener.recordKey, pae)
        let open = { try record.opener.open(.encrypted(tag, sealed: $0), name: "body") }
        opensOnlyWhole(hostile: plaintext, sealed: sealed, "a field", open: open)
        refuses("a field under another name", with: .authenticationFailed) {
            try record.opener.open(.encrypted(tag, sealed: sealed), name: "other")
        }
        let expected = try? Value(padded: plaintext)
        let isValid = expected?.tag == tag && tag.mayBeEncrypted
        guard case .encrypted(let value) = try? open(sealed) else {
            return require(!isValid, "a field is refused")
        }
        require(isValid, "a field that opens as another kind, or as one that is never sealed")
        let bytes = certain("a field that was opened is written") { try value.canonicalBytes() }
        require(Padding.pad(bytes) == plaintext, "a field with another encoding")
    }
}

/// Descriptors of assets: a key and a size that somebody chose.
enum AssetDescriptorTarget: FuzzTarget {
    static let name = "asset-descriptor"
    static let maximumLength = 256
    static let seeds = [
        Seed.made([1] + [UInt8](repeating: 0, count: 47)), .made([255] + [UInt8](repeating: 0xFF, count: 47)),
        .hex("assets", "sealed"), .hex("assets", "fileKey", prefix: [1, 0, 0, 0, 0, 0, 0, 0]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let claimed = UInt64(littleEndian: choices.number())
        let plaintext = choices.rest()
        // Half of the inputs claim the number of chunks that their size gives.
        let size = plaintext.count == 40 ? plaintext[32...].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) } : 0
        let isHonest = claimed % 2 == 0 && size <= 1 << 48
        let chunkCount = isHonest ? AssetLayout(size: size).chunkCount : claimed
        let (record, salt) = (World.record, sampleDigest(3))
        var pae = PAE(.fileKey, pieces: 3)
        pae.add(record.context)
        pae.add("scan")
        pae.add(salt)
        let sealed = seal(plaintext, under: record.opener.recordKey, pae)
        let open = { (descriptor: [UInt8]) in
            let commitment = AssetCommitment(salt: salt, chunkCount: chunkCount, root: .zero, descriptor: descriptor)
            return try record.opener.open(.asset(commitment), name: "scan")
        }
        opensOnlyWhole(hostile: plaintext, sealed: sealed, "a descriptor", open: open)
        guard case .asset(let asset) = try? open(sealed) else {
            return require(!(isHonest && plaintext.count == 40), "a descriptor is refused")
        }
        require(plaintext.count == 40 && asset.size == size && size <= 1 << 48, "a size out of bounds")
        require(asset.fileKey.copyBytes() == [UInt8](plaintext.prefix(32)), "another file key")
        require(asset.layout.chunkCount == chunkCount, "chunks that the size does not give")
        require(asset.descriptor().copyBytes() == plaintext, "a descriptor with another encoding")
    }
}
