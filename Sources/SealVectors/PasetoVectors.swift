import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension PasetoVectors: Construction {
    static let construction = VectorConstruction.paseto
    static let algorithm = "PASETO v4.public"
    static let header = [
        "Public: `seed` signs `message` with `footer` and `implicit` to `token`, which verifies with the seed's public key.",
        "KeyID: the Ed25519 key `publicKey` has the PASERK id `kid`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let seed = SecretBytes(copying: [UInt8](repeating: 0x0A, count: 32))
        let key = try SigningKey(seed: seed)
        let user = try VectorPerson(2).user.recordName
        let message =
            "{\"iss\":\"https://notes.example.org\",\"aud\":\"com.example.notes\",\"sub\":\"\(user)\",\"adr\":\"00\",\"shr\":\"33333333333333333333333333333333\",\"par\":\"01010101010101010101010101010101\",\"iat\":1700000000,\"nbf\":1700000000,\"exp\":1700000900,\"jti\":\"04\"}"
        let footer = "{\"kid\":\"\(KeyIdentifier.paserk(of: key.verificationKey))\"}"
        try builder.group("KeyID") { group in
            group.valid(
                "a server's key",
                [
                    "publicKey": .hex(key.verificationKey.bytes),
                    "kid": .string(KeyIdentifier.paserk(of: key.verificationKey)),
                ])
        }
        try builder.group("Public") { group in
            let token = PasetoPublic.sign([UInt8](message.utf8), footer: [UInt8](footer.utf8), key: key)
            func fields(_ token: String, footer: String, implicit: String = "") -> [String: JSON] {
                [
                    "seed": .hex(seed), "message": .string(message), "footer": .string(footer),
                    "implicit": .string(implicit), "token": .string(token),
                ]
            }
            group.valid(
                "without a footer", fields(PasetoPublic.sign([UInt8](message.utf8), footer: [], key: key), footer: ""))
            group.valid("a verification token", fields(token, footer: footer))
            group.altered("another footer expected", ["footer": .string("{\"kid\":\"k2\"}")])
            group.altered("no footer expected", ["footer": .string("")])
            group.altered("another assertion", ["implicit": .string("x")])
            group.altered("another key", ["seed": .hex(Digest.zero)])
            group.altered("another version", ["token": .string("v3" + token.dropFirst(2))])
            group.altered("another purpose", ["token": .string(token.replacing(".public.", with: ".local."))])
            group.altered(
                "without its footer",
                ["token": .string(String(token.prefix(upTo: token.lastIndex(of: ".") ?? token.endIndex)))])
            group.altered("an empty footer", ["token": .string(token + ".")])
            group.altered("cut short", ["token": .string(String(token.dropLast()))])
            group.altered("padding", ["token": .string(token + "=")])
            group.altered("too short for a signature", ["token": .string("v4.public.AAAA")])
            group.altered(
                "a letter of the message", ["token": .string(token.replacing("v4.public.e", with: "v4.public.f"))])
        }
    }
}
