import SealPrimitives
import SealStatements
import Testing

@Suite(.timeLimit(.minutes(60))) struct ValueTests {
    static let samples: [(value: Value, hex: String)] = [
        (.string("né"), "01" + "03000000" + "6ec3a9"),
        (.string(""), "01" + "00000000"),
        (.data([1, 2]), "02" + "02000000" + "0102"),
        (.int64(-2), "03" + "feffffffffffffff"),
        (.double(1.5), "04" + "000000000000f83f"),
        (.double(-0.0), "04" + "0000000000000080"),
        (.double(.infinity), "04" + "000000000000f07f"),
        (.date(1.5), "05" + "000000000000f83f"),
        (.date(0.1), "05" + "9a9999999999b93f"),
        (.date(.leastNonzeroMagnitude), "05" + "0100000000000000"),
        (.date(-.greatestFiniteMagnitude), "05" + "ffffffffffffefff"),
        (
            .location(Location(latitude: 1, longitude: 2, time: 1.5)),
            "06" + "000000000000f03f" + "0000000000000040" + "0000000000000000" + "0000000000000000"
                + "000000000000f0bf"
                + "000000000000f0bf" + "000000000000f0bf" + "000000000000f83f"
        ),
        (.reference(ReferenceValue(recordName: "a", action: .deleteSelf)), "07" + "01000000" + "61" + "01"),
        (.list([]), "10" + "00000000"),
        (.list([.string("a"), .string("")]), "11" + "02000000" + "0100000061" + "00000000"),
        (.list([.double(0)]), "14" + "01000000" + "0000000000000000"),
        (.list([.reference(ReferenceValue(recordName: "b"))]), "17" + "01000000" + "0100000062" + "00"),
    ]

    @Test(arguments: samples) func `Every kind has exactly these bytes, and reads back`(value: Value, hex: String)
        throws
    {
        #expect(Hex.encode(try value.canonicalBytes()) == hex)
        #expect(try Value(canonicalBytes: Hex.decode(hex)) == value)
    }

    @Test func `There is one NaN`() throws {
        let signalling = Double(bitPattern: 0xFFF4_0000_0000_0001)
        #expect(Hex.encode(try Value.double(signalling).canonicalBytes()) == "04000000000000f87f")
        guard case .double(let read) = try Value(canonicalBytes: Hex.decode("04000000000000f87f")) else {
            Issue.record("not a double")
            return
        }
        #expect(read.isNaN)
        for hex in ["04010000000000f87f", "04000000000000f8ff", "04010000000000f07f", "0601"] {
            #expect(throws: SealError.malformed) { try Value(canonicalBytes: Hex.decode(hex)) }
        }
    }

    @Test(arguments: [
        ("0000000000000080", "minus zero"), ("000000000000f87f", "NaN"), ("010000000000f07f", "a signalling NaN"),
        ("000000000000f07f", "infinity"), ("000000000000f0ff", "minus infinity"),
    ]) func `A date is a finite number, with one zero`(bits: String, comment: String) throws {
        let zeros = String(repeating: "00", count: 8)
        for hex in ["05" + bits, "15" + "02000000" + zeros + bits, "06" + String(repeating: zeros, count: 7) + bits] {
            #expect(throws: SealError.malformed, "\(comment)") { try Value(canonicalBytes: Hex.decode(hex)) }
        }
    }

    @Test func `What is no date is not written, and minus zero is zero`() throws {
        for number in [Double.nan, .signalingNaN, .infinity, -.infinity] {
            let place = Value.location(Location(latitude: 0, longitude: 0, time: number))
            for value in [Value.date(number), place, .list([.date(0), .date(number)]), .list([place])] {
                #expect(value.fault == .dateNotFinite)
                #expect(throws: SealError.malformed) { try value.canonicalBytes() }
            }
        }
        #expect(try Value.date(-0.0).canonicalBytes() == Value.date(0).canonicalBytes())
        let place = try Value.location(Location(latitude: 0, longitude: 0, time: -0.0)).canonicalBytes()
        #expect(try Value(canonicalBytes: place).canonicalBytes() == place && place.suffix(8).allSatisfy { $0 == 0 })
    }

    @Test func `System dates are the nearest dates, and come back`() throws {
        #expect(ReferenceDate.seconds(ofMicroseconds: 978_307_200_000_000) == 0)
        #expect(ReferenceDate.seconds(ofMicroseconds: 978_307_200_100_000) == 0.1)
        #expect(ReferenceDate.seconds(ofMicroseconds: 0) == -978_307_200)
        var times: [Int64] = [0, -1, 1, 1_763_764_800_123_456, 9_400_000_000_000_001]
        for _ in 0..<10_000 { times.append(.random(in: -7_000_000_000_000_000...9_000_000_000_000_000)) }
        for time in times {
            let seconds = ReferenceDate.seconds(ofMicroseconds: time)
            #expect(ReferenceDate.microseconds(ofSeconds: seconds) == time, "\(time)")
            #expect(seconds < ReferenceDate.seconds(ofMicroseconds: time + 1), "\(time)")
        }
        // Whatever a server says has an order, and nothing overflows.
        #expect(ReferenceDate.seconds(ofMicroseconds: .min) < ReferenceDate.seconds(ofMicroseconds: .max))
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, 9.3e12, -9.3e12] {
            #expect(ReferenceDate.microseconds(ofSeconds: seconds) == nil)
        }
    }

    @Test func `Strings are as given, not normalised`() throws {
        let composed = try Value.string("\u{E9}").canonicalBytes()
        let decomposed = try Value.string("e\u{301}").canonicalBytes()
        #expect(composed != decomposed)
    }

    @Test(arguments: [
        ("", SealError.malformed, "nothing"),
        ("00", .malformed, "no kind"),
        ("09", .malformed, "an unknown kind"),
        ("23" + "0000000000000000", .malformed, "an unknown bit in the tag"),
        ("08", .unsupported, "an asset, which is no value"),
        ("18" + "00000000", .unsupported, "an empty list of assets"),
        ("18" + "01000000" + "00", .unsupported, "a list of assets"),
        ("13" + "00000000", .malformed, "an empty list of integers"),
        ("11" + "00000000", .malformed, "an empty list of strings"),
        ("10" + "01000000" + "00", .malformed, "an empty list with something in it"),
        ("10" + "000000", .malformed, "an empty list cut short"),
        ("10" + "00000000" + "00", .malformed, "an empty list and a byte more"),
        ("03" + "00000000000000", .malformed, "a number cut short"),
        ("03" + "000000000000000000", .malformed, "a trailing byte"),
        ("01" + "02000000" + "61", .malformed, "a string cut short"),
        ("01" + "02000000" + "c328", .malformed, "invalid UTF-8"),
        ("01" + "03000000" + "eda080", .malformed, "a surrogate in UTF-8"),
        ("01" + "ffffffff", .invalidLength, "a hostile length"),
        ("02" + "01001000", .invalidLength, "more than a record may hold"),
        ("13" + "ffffffff", .malformed, "a hostile count"),
        ("13" + "02000000" + "0000000000000000", .malformed, "a list cut short"),
        ("07" + "00000000" + "00", .invalidName, "a reference to nothing"),
        ("07" + "01000000" + "61" + "02", .malformed, "an unknown action"),
        ("07" + "02000000" + "c3a9" + "00", .invalidName, "a reference to no ASCII name"),
    ]) func `Everything else is refused`(hex: String, error: SealError, comment: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: error, "\(comment)") { try Value(canonicalBytes: bytes) }
    }

    @Test func `A list holds one kind, and no lists`() {
        for list in [
            Value.list([.int64(1), .string("a")]), .list([.int64(1), .double(1)]), .list([.list([])]),
            .list([.int64(1), .list([.int64(1)])]),
        ] {
            #expect(throws: SealError.malformed) { try list.canonicalBytes() }
            #expect(list.fault == .mixedList)
        }
    }

    @Test func `A tag names a type or the empty list, and nothing else`() throws {
        for byte in UInt8.min...UInt8.max {
            let isKnown = ValueKind(rawValue: byte & ~0x10) != nil || byte == 0x10
            #expect((try? ValueTag(byte: byte))?.byte == (isKnown ? byte : nil))
        }
        for kind in ValueKind.allCases {
            #expect(ValueTag.emptyList.fits(ValueType(kind, isList: true)))
            #expect(!ValueTag.emptyList.fits(ValueType(kind)))
            #expect(ValueTag.type(ValueType(kind)).fits(ValueType(kind)))
            #expect(!ValueTag.type(ValueType(kind)).fits(ValueType(kind, isList: true)))
        }
        #expect(ValueTag.emptyList.isList)
        #expect(ValueTag.emptyList.mayBeEncrypted)
    }

    @Test func `All but references and assets may be encrypted`() {
        #expect(ValueKind.allCases.filter { !$0.mayBeEncrypted } == [.reference, .asset])
    }
}
