import SealPrimitives
import SealStatements

/// Tokens: text as it comes, and signed ones.
enum PasetoTarget: FuzzTarget {
    static let name = "paseto"
    static let maximumLength = 9_000
    static let seeds = [Seed.text("paseto", "token"), .text("paseto", "message"), .made([UInt8]("v4.public.".utf8))]
    private static let key = World.people[0].signingKey

    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        refuses("a hostile token") { try PasetoPublic.verify(text, footer: [], key: key.verificationKey) }
        if let footer = try? PasetoPublic.unverifiedFooter(text) {
            require(text.utf8.count <= 8_192 && text.utf8.starts(with: "v4.public.".utf8), "a token out of bounds")
            let end = Base64URL.encode(footer)
            require(footer.isEmpty || text.utf8.reversed().starts(with: ("." + end).utf8.reversed()), "another footer")
            refuses("a hostile token with its footer") {
                try PasetoPublic.verify(text, footer: footer, key: key.verificationKey)
            }
        }
        sign(Choices(input))
    }

    private static func sign(_ choices: Choices) {
        var choices = choices
        let (footer, implicit) = (choices.bytes(atMost: 64), choices.bytes(atMost: 16))
        let message = choices.rest()
        let token = PasetoPublic.sign(message, footer: footer, implicit: implicit, key: key)
        let check = { (token: String, footer: [UInt8], implicit: [UInt8], key: SigningKey) in
            try PasetoPublic.verify(token, footer: footer, implicit: implicit, key: key.verificationKey)
        }
        let verified = try? check(token, footer, implicit, key)
        require(
            verified == (token.utf8.count <= PasetoPublic.maximumBytes ? message : nil),
            "a token taken or refused wrongly")
        guard verified != nil else { return }
        require((try? PasetoPublic.unverifiedFooter(token)) == footer, "another footer")
        refuses("another footer") { try check(token, footer + [0], implicit, key) }
        refuses("another assertion") { try check(token, footer, implicit + [0], key) }
        refuses("another key") { try check(token, footer, implicit, World.people[1].signingKey) }
        for second in [token + "=", token + ".", " " + token, token + "\n"] {
            refuses("a second spelling") { try check(second, footer, implicit, key) }
        }
    }
}
