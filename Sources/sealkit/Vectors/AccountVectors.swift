import SealEnvelope
import SealPrimitives
import SealStatements

enum RecoveryVectors: Construction {
    static let name = "recovery"
    static let algorithm = "Recovery key and bundle"
    static let header = [
        "Text: `text` is the printed form of `key`, which names `bundleID`. In an invalid test, `mistypedGroups` (from 1) are those whose check character does not fit, where there are thirteen groups at all.",
        "Bundle: `sealed` opens with `key` to `seeds`; `random` gives the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let texts = try [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), (0..<32).map { UInt8($0 * 7) }].map {
            try RecoveryKey(SecretBytes(copying: $0))
        }
        try builder.group("Text") { group in
            for (index, key) in texts.enumerated() {
                group.valid("key \(index)", ["key": .hex(key.bytes), "text": .string(key.text()), "bundleID": .hex(key.bundleID)])
            }
            let text = texts[2].text()
            group.valid("typed in lower case with spaces", ["key": .hex(texts[2].bytes), "text": .string(text.lowercased().replacing("-", with: " ")), "bundleID": .hex(texts[2].bundleID)], flag: "Edge")
            func mistyped(_ comment: String, _ text: String) {
                var fields: [String: JSON] = ["text": .string(text)]
                if let groups = RecoveryKey.mistypedGroups(in: text) { fields["mistypedGroups"] = .array(groups.map { .int($0) }) }
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
            group.valid("two generations", ["key": .hex(texts[2].bytes), "seeds": .array(seeds.map { .hex($0.bytes) }), "random": .hex(random.drawn), "sealed": .hex(sealed)])
            group.altered("another key", ["key": .hex(texts[1].bytes)])
            var altered = sealed
            altered[50] ^= 1
            group.altered("an altered byte", ["sealed": .hex(altered)])
            group.altered("cut short", ["sealed": .hex([UInt8](sealed.dropLast()))])
            var again = RecordingRandom("empty bundle")
            group.altered("no seed", ["sealed": .hex(texts[2].seal([], random: &again))])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "Text" {
            let text = try test.string("text")
            if let groups = RecoveryKey.mistypedGroups(in: text), !groups.isEmpty {
                try test.expect("mistypedGroups", .array(groups.map { .int($0) }))
            }
            let key = try RecoveryKey(text: text)
            try test.expect("key", .hex(key.bytes))
            return try test.expect("bundleID", .hex(key.bundleID))
        }
        let key = try RecoveryKey(test.secret("key"))
        let seeds = try key.open(test.bytes("sealed"))
        try test.expect("seeds", .array(seeds.map { .hex($0.bytes) }))
        var random = ReplayedRandom(try test.bytes("random"))
        try test.expect("sealed", .hex(key.seal(seeds, random: &random)))
    }
}

enum BoxVectors: Construction {
    static let name = "boxes"
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
            let sealed = StorageBox.seal(secret, purpose: "link-secret", context: [1, 2, 3], under: key, random: &random)
            group.valid(
                "a box",
                [
                    "key": .hex(key), "purpose": .string("link-secret"), "context": .hex([1, 2, 3]), "secret": .hex(secret),
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
            group.valid("a box", ["password": .hex(password), "secret": .hex(secret), "random": .hex(random.drawn), "sealed": .hex(sealed)])
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

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let sealed = try test.bytes("sealed")
        var random = ReplayedRandom(try test.bytes("random"))
        if type == "Storage" {
            let (purpose, context, key) = (try test.string("purpose"), try test.bytes("context"), try test.secret("key"))
            let secret = try StorageBox.open(sealed, purpose: purpose, context: context, under: key)
            try test.expect("secret", .hex(secret))
            return try test.expect("sealed", .hex(StorageBox.seal(secret, purpose: purpose, context: context, under: key, random: &random)))
        }
        let secret = try PasswordBox.open(sealed, password: test.secret("password"))
        try test.expect("secret", .hex(secret))
        try test.expect("sealed", .hex(try PasswordBox.seal(secret, password: test.secret("password"), random: &random)))
    }
}

enum LoginVectors: Construction {
    static let name = "login"
    static let algorithm = "Signatures towards a server"
    static let header = [
        "Login: the login key of `seed` signs origin, challenge and time.",
        "Deletion: the same for deleting the account.",
        "Binding: the identity's key of `seed` in `container` signs the account's login key.",
        "Code: the identity's key signs a verification code that came back.",
        "Request: the server-to-server key of `signingSeed` (an Ed25519 seed), whose user is `user`, signs a request.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let person = try VectorPerson(1)
        let login = try person.seed.loginKey()
        let origin = "https://notes.example.org"
        try builder.group("Login") { group in
            let challenge = [UInt8](repeating: 8, count: 32)
            group.valid(
                "a login",
                [
                    "seed": .hex(person.seed.bytes), "origin": .string(origin), "challenge": .hex(challenge), "time": .number(VectorZone.time),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(login.sign(Challenges.login(origin: origin, challenge: challenge, time: VectorZone.time))),
                ])
            group.altered("another origin", ["origin": .string("https://evil.example.org")])
            group.altered("another challenge", ["challenge": .hex(Digest.zero)])
            group.altered("another time", ["time": .number(0)])
            group.altered("a binding instead", ["signature": .hex(login.sign(Challenges.loginBinding(container: origin, loginKey: login.verificationKey)))])
        }
        try builder.group("Deletion") { group in
            let challenge = [UInt8](repeating: 9, count: 32)
            group.valid(
                "a deletion",
                [
                    "seed": .hex(person.seed.bytes), "origin": .string(origin), "challenge": .hex(challenge), "time": .number(VectorZone.time),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(login.sign(Challenges.deletion(origin: origin, challenge: challenge, time: VectorZone.time))),
                ])
            group.altered("another origin", ["origin": .string("https://evil.example.org")])
            group.altered("another challenge", ["challenge": .hex(Digest.zero)])
            group.altered("another time", ["time": .number(0)])
            group.altered("a login instead", ["signature": .hex(login.sign(Challenges.login(origin: origin, challenge: challenge, time: VectorZone.time)))])
        }
        try builder.group("Binding") { group in
            group.valid(
                "a binding",
                [
                    "seed": .hex(person.seed.bytes), "container": .string(VectorZone.container), "loginKey": .hex(login.verificationKey.bytes),
                    "signingKey": .hex(person.keys.signingKey.verificationKey.bytes),
                    "signature": .hex(person.keys.signingKey.sign(Challenges.loginBinding(container: VectorZone.container, loginKey: login.verificationKey))),
                ])
            group.altered("another container", ["container": .string("com.example.other")])
            group.altered("another login key", ["loginKey": .hex(try VectorPerson(2).seed.loginKey().verificationKey.bytes)])
        }
        try builder.group("Code") { group in
            let id = [UInt8](repeating: 4, count: 16)
            group.valid(
                "a code",
                [
                    "verificationID": .hex(id), "code": .string("12345678"), "signingKey": .hex(person.keys.signingKey.verificationKey.bytes),
                    "signature": .hex(person.keys.signingKey.sign(Challenges.verificationCode(verificationID: id, code: "12345678"))),
                ])
            group.altered("another code", ["code": .string("12345679")])
            group.altered("another verification", ["verificationID": .hex(Digest.zero)])
        }
        try builder.group("Request") { group in
            let seed = SecretBytes(copying: [UInt8](repeating: 0x0B, count: 32))
            let key = try SigningKey(seed: seed)
            let user = Identity.userID(container: VectorZone.container, firstSigningKey: key.verificationKey)
            let nonce = try ID16([UInt8](repeating: 5, count: 16))
            let path = "/database/1/\(VectorZone.container)/production/public/records/modify"
            func fields(_ method: String, body: [UInt8]) -> [String: JSON] {
                let date = "2026-11-21T13:40:00Z"
                let signed = ServerRequests.signedBytes(
                    origin: origin, user: user, method: method, path: path, date: date, nonce: nonce, body: body)
                return [
                    "signingSeed": .hex(seed), "user": .string(user.recordName), "signingKey": .hex(key.verificationKey.bytes),
                    "origin": .string(origin), "method": .string(method), "path": .string(path), "date": .string(date),
                    "time": .number(1_795_268_400_000_000 as Int64), "nonce": .hex(nonce), "body": .hex(body),
                    "signature": .hex(key.sign(signed)),
                ]
            }
            group.valid("without a body", fields("GET", body: []))
            group.valid("a request", fields("POST", body: [UInt8]("{}".utf8)))
            group.altered("another origin", ["origin": .string("https://evil.example.org")])
            group.altered("another user", ["user": .string(person.user.recordName)])
            group.altered("another method", ["method": .string("PUT")])
            group.altered("another path", ["path": .string(path + "?x")])
            group.altered("another date", ["date": .string("2026-11-21T13:40:01Z"), "time": .number(1_795_268_401_000_000 as Int64)])
            group.altered("another nonce", ["nonce": .hex(ID16.zero)])
            group.altered("another body", ["body": .hex([UInt8]("{ }".utf8))])
            group.altered("a login instead", [
                "signature": .hex(key.sign(Challenges.login(origin: origin, challenge: [UInt8]("{}".utf8), time: 1_795_268_400_000_000)))
            ])
            group.altered("a date with a fraction", ["date": .string("2026-11-21T13:40:00.0Z")])
            group.altered("a day that there is not", ["date": .string("2026-11-31T13:40:00Z")])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        let signature = try test.bytes("signature")
        switch type {
        case "Login", "Deletion":
            let key = try AccountSeed(test.secret("seed")).loginKey()
            let challenge = (try test.string("origin"), try test.bytes("challenge"), try test.number("time") as Int64)
            let message =
                type == "Login"
                ? Challenges.login(origin: challenge.0, challenge: challenge.1, time: challenge.2)
                : Challenges.deletion(origin: challenge.0, challenge: challenge.1, time: challenge.2)
            try test.expect("loginKey", .hex(key.verificationKey.bytes))
            try key.verificationKey.verify(signature, over: message)
            try test.expect("signature", .hex(key.sign(message)))
        case "Binding":
            let message = Challenges.loginBinding(container: try test.string("container"), loginKey: try VerificationKey(test.bytes("loginKey")))
            let key = try AccountSeed(test.secret("seed")).identityKeys(container: test.string("container"), using: NoGrants.self).signingKey
            try key.verificationKey.verify(signature, over: message)
            try test.expect("signingKey", .hex(key.verificationKey.bytes))
        case "Request":
            let date = try test.string("date")
            guard let time = ServerRequests.time(of: date) else { throw SealError.malformed }
            try test.expect("time", .number(time))
            let user = try UserID(recordName: test.string("user"))
            let key = try SigningKey(seed: test.secret("signingSeed"))
            let message = ServerRequests.signedBytes(
                origin: try test.string("origin"), user: user, method: try test.string("method"), path: try test.string("path"),
                date: date, nonce: try test.id("nonce"), body: try test.bytes("body"))
            try key.verificationKey.verify(signature, over: message)
            try test.expect("signingKey", .hex(key.verificationKey.bytes))
            try test.expect("signature", .hex(key.sign(message)))
        default:
            let message = Challenges.verificationCode(verificationID: try test.bytes("verificationID"), code: try test.string("code"))
            try VerificationKey(test.bytes("signingKey")).verify(signature, over: message)
        }
    }
}

enum PasetoVectors: Construction {
    static let name = "paseto"
    static let algorithm = "PASETO v4.public"
    static let header = [
        "Public: `seed` signs `message` with `footer` and `implicit` to `token`, which verifies with the seed's public key.",
        "KeyID: the Ed25519 key `publicKey` has the PASERK id `kid`.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let seed = SecretBytes(copying: [UInt8](repeating: 0x0A, count: 32))
        let key = try SigningKey(seed: seed)
        let user = try VectorPerson(2).user.recordName
        let message = "{\"iss\":\"https://notes.example.org\",\"aud\":\"com.example.notes\",\"sub\":\"\(user)\",\"adr\":\"00\",\"shr\":\"33333333333333333333333333333333\",\"par\":\"01010101010101010101010101010101\",\"iat\":1700000000,\"nbf\":1700000000,\"exp\":1700000900,\"jti\":\"04\"}"
        let footer = "{\"kid\":\"\(KeyIdentifier.paserk(of: key.verificationKey))\"}"
        try builder.group("KeyID") { group in
            group.valid("a server's key", ["publicKey": .hex(key.verificationKey.bytes), "kid": .string(KeyIdentifier.paserk(of: key.verificationKey))])
        }
        try builder.group("Public") { group in
            let token = PasetoPublic.sign([UInt8](message.utf8), footer: [UInt8](footer.utf8), key: key)
            func fields(_ token: String, footer: String, implicit: String = "") -> [String: JSON] {
                ["seed": .hex(seed), "message": .string(message), "footer": .string(footer), "implicit": .string(implicit), "token": .string(token)]
            }
            group.valid("without a footer", fields(PasetoPublic.sign([UInt8](message.utf8), footer: [], key: key), footer: ""))
            group.valid("a verification token", fields(token, footer: footer))
            group.altered("another footer expected", ["footer": .string("{\"kid\":\"k2\"}")])
            group.altered("no footer expected", ["footer": .string("")])
            group.altered("another assertion", ["implicit": .string("x")])
            group.altered("another key", ["seed": .hex(Digest.zero)])
            group.altered("another version", ["token": .string("v3" + token.dropFirst(2))])
            group.altered("another purpose", ["token": .string(token.replacing(".public.", with: ".local."))])
            group.altered("without its footer", ["token": .string(String(token.prefix(upTo: token.lastIndex(of: ".") ?? token.endIndex)))])
            group.altered("an empty footer", ["token": .string(token + ".")])
            group.altered("cut short", ["token": .string(String(token.dropLast()))])
            group.altered("padding", ["token": .string(token + "=")])
            group.altered("too short for a signature", ["token": .string("v4.public.AAAA")])
            group.altered("a letter of the message", ["token": .string(token.replacing("v4.public.e", with: "v4.public.f"))])
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws {
        if type == "KeyID" { return try test.expect("kid", .string(KeyIdentifier.paserk(of: VerificationKey(test.bytes("publicKey"))))) }
        let key = try SigningKey(seed: test.secret("seed"))
        let (footer, implicit) = ([UInt8](try test.string("footer").utf8), [UInt8](try test.string("implicit").utf8))
        let message = try PasetoPublic.verify(test.string("token"), footer: footer, implicit: implicit, key: key.verificationKey)
        try test.expect("message", .string(String(decoding: message, as: UTF8.self)))
        try test.expect("token", .string(PasetoPublic.sign(message, footer: footer, implicit: implicit, key: key)))
    }
}
