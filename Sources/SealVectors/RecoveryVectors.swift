import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension RecoveryVectors: Construction {
    static let construction = VectorConstruction.recovery
    static let algorithm = "Recovery key and bundle"
    static let header = [
        "Text: `text` is the printed form of `key`, which names `bundleID`. In an invalid test, `mistypedGroups` (from 1) are those whose check character does not fit, where there are thirteen groups at all.",
        "Bundle: `sealed` opens with `key` to `seeds`; `random` gives the very bytes.",
        "Passkey: `output`, which a passkey has answered, and the server's `origin` give `key`, which names `bundleID` and opens `sealed` to `seeds`.",
        "Passphrase: `passphrase`, `name` and the server's `origin` give `key`, which names `bundleID` and opens `sealed` to `seeds`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let texts = try [
            [UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), (0..<32).map { UInt8($0 * 7) },
        ].map {
            try RecoveryKey(SecretBytes(copying: $0))
        }
        try builder.group("Text") { group in
            for (index, key) in texts.enumerated() {
                group.valid(
                    "key \(index)",
                    ["key": .hex(key.bytes), "text": .string(key.text()), "bundleID": .hex(key.bundleID)])
            }
            let text = texts[2].text()
            group.valid(
                "typed in lower case with spaces",
                [
                    "key": .hex(texts[2].bytes), "text": .string(text.lowercased().replacing("-", with: " ")),
                    "bundleID": .hex(texts[2].bundleID),
                ], flag: "Edge")
            func mistyped(_ comment: String, _ text: String) {
                var fields: [String: JSON] = ["text": .string(text)]
                if let groups = RecoveryKey.mistypedGroups(in: text) {
                    fields["mistypedGroups"] = .array(groups.map { .int($0) })
                }
                group.invalid(comment, fields)
            }
            var letters = [Character](text)
            letters[7] = letters[7] == "Z" ? "Y" : "Z"
            mistyped("one wrong letter", String(letters))
            letters = [Character](text)
            letters.swapAt(12, 13)
            mistyped("two letters swapped", String(letters))
            var groups = text.split(separator: "-").map(String.init)
            groups.swapAt(0, 12)
            mistyped("two groups swapped", groups.joined(separator: "-"))
            mistyped("spare bits that are not zero", texts[0].text().dropLast(5) + "0001W")
            mistyped("a letter missing", String(text.dropLast()))
            mistyped("a letter too many", text + "0")
            mistyped("a letter that is not in the alphabet", "U" + text.dropFirst())
        }
        try builder.group("Bundle") { group in
            var random = RecordingRandom("bundle")
            let seeds = try [VectorPerson(1).seed, VectorPerson(2).seed]
            let sealed = texts[2].seal(seeds, random: &random)
            group.valid(
                "two generations",
                [
                    "key": .hex(texts[2].bytes), "seeds": .array(seeds.map { .hex($0.bytes) }),
                    "random": .hex(random.drawn), "sealed": .hex(sealed),
                ])
            group.altered("another key", ["key": .hex(texts[1].bytes)])
            var altered = sealed
            altered[50] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            var again = RecordingRandom("empty bundle")
            group.altered("no seed", ["sealed": .hex(texts[2].seal([], random: &again))])
        }
        try builder.group("Passkey") { group in
            let (output, origin) = ((0..<32).map { UInt8(0xFF - $0) }, "https://notes.example.org")
            let key = try RecoveryKey(passkey: SecretBytes(copying: output), origin: origin)
            let seed = try VectorPerson(1).seed
            var random = RecordingRandom("passkey")
            group.valid(
                "a passkey",
                [
                    "sealed": .hex(key.seal([seed], random: &random)), "seeds": .array([.hex(seed.bytes)]),
                    "output": .hex(output), "origin": .string(origin), "key": .hex(key.bytes),
                    "bundleID": .hex(key.bundleID),
                ])
            group.altered("another passkey", ["output": .hex((0..<32).map { UInt8($0) })])
            group.altered("the same name on another port", ["origin": .string("https://notes.example.org:8443")])
            group.altered("cut short", ["output": .hex([UInt8](output.dropLast()))])
        }
        try builder.group("Passphrase") { group in
            let origin = "https://notes.example.org"
            func fields(_ passphrase: String, _ name: String) throws -> [String: JSON] {
                let bytes = [UInt8](passphrase.utf8)
                let key = try RecoveryKey(passphrase: SecretBytes(copying: bytes), name: name, origin: origin)
                let seed = try VectorPerson(1).seed
                var random = RecordingRandom("passphrase \(name)")
                return [
                    "sealed": .hex(key.seal([seed], random: &random)), "seeds": .array([.hex(seed.bytes)]),
                    "passphrase": .hex(bytes), "name": .string(name), "origin": .string(origin), "key": .hex(key.bytes),
                    "bundleID": .hex(key.bundleID),
                ]
            }
            group.valid(
                "a name in capitals between spaces", try fields("correct horse battery staple", " Ann@Example.ORG\t"),
                flag: "Edge")
            group.valid("letters beyond ASCII", try fields("Größe 🔑", "ÄNN"), flag: "Edge")
            group.valid("a passphrase", try fields("correct horse battery staple", "ann@example.org"))
            group.altered("another passphrase", ["passphrase": .hex([UInt8]("Correct horse battery staple".utf8))])
            group.altered("another name", ["name": .string("ann@example.com")])
            group.altered("another server", ["origin": .string("https://notes.example.com")])
            group.altered("no passphrase", ["passphrase": .hex([])])
            group.altered("no name", ["name": .string(" ")])
        }
    }
}
