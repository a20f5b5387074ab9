import SealPrimitives
import SealStatements
import Testing

@Suite(.timeLimit(.minutes(60))) struct PasetoTests {
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
        func verify(
            _ token: String, footer expected: [UInt8]? = nil, implicit: [UInt8] = [], key other: SigningKey? = nil
        ) throws(SealError) {
            _ = try PasetoPublic.verify(
                token, footer: expected ?? footer, implicit: implicit, key: (other ?? key).verificationKey)
        }
        #expect(throws: SealError.invalidSignature) { try verify(token, implicit: [1]) }
        #expect(throws: SealError.invalidSignature) { try verify(token, key: try SigningKey(seed: secret(2))) }
        #expect(throws: SealError.malformed) { try verify(token, footer: []) }
        let altered = [
            "", "v4.public.", "v4.local." + token.dropFirst(10), "v3.public." + token.dropFirst(10), token + "=",
            token + ".",
            token + ".AA", " " + token, String(token.dropLast()), token.replacing("v4.public.", with: "v4.public.."),
            "v4.public.\u{301}" + token.dropFirst(10),
            "v4.public." + String(repeating: "A", count: PasetoPublic.maximumBytes),
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
}
