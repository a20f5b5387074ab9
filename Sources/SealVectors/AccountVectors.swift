import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension BoxVectors: Construction {
    static let construction = VectorConstruction.boxes
    static let algorithm = "Storage boxes and password boxes"
    static let header = [
        "Storage: `sealed` opens under `key` for `purpose` and `context` to `secret`; `random` gives the very bytes.",
        "Password: `sealed` opens with `password` (Argon2id, parameters in the box) to `secret`; `random` gives the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let secret = SecretBytes(copying: [UInt8](repeating: 0x22, count: 32))
        try builder.group("Storage") { group in
            var random = RecordingRandom("storage box")
            let key = try VectorPerson(1).seed.storageKey()
            let sealed = StorageBox.seal(
                secret, purpose: "link-secret", context: [1, 2, 3], under: key, random: &random)
            group.valid(
                "a box",
                [
                    "key": .hex(key), "purpose": .string("link-secret"), "context": .hex([1, 2, 3]),
                    "secret": .hex(secret),
                    "random": .hex(random.drawn), "sealed": .hex(sealed),
                ])
            group.altered("another purpose", ["purpose": .string("other")])
            group.altered("another context", ["context": .hex([1, 2])])
            group.altered("another key", ["key": .hex(Digest.zero)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
        }
        try builder.group("Password") { group in
            var random = RecordingRandom("password box")
            let password = [UInt8]("correct horse battery staple".utf8)
            let sealed = try PasswordBox.seal(secret, password: SecretBytes(copying: password), random: &random)
            group.valid(
                "a box",
                [
                    "password": .hex(password), "secret": .hex(secret), "random": .hex(random.drawn),
                    "sealed": .hex(sealed),
                ])
            group.altered("another passphrase", ["password": .hex([UInt8]("incorrect".utf8))])
            func header(_ passes: UInt32, _ memory: UInt32) -> JSON {
                var writer = CanonicalWriter()
                writer.number(passes)
                writer.number(memory)
                return .hex(writer.bytes + sealed.dropFirst(8))
            }
            group.altered("a pass too few: refused before anything is derived", ["sealed": header(2, 262_144)])
            group.altered("less memory than the floor", ["sealed": header(3, 262_143)])
            group.altered("more memory than the ceiling", ["sealed": header(3, 4_194_305)])
            group.altered("other parameters than it was sealed with", ["sealed": header(4, 262_144)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.prefix(63)))])
        }
    }
}
