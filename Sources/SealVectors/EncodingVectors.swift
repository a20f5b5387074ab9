import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension PAEVectors: Construction {
    static let construction = VectorConstruction.pae
    static let algorithm = "PAE, H and KDF"
    static let header = [
        "Encode: `pieces` give `encoded`.",
        "Hash: H(label, pieces…) is BLAKE2b-256 of the PAE of `label` and `pieces`; `derived` is the same keyed with `key`; `sha256` is SHA-256 of the same PAE.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Encode") { group in
            for (comment, pieces) in [
                ("no piece", []), ("one empty piece", [[]]), ("two pieces", [[0x74, 0x65, 0x73, 0x74], [1]]),
                ("a boundary moved", [[0x74, 0x65, 0x73], [0x74, 1]]),
            ] as [(String, [[UInt8]])] {
                group.valid(comment, ["pieces": .array(pieces.map { .hex($0) }), "encoded": .hex(encode(pieces))])
            }
        }
        try builder.group("Hash") { group in
            for label in Label.all {
                let (hash, derived, sha256) = hashes(
                    [label.bytes, [1, 2, 3]], key: SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
                group.valid(
                    String(decoding: label.bytes, as: UTF8.self),
                    [
                        "label": .string(String(decoding: label.bytes, as: UTF8.self)),
                        "pieces": .array([.hex([1, 2, 3])]),
                        "key": .hex([UInt8](repeating: 9, count: 32)), "hash": hash, "derived": derived,
                        "sha256": sha256,
                    ])
            }
        }
    }
}

extension ValueVectors: Construction {
    static let construction = VectorConstruction.values
    static let algorithm = "Canonical value encoding"
    static let header = [
        "`value` encodes to `encoded` and back; of an invalid test, `encoded` is refused. Doubles, dates and a location's timestamp (seconds since 2001) are given by their bits, as one number in hexadecimal, most significant digit first. An empty list has the kind `list`."
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let values: [(String, Value)] = [
            ("an empty string", .string("")), ("a string", .string("naïve ☕️")),
            ("a decomposed letter stays", .string("e\u{301}")),
            ("no data", .data([])), ("data", .data([0, 255])), ("zero", .int64(0)), ("the least integer", .int64(.min)),
            ("the greatest integer", .int64(.max)), ("a double", .double(1.5)), ("minus zero", .double(-0.0)),
            ("infinity", .double(.infinity)), ("the one NaN", .double(.nan)),
            ("the smallest double", .double(.leastNonzeroMagnitude)),
            ("the date from which dates count", .date(0)), ("a date", .date(721_692_800.123456)),
            ("a date before 2001", .date(-0.5)),
            ("a tenth of a second", .date(0.1)), ("the last double before 2001", .date(-.leastNonzeroMagnitude)),
            ("a subnormal date", .date(0x0.8p-1022)), ("the distant past", .date(-63_114_076_800)),
            ("a date in 10^292 years", .date(1e300)),
            ("the latest date", .date(.greatestFiniteMagnitude)),
            ("the earliest date", .date(-.greatestFiniteMagnitude)),
            (
                "a location",
                .location(
                    Location(
                        latitude: 52.5, longitude: 13.4, altitude: 34, horizontalAccuracy: 5, verticalAccuracy: -1,
                        course: 90, speed: 1.5, time: 721_692_800.1))
            ),
            ("a reference", .reference(ReferenceValue(recordName: "Note-1"))),
            ("a deleting reference", .reference(ReferenceValue(recordName: "Note-1", action: .deleteSelf))),
            ("a list of strings", .list([.string("a"), .string("")])),
            ("a list of doubles", .list([.double(0), .double(.nan)])),
            ("a list of dates", .list([.date(0.1), .date(-0.1)])),
            ("a list of references", .list([.reference(ReferenceValue(recordName: "a"))])),
        ]
        try builder.group("ValueCoding") { group in
            for (comment, value) in values {
                group.valid(comment, ["value": json(value), "encoded": .hex(try value.canonicalBytes())])
            }
            group.valid(
                "an empty list has no kind",
                ["value": json(.list([])), "encoded": .hex(try Value.list([]).canonicalBytes())], flag: "Edge")
            for kind in ValueKind.allCases where kind != .asset {
                group.invalid(
                    "an empty list of a kind: \(kind)", ["encoded": .string("1\(kind.rawValue)00000000")], flag: "Edge")
            }
            // Bits, least significant byte first.
            for (comment, bits) in [
                ("minus zero", "0000000000000080"), ("NaN", "000000000000f87f"), ("another NaN", "010000000000f87f"),
                ("infinity", "000000000000f07f"), ("minus infinity", "000000000000f0ff"),
            ] {
                group.invalid("\(comment) as a date", ["encoded": .string("05" + bits)], flag: "Edge")
                group.invalid(
                    "\(comment) as a location's time",
                    ["encoded": .string("06" + String(repeating: "00", count: 56) + bits)], flag: "Edge")
                group.invalid(
                    "\(comment) in a list of dates",
                    ["encoded": .string("15" + "02000000" + String(repeating: "00", count: 8) + bits)], flag: "Edge")
            }
            for (comment, hex) in [
                ("nothing", ""), ("no kind", "00"), ("an unknown kind", "09"),
                ("an unknown bit in the tag", "230000000000000000"),
                ("an asset", "08"), ("a list of assets", "180100000000"), ("an empty list of assets", "1800000000"),
                ("an empty list of something", "100100000000"), ("an empty list cut short", "10000000"),
                ("an empty list and more", "100000000000"), ("a number cut short", "0300"),
                ("a trailing byte", "03000000000000000000"),
                ("a string cut short", "010200000061"), ("invalid UTF-8", "0102000000c328"),
                ("overlong UTF-8", "0102000000c080"),
                ("a surrogate", "0103000000eda080"), ("a hostile length", "01ffffffff"),
                ("a byte more than a record holds", "0201001000"),
                ("a hostile count", "13ffffffff"), ("a list cut short", "13020000000000000000000000"),
                ("a list in a list", "1401000000140000"),
                ("another NaN", "04010000000000f87f"), ("a negative NaN", "04000000000000f8ff"),
                ("a reference to nothing", "070000000000"),
                ("a reference with an unknown action", "07010000006102"),
                ("a reference that is not ASCII", "0702000000c3a900"),
            ] { group.invalid(comment, ["encoded": .string(hex)], flag: "Edge") }
        }
    }
}

extension PaddingVectors: Construction {
    static let construction = VectorConstruction.padding
    static let algorithm = "Padmé, 32 bytes at least"
    static let header = [
        "PaddedLength: `size` bytes are padded to `padded`.",
        "PaddedValue: `plaintext`, of something sealed, is `value` and its padding; refused unless the zeros are zeros and exactly as many as the padding asks for.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        try builder.group("PaddedLength") { group in
            for size in [
                0, 1, 31, 32, 33, 36, 37, 63, 64, 65, 100, 128, 129, 1000, 1024, 1025, 65_535, 65_536, 65_537,
                1_000_000, 1 << 32, 281_474_976_710_655,
            ] as [UInt64] {
                group.valid("\(size)", ["size": .number(size), "padded": .number(Padding.paddedLength(size))])
            }
        }
        let value = Value.list([.data([UInt8]("Title".utf8)), .data([]), .data([])])
        let encoded = try value.canonicalBytes()
        func fields(_ plaintext: [UInt8]) -> [String: JSON] {
            ["plaintext": .hex(plaintext), "value": ValueVectors.json(value)]
        }
        let padded =
            encoded + [UInt8](repeating: 0, count: Int(Padding.paddedLength(UInt64(encoded.count))) - encoded.count)
        try builder.group("PaddedValue") { group in
            group.valid("padded as it should be", fields(padded))
            group.invalid("unpadded", fields(encoded))
            group.invalid("one zero less", fields([UInt8](padded.dropLast())))
            group.invalid("one zero more", fields(padded + [0]))
            group.invalid("padded to the next length", fields(padded + [UInt8](repeating: 0, count: 4)))
            group.invalid("a byte that is not zero", fields([UInt8](padded.dropLast()) + [1]))
            group.invalid("nothing but zeros", fields([UInt8](repeating: 0, count: 32)))
        }
    }
}

extension FieldVectors: Construction {
    static let construction = VectorConstruction.fields
    static let algorithm = "Field digests"
    static let header = [
        "FieldDigest: H(\"field\", name, class, type, stored) is `digest`. Classes: 1 plain (stored = canonical value), 2 encrypted (stored = sealed bytes), 3 asset (stored = commitment).",
        "FieldSet: H(\"fields\", name, digest, …) over the fields in the order of their names' bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let asset = AssetCommitment(
            salt: GrantHash.of([1]), chunkCount: 3, root: GrantHash.of([2]),
            descriptor: [UInt8](repeating: 3, count: 80))
        let fields: [(String, String, UInt8, UInt8, [UInt8], StoredField)] = [
            ("a plain value", "count", 1, 3, try Value.int64(7).canonicalBytes(), .plain(.int64(7))),
            ("an empty plain list", "tags", 1, 0x10, try Value.list([]).canonicalBytes(), .plain(.list([]))),
            (
                "an empty encrypted list", "none", 2, 0x10, [UInt8](repeating: 5, count: 72),
                .encrypted(.emptyList, sealed: [UInt8](repeating: 5, count: 72))
            ),
            (
                "an encrypted string", "body", 2, 1, [UInt8](repeating: 5, count: 72),
                .encrypted(.type(ValueType(.string)), sealed: [UInt8](repeating: 5, count: 72))
            ),
            (
                "an encrypted list of dates", "days", 2, 0x15, [UInt8](repeating: 5, count: 72),
                .encrypted(.type(ValueType(.date, isList: true)), sealed: [UInt8](repeating: 5, count: 72))
            ),
            ("an asset", "photo", 3, 8, asset.canonicalBytes(), .asset(asset)),
        ]
        var digests: [FieldDigest] = []
        try builder.group("FieldDigest") { group in
            for (comment, name, fieldClass, type, stored, field) in fields {
                let digest = try field.digest(name: name)
                digests.append(FieldDigest(name: name, digest: digest))
                group.valid(
                    comment,
                    [
                        "name": .string(name), "class": .int(Int(fieldClass)), "type": .int(Int(type)),
                        "stored": .hex(stored),
                        "digest": .hex(digest),
                    ])
            }
        }
        digests.sort { FieldSet.isOrdered($0.name, $1.name) }
        func list(_ fields: [FieldDigest]) -> JSON {
            .array(fields.map { .object(["name": .string($0.name), "digest": .hex($0.digest)]) })
        }
        try builder.group("FieldSet") { group in
            group.valid("no field", ["fields": list([]), "digest": .hex(try FieldSet.digest([]))], flag: "Edge")
            group.valid("six fields", ["fields": list(digests), "digest": .hex(try FieldSet.digest(digests))])
            group.altered("out of order", ["fields": list(digests.reversed())])
            group.altered("one twice", ["fields": list([digests[0]] + digests)])
            group.altered("a name that is no identifier", ["fields": list([FieldDigest(name: "_a", digest: .zero)])])
        }
    }
}
