import SealPrimitives
import SealStatements

/// The digest over a record's fields: which sets it takes, and that it binds name, class, kind and bytes.
enum FieldSetTarget: FuzzTarget {
    static let name = "field-set"
    static let maximumLength = 16_384
    /// Sets of a thousand fields.
    static let allowance = 262_144
    static let seeds = [
        Seed.made([3, 0, 0x61, 0, 1, 0x62, 0, 2, 0x63, 0]), .hex("fields", "stored", prefix: [1, 1, 0x41, 0]),
    ]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        var fields: [FieldDigest] = []
        // More than the limit, so that it is met.
        for _ in 0..<choices.number(below: 1_024) {
            let name = String(decoding: choices.bytes(atMost: 4), as: UTF8.self)
            fields.append(FieldDigest(name: name, digest: choices.digest()))
        }
        let names = fields.map { [UInt8]($0.name.utf8) }
        let isOrdered = zip(names, names.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
        let isValid = fields.count <= 1_000 && isOrdered && fields.allSatisfy { Names.isIdentifier($0.name) }
        let digest = try? FieldSet.digest(fields)
        require((digest != nil) == isValid, "a set of fields taken or refused wrongly")
        if let digest {
            var pae = PAE(.fields, pieces: fields.count * 2)
            for field in fields {
                pae.add(field.name)
                pae.add(field.digest.bytes)
            }
            require(digest == Hash.digest(pae), "another digest of a set of fields")
        }
        bind(choices.rest())
    }

    /// The same bytes as another field: another digest.
    private static func bind(_ bytes: [UInt8]) {
        var digests: Set<Digest> = []
        var count = 0
        func add(_ field: StoredField, _ name: String) {
            digests.insert(certain("a field's digest") { try field.digest(name: name) })
            count += 1
        }
        for name in ["a", "b"] {
            add(.plain(.data(bytes)), name)
            add(.encrypted(.type(ValueType(.data)), sealed: bytes), name)
            add(.encrypted(.type(ValueType(.string)), sealed: bytes), name)
            add(.encrypted(.type(ValueType(.data, isList: true)), sealed: bytes), name)
            add(.encrypted(.emptyList, sealed: bytes), name)
            let commitment = AssetCommitment(salt: .zero, chunkCount: 1, root: .zero, descriptor: bytes)
            add(.asset(commitment), name)
            add(.encrypted(.type(ValueType(.asset)), sealed: commitment.canonicalBytes()), name)
        }
        require(digests.count == count, "two fields with one digest")
    }
}
