import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope

@Suite(.timeLimit(.minutes(60))) struct AssetTests {
    let salt = GrantHash.of([1])

    func cipher(size: UInt64, key: UInt8 = 4, salt: Digest? = nil) -> (cipher: AssetCipher, layout: AssetLayout) {
        let layout = AssetLayout(size: size)
        return (AssetCipher(fileKey: secret(key), salt: salt ?? self.salt, layout: layout), layout)
    }

    func seal(_ cipher: AssetCipher, _ index: UInt64, _ plaintext: [UInt8]) throws(SealError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + 16)
        var failure: SealError?
        plaintext.withUnsafeBytes { plaintext in
            output.withUnsafeMutableBytes { output in
                do throws(SealError) { try cipher.seal(chunk: index, plaintext, into: output) } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        return output
    }

    func open(_ cipher: AssetCipher, _ index: UInt64, _ sealed: [UInt8]) throws(SealError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: max(sealed.count - 16, 0))
        var failure: SealError?
        sealed.withUnsafeBytes { sealed in
            output.withUnsafeMutableBytes { output in
                do throws(SealError) { try cipher.open(chunk: index, sealed, into: output) } catch { failure = error }
            }
        }
        if let failure { throw failure }
        return output
    }

    /// Three chunks: two of 64 KiB and a shorter one.
    func threeChunks() throws -> (cipher: AssetCipher, layout: AssetLayout, plain: [[UInt8]], sealed: [[UInt8]]) {
        let (cipher, layout) = cipher(size: 140_000)
        let plain = (0..<layout.chunkCount).map {
            [UInt8](repeating: UInt8($0 + 1), count: layout.plaintextBytes(ofChunk: $0))
        }
        return (cipher, layout, plain, try plain.enumerated().map { try seal(cipher, UInt64($0.offset), $0.element) })
    }

    @Test(arguments: [0, 1, 31, 32, 65_536, 65_537, 140_000, 1_000_000] as [UInt64])
    func `The layout covers the padded size, chunk after chunk, then the leaves`(size: UInt64) {
        let layout = AssetLayout(size: size)
        #expect(layout.paddedSize == Padding.paddedLength(size))
        var end: UInt64 = 0
        var plain = 0
        for index in 0..<layout.chunkCount {
            let range = layout.sealedRange(ofChunk: index)
            #expect(range.lowerBound == end)
            end = range.upperBound
            plain += layout.plaintextBytes(ofChunk: index)
        }
        #expect(UInt64(plain) == layout.paddedSize)
        #expect(end == layout.sealedBytes)
        #expect(layout.blobBytes == end + layout.chunkCount * 32)
    }

    @Test func `Chunks open in any order`() throws {
        let (cipher, _, plain, sealed) = try threeChunks()
        #expect(sealed.count == 3)
        for index in [2, 0, 1] { #expect(try open(cipher, UInt64(index), sealed[index]) == plain[index]) }
    }

    @Test func `A chunk opens at its own place alone`() throws {
        let (cipher, _, _, sealed) = try threeChunks()
        #expect(throws: SealError.authenticationFailed, "reordered") { try open(cipher, 0, sealed[1]) }
        #expect(throws: SealError.authenticationFailed, "repeated") { try open(cipher, 1, sealed[0]) }
        #expect(throws: SealError.authenticationFailed, "past the end") { try open(cipher, 3, sealed[2]) }
        #expect(throws: SealError.authenticationFailed, "cut") { try open(cipher, 0, [UInt8](sealed[0].dropLast())) }
        #expect(throws: SealError.authenticationFailed, "longer") { try open(cipher, 0, sealed[0] + [0]) }
        #expect(throws: SealError.authenticationFailed, "empty") { try open(cipher, 0, []) }
        var altered = sealed[2]
        altered[100] ^= 1
        #expect(throws: SealError.authenticationFailed, "altered") { try open(cipher, 2, altered) }
    }

    @Test func `The last chunk is marked: a truncated asset does not pass for a whole one`() throws {
        let (_, _, plain, sealed) = try threeChunks()
        // Two full chunks are an asset of 128 KiB, but for the mark.
        let (shorter, layout) = cipher(size: 131_072)
        #expect(layout.chunkCount == 2)
        #expect(try open(shorter, 0, sealed[0]) == plain[0])
        #expect(throws: SealError.authenticationFailed) { try open(shorter, 1, sealed[1]) }
    }

    @Test func `Another file key or salt opens nothing`() throws {
        let (_, _, _, sealed) = try threeChunks()
        #expect(throws: SealError.authenticationFailed) { try open(cipher(size: 140_000, key: 5).cipher, 0, sealed[0]) }
        #expect(throws: SealError.authenticationFailed) {
            try open(cipher(size: 140_000, salt: .zero).cipher, 0, sealed[0])
        }
    }

    @Test func `A chunk has exactly its length`() throws {
        let (cipher, _) = cipher(size: 140_000)
        #expect(throws: SealError.invalidLength) { try seal(cipher, 0, [1]) }
        #expect(throws: SealError.invalidLength) { try seal(cipher, 3, [1]) }
    }

    @Test func `The root notices every change of the leaves`() throws {
        let (_, _, _, sealed) = try threeChunks()
        let leaves = sealed.map(AssetTree.leaf)
        let root = try AssetTree.root(leaves)
        #expect(try AssetTree.root([leaves[1], leaves[0], leaves[2]]) != root)
        #expect(try AssetTree.root([leaves[0], leaves[1]]) != root)
        #expect(try AssetTree.root(leaves + [leaves[2]]) != root)
        #expect(try AssetTree.root([leaves[0]]) == leaves[0])
        #expect(throws: SealError.invalidLength) { try AssetTree.root([]) }
    }

    @Test func `A leaf is the hash of its prefix and the chunk`() {
        let chunk = [UInt8](repeating: 3, count: 100)
        var pae = PAE(pieces: 2)
        pae.add("sealkit/1/asset-leaf")
        pae.add(chunk)
        #expect(AssetTree.leafPrefix(chunkBytes: 100) + chunk == pae.finish())
    }

    @Test func `A descriptor opens in its record and field, with its salt and its number of chunks`() throws {
        var zone = try Zone()
        let asset = SealedAsset(fileKey: secret(4), size: 140_000, salt: salt, chunkCount: 3, root: GrantHash.of([2]))
        let (records, signature) = try zone.seal([
            RecordDraft(statement: zone.statement(), recordKey: nil, fields: [("photo", .asset(asset))]),
            RecordDraft(statement: zone.statement("Note-2"), recordKey: nil, fields: [("photo", .asset(asset))]),
        ])
        let verified = try zone.verify(records, signature)
        let opener = try RecordOpener(verified[0], epochKey: zone.key)
        guard case .asset(let commitment) = try #require(records[0].stored("photo")),
            case .asset(let opened) = try opener.open(.asset(commitment), name: "photo")
        else {
            Issue.record("not an asset")
            return
        }
        #expect(opened.size == 140_000)
        #expect(SecretBytes.areEqual(opened.fileKey, asset.fileKey))
        #expect(throws: SealError.authenticationFailed, "another field") {
            try opener.open(.asset(commitment), name: "other")
        }
        #expect(throws: SealError.authenticationFailed, "another record") {
            try RecordOpener(verified[1], epochKey: zone.key).open(.asset(commitment), name: "photo")
        }
        func altered(salt: Digest? = nil, chunkCount: UInt64 = 3) -> StoredField {
            .asset(
                AssetCommitment(
                    salt: salt ?? commitment.salt, chunkCount: chunkCount, root: commitment.root,
                    descriptor: commitment.descriptor))
        }
        #expect(throws: SealError.authenticationFailed, "another salt") {
            try opener.open(altered(salt: .zero), name: "photo")
        }
        #expect(throws: SealError.malformed, "another number of chunks") {
            try opener.open(altered(chunkCount: 2), name: "photo")
        }
    }

    @Test(arguments: [UInt64.max, .max - 65_535, (1 << 48) + 1] as [UInt64])
    func `A writer's absurd size is refused, not computed with`(size: UInt64) {
        var descriptor = [UInt8](repeating: 1, count: 32)
        descriptor.appendLittleEndian(size)
        let commitment = AssetCommitment(salt: .zero, chunkCount: .max, root: .zero, descriptor: [])
        #expect(throws: SealError.invalidLength) {
            try SealedAsset(descriptor: SecretBytes(copying: descriptor), commitment: commitment)
        }
    }
}
