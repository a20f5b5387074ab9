import SealPrimitives
import SealStatements
import Testing

@Suite struct ValueTests {
    static let samples: [(value: Value, hex: String)] = [
        (.string("né"), "01" + "03000000" + "6ec3a9"),
        (.string(""), "01" + "00000000"),
        (.data([1, 2]), "02" + "02000000" + "0102"),
        (.int64(-2), "03" + "feffffffffffffff"),
        (.double(1.5), "04" + "000000000000f83f"),
        (.double(-0.0), "04" + "0000000000000080"),
        (.double(.infinity), "04" + "000000000000f07f"),
        (.date(1_000_000), "05" + "40420f0000000000"),
        (
            .location(Location(latitude: 1, longitude: 2, timestamp: 3)),
            "06" + "000000000000f03f" + "0000000000000040" + "0000000000000000" + "0000000000000000" + "000000000000f0bf"
                + "000000000000f0bf" + "000000000000f0bf" + "0300000000000000"
        ),
        (.reference(ReferenceValue(recordName: "a", action: .deleteSelf)), "07" + "01000000" + "61" + "01"),
        (.list(.int64, []), "13" + "00000000"),
        (.list(.string, []), "11" + "00000000"),
        (.list(.string, [.string("a"), .string("")]), "11" + "02000000" + "0100000061" + "00000000"),
        (.list(.double, [.double(0)]), "14" + "01000000" + "0000000000000000"),
        (.list(.reference, [.reference(ReferenceValue(recordName: "b"))]), "17" + "01000000" + "0100000062" + "00"),
    ]

    @Test(arguments: samples) func `Every kind has exactly these bytes, and reads back`(value: Value, hex: String) throws {
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
        ("18" + "00000000", .unsupported, "a list of assets"),
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
            Value.list(.int64, [.string("a")]), .list(.int64, [.int64(1), .double(1)]), .list(.int64, [.list(.int64, [])]),
        ] {
            #expect(throws: SealError.malformed) { try list.canonicalBytes() }
        }
    }

    @Test func `No list is of assets, not even an empty one`() {
        #expect(throws: SealError.unsupported) { try Value.list(.asset, []).canonicalBytes() }
    }

    @Test func `All but references and assets may be encrypted`() {
        #expect(ValueKind.allCases.filter { !$0.mayBeEncrypted } == [.reference, .asset])
    }
}
