import SealPrimitives

/// The reader under every decoder, with the fuzzer choosing what is read: what was read, written again, gives the bytes
/// that it took.
enum CanonicalReaderTarget: FuzzTarget {
    static let name = "canonical-reader"
    // Each step reads one of twelve kinds; the bytes to be read follow the steps.
    static let seeds = [
        Seed.made([12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), .hex("statements", "encoded", prefix: [4, 0, 8, 0, 5]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let steps = choices.bytes(atMost: 32)
        let bytes = choices.rest()
        var reader = CanonicalReader(bytes)
        var writer = CanonicalWriter()
        for step in steps {
            let before = reader.remaining
            // A refused read says nothing about what follows: the decoders stop there too.
            guard (try? read(step, &reader, &writer)) != nil else {
                require(reader.remaining >= 0 && reader.remaining <= before, "a reader that went past the end")
                return
            }
        }
        let taken = bytes.count - reader.remaining
        require(writer.bytes == [UInt8](bytes.prefix(taken)), "what was read is not what was written")
        require(((try? reader.finish()) != nil) == (reader.remaining == 0), "finish does not mean the end")
        let isZero = bytes[taken...].allSatisfy { $0 == 0 }
        require(((try? reader.zeros()) != nil) == isZero, "zeros that are none")
    }

    private static func read(_ step: UInt8, _ reader: inout CanonicalReader, _ writer: inout CanonicalWriter)
        throws(SealError)
    {
        switch step % 12 {
        case 0: writer.number(try reader.byte())
        case 1: writer.number(try reader.number(UInt16.self))
        case 2: writer.number(try reader.number(UInt32.self))
        case 3: writer.number(try reader.number(Int64.self))
        case 4: writer.number(try reader.number(UInt64.self))
        case 5: writer.flag(try reader.flag())
        case 6: writer.digest(try reader.digest())
        case 7: writer.id(try reader.id())
        case 8: writer.blob(try reader.blob(atMost: Int(step) * 16))
        case 9: writer.string(try reader.string(atMost: Int(step) * 16))
        case 10: writer.optionalString(try reader.optionalString(atMost: 255))
        default:
            let size = Int(step) / 12 + 1
            let count = try reader.count(UInt32.self, ofAtLeast: size)
            require(count * size <= reader.remaining, "a count of more than can follow")
            writer.number(UInt32(count))
        }
    }
}
