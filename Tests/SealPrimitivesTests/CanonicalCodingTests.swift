import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct CanonicalCodingTests {
    @Test func `Numbers are little-endian, byte strings stand behind LE32, flags are 0 or 1`() {
        var writer = CanonicalWriter()
        writer.number(UInt16(0x0102))
        writer.number(Int64(-2))
        writer.blob([9, 8])
        writer.string("é")
        writer.flag(true)
        writer.optionalString(nil)
        writer.optionalString("a")
        #expect(
            writer.bytes == [2, 1] + [0xFE] + [UInt8](repeating: 0xFF, count: 7) + [2, 0, 0, 0, 9, 8] + [
                2, 0, 0, 0, 0xC3, 0xA9,
            ]
                + [1] + [0] + [1, 1, 0, 0, 0, 0x61])
    }

    @Test func `What was written reads back, and nothing is left`() throws {
        var writer = CanonicalWriter()
        writer.number(UInt32.max)
        writer.number(Int64.min)
        writer.string("naïve")
        writer.optionalString(nil)
        writer.digest(.zero)
        var reader = CanonicalReader(writer.bytes)
        #expect(try reader.number(UInt32.self) == .max)
        #expect(try reader.number(Int64.self) == .min)
        #expect(try reader.string(atMost: 6) == "naïve")
        #expect(try reader.optionalString(atMost: 6) == nil)
        #expect(try reader.digest() == .zero)
        try reader.finish()
    }

    @Test func `A hostile length is refused before anything is allocated`() {
        let hostile: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 1]
        var reader = CanonicalReader(hostile)
        #expect(throws: SealError.invalidLength) { try reader.blob(atMost: 1000) }
        reader = CanonicalReader(hostile)
        #expect(throws: SealError.malformed) { try reader.blob(atMost: .max) }
        reader = CanonicalReader(hostile)
        #expect(throws: SealError.malformed) { try reader.count(UInt32.self, ofAtLeast: 1) }
        reader = CanonicalReader([UInt8](repeating: 0xFF, count: 8))
        #expect(throws: SealError.malformed) { try reader.count(UInt64.self, ofAtLeast: 1) }
    }

    @Test func `Everything but the one encoding is refused`() {
        var reader = CanonicalReader([2])
        #expect(throws: SealError.malformed, "a flag that is neither") { try reader.flag() }
        reader = CanonicalReader([1, 0, 0, 0, 0xFF])
        #expect(throws: SealError.malformed, "text that is no UTF-8") { try reader.string(atMost: 8) }
        reader = CanonicalReader([2, 0, 0, 0, 0xC0, 0x80])
        #expect(throws: SealError.malformed, "overlong UTF-8") { try reader.string(atMost: 8) }
        reader = CanonicalReader([0])
        #expect(throws: SealError.malformed, "trailing bytes") { try reader.finish() }
        reader = CanonicalReader([0, 0, 1])
        #expect(throws: SealError.malformed, "padding that is not zero") { try reader.zeros() }
        reader = CanonicalReader([1, 2, 3])
        #expect(throws: SealError.malformed, "a number cut short") { try reader.number(UInt32.self) }
    }
}

@Suite(.timeLimit(.minutes(60))) struct PAETests {
    @Test func `A PAE counts its pieces and their bytes`() {
        var pae = PAE(pieces: 2)
        pae.add("test")
        pae.add([UInt8]())
        #expect(
            pae.finish() == [2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0] + [UInt8]("test".utf8)
                + [UInt8](repeating: 0, count: 8))
    }

    @Test func `The first piece is the construction's label`() {
        var labelled = PAE(.statement, pieces: 1)
        labelled.add([1])
        var plain = PAE(pieces: 2)
        plain.add("sealkit/1/statement")
        plain.add([1])
        #expect(labelled.finish() == plain.finish())
    }

    @Test func `No two constructions share a label, and all carry the suite's version`() {
        #expect(Set(Label.all.map(\.bytes)).count == Label.all.count)
        for label in Label.all { #expect(label.description.hasPrefix("sealkit/1/")) }
    }

    @Test func `Under every other label a hash, a key and a signature are others`() throws {
        let key = try SigningKey(seed: secret(1))
        var hashes: Set<Digest> = []
        var derived: Set<[UInt8]> = []
        var signatures: [[UInt8]] = []
        for label in Label.all {
            hashes.insert(Hash.digest(label, [1]))
            derived.insert(Hash.derive(secret(1), label, [1]).copyBytes())
            var pae = PAE(label, pieces: 1)
            pae.add([1])
            signatures.append(key.sign(pae))
        }
        #expect(hashes.count == Label.all.count)
        #expect(derived.count == Label.all.count)
        for (row, signature) in signatures.enumerated() {
            for (column, label) in Label.all.enumerated() {
                var pae = PAE(label, pieces: 1)
                pae.add([1])
                #expect((try? key.verificationKey.verify(signature, over: pae)) != nil ? row == column : row != column)
            }
        }
    }
}
