import Foundation
import SealPrimitives
import SealStatements
import Testing

@Suite struct PasetoTests {
    let key: SigningKey
    let footer = [UInt8](#"{"kid":"1"}"#.utf8)
    let message = [UInt8](#"{"sub":"a"}"#.utf8)

    init() throws { key = try SigningKey(seed: secret(1)) }

    @Test func `A token gives its message to whoever expects its footer and assertion`() throws {
        let token = PasetoPublic.sign(message, footer: footer, implicit: [1], key: key)
        #expect(try PasetoPublic.verify(token, footer: footer, implicit: [1], key: key.verificationKey) == message)
        #expect(try PasetoPublic.unverifiedFooter(token) == footer)
        let bare = PasetoPublic.sign(message, footer: [], key: key)
        #expect(try PasetoPublic.verify(bare, footer: [], key: key.verificationKey) == message)
        #expect(try PasetoPublic.unverifiedFooter(bare) == [])
    }

    @Test func `A token with one thing wrong is refused`() throws {
        let token = PasetoPublic.sign(message, footer: footer, key: key)
        func verify(_ token: String, footer expected: [UInt8]? = nil, implicit: [UInt8] = [], key other: SigningKey? = nil) throws(SealError) {
            _ = try PasetoPublic.verify(token, footer: expected ?? footer, implicit: implicit, key: (other ?? key).verificationKey)
        }
        #expect(throws: SealError.invalidSignature) { try verify(token, implicit: [1]) }
        #expect(throws: SealError.invalidSignature) { try verify(token, key: try SigningKey(seed: secret(2))) }
        #expect(throws: SealError.malformed) { try verify(token, footer: []) }
        let altered = [
            "", "v4.public.", "v4.local." + token.dropFirst(10), "v3.public." + token.dropFirst(10), token + "=", token + ".",
            token + ".AA", " " + token, String(token.dropLast()), token.replacingOccurrences(of: "v4.public.", with: "v4.public.."),
            "v4.public.\u{301}" + token.dropFirst(10), "v4.public." + String(repeating: "A", count: PasetoPublic.maximumBytes),
        ]
        for token in altered { #expect(throws: SealError.malformed, "\(token.prefix(40))") { try verify(token) } }
        var characters = [Character](token)
        for index in stride(from: 10, to: characters.count, by: 3) {
            let before = characters[index]
            characters[index] = before == "A" ? "B" : "A"
            if before != "." { #expect(throws: SealError.self) { try verify(String(characters)) } }
            characters[index] = before
        }
    }

    // MARK: The published vectors, where they lie

    static let published: URL? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = ProcessInfo.processInfo.environment["SEALKIT_PUBLISHED_VECTORS"] ?? "../shared/vectors"
        let file = URL(filePath: folder, relativeTo: root).appending(path: "paseto/v4.json")
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }()

    struct Published: Decodable {
        struct Test: Decodable {
            let name: String
            let expectFail: Bool
            let publicKey, secretKeySeed: String?
            let token: String
            let payload: String?
            let footer, implicitAssertion: String

            enum CodingKeys: String, CodingKey {
                case name, token, payload, footer
                case expectFail = "expect-fail"
                case publicKey = "public-key"
                case secretKeySeed = "secret-key-seed"
                case implicitAssertion = "implicit-assertion"
            }
        }
        let tests: [Test]
    }

    @Test(.enabled(if: published != nil, "SEALKIT_PUBLISHED_VECTORS names no folder with paseto/v4.json"))
    func `paseto-standard's own vectors hold`() throws {
        let file = try #require(Self.published)
        let tests = try JSONDecoder().decode(Published.self, from: Data(contentsOf: file)).tests
        #expect(tests.count == 17)
        var signed = 0
        for test in tests {
            // v4.local and PASERK keys are no part of the protocol: such tokens have to be refused.
            guard let publicKey = test.publicKey, let bytes = try? Hex.decode(publicKey), let key = try? VerificationKey(bytes) else {
                let key = self.key.verificationKey
                #expect(throws: SealError.self, "\(test.name)") {
                    try PasetoPublic.verify(test.token, footer: [UInt8](test.footer.utf8), key: key)
                }
                continue
            }
            let footer = [UInt8](test.footer.utf8)
            let implicit = [UInt8](test.implicitAssertion.utf8)
            if test.expectFail {
                #expect(throws: SealError.self, "\(test.name)") {
                    try PasetoPublic.verify(test.token, footer: footer, implicit: implicit, key: key)
                }
            } else {
                let payload = [UInt8](try #require(test.payload).utf8)
                #expect(try PasetoPublic.verify(test.token, footer: footer, implicit: implicit, key: key) == payload, "\(test.name)")
                let seed = SecretBytes(copying: try Hex.decode(try #require(test.secretKeySeed)))
                #expect(PasetoPublic.sign(payload, footer: footer, implicit: implicit, key: try SigningKey(seed: seed)) == test.token)
                signed += 1
            }
        }
        #expect(signed == 3)
    }
}
