import SealPrimitives
import SealStatements
import SealVectorChecks

/// paseto-standard's vectors of version 4, of which SealKit has `v4.public`.
enum PasetoStandard: PublishedFamily {
    static let name = "PASETO v4"

    static func recognises(_ file: JSON) -> Bool {
        guard let file = file.fields, let tests = try? file.objects("tests") else { return false }
        return (try? file.string("name")) == "PASETO v4 Test Vectors" && tests.first?.has("expect-fail") == true
    }

    static func run(_ file: JSON, into report: inout PublishedReport) throws {
        let tests = try file.fields?.objects("tests") ?? []
        for test in tests {
            let name = try test.string("name")
            switch name.prefix(4) {
            case "4-S-": report.test(name, accepted: true, by: try signed(test))
            case "4-F-": report.test(name, accepted: false, by: [try verdict(test, among: tests)])
            case "4-E-":
                // Encrypted tokens are no part of the protocol: good ones have to be refused, like any foreign header.
                let verdict = try verdict(test, among: tests)
                if verdict.accepts {
                    report.test(name, accepted: false, by: [verdict])
                } else {
                    report.leaveOut("v4.local, refused as foreign")
                }
            default: throw PublishedError.unknown("kind of test", name)
            }
        }
    }

    private static func signed(_ test: Fields) throws -> [PublishedVerdict] {
        let key = try SigningKey(seed: test.secret("secret-key-seed"))
        let (payload, footer) = ([UInt8](try test.string("payload").utf8), [UInt8](try test.string("footer").utf8))
        let implicit = [UInt8](try test.string("implicit-assertion").utf8)
        let token = try test.string("token")
        return [
            PublishedVerdict("SigningKey", key.verificationKey.bytes == (try test.bytes("public-key"))),
            PublishedVerdict(
                "PasetoPublic.sign", PasetoPublic.sign(payload, footer: footer, implicit: implicit, key: key) == token),
            PublishedVerdict("PasetoPublic.verify", try message(of: test, key: key.verificationKey) == payload),
        ]
    }

    /// On a test without a public key of its own: its token is put to the key of the others, so that it is not for want
    /// of a key that it is refused.
    private static func verdict(_ test: Fields, among tests: [Fields]) throws -> PublishedVerdict {
        guard let owner = test.has("public-key") ? test : tests.first(where: { $0.has("public-key") }) else {
            throw VectorError.missing("public-key")
        }
        let message = try message(of: test, key: VerificationKey(owner.bytes("public-key")))
        return PublishedVerdict("PasetoPublic.verify", message != nil)
    }

    private static func message(of test: Fields, key: VerificationKey) throws -> [UInt8]? {
        let (footer, implicit) = (
            [UInt8](try test.string("footer").utf8), [UInt8](try test.string("implicit-assertion").utf8)
        )
        let token = try test.string("token")
        return try? PasetoPublic.verify(token, footer: footer, implicit: implicit, key: key)
    }
}
