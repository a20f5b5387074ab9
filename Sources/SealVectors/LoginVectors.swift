import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

extension LoginVectors: Construction {
    static let construction = VectorConstruction.login
    static let algorithm = "Signatures towards a server"
    static let header = [
        "Login: the login key of `seed` signs origin, challenge and time.",
        "Deletion: the same for deleting the account.",
        "Device: the login key of `seed` signs a device's id, its name, and when it was added.",
        "Rotation: the login key of `seed` names `newKey`, which takes its place at the server `origin`.",
        "Binding: the identity's key of `seed` in `container` signs the account's login key.",
        "Code: the identity's key signs a verification code that came back, for `address` and the share of `routingID` (empty for none).",
        "Webhook: a server's webhook key signs what it sends: the key's own name, the time in seconds since 1970, the URL, and the body.",
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
                    "seed": .hex(person.seed.bytes), "origin": .string(origin), "challenge": .hex(challenge),
                    "time": .number(VectorZone.time),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(
                        login.sign(Challenges.login(origin: origin, challenge: challenge, time: VectorZone.time))),
                ])
            group.altered("another origin", ["origin": .string("https://evil.example.org")])
            group.altered("another challenge", ["challenge": .hex(Digest.zero)])
            group.altered("another time", ["time": .number(0)])
            group.altered(
                "a binding instead",
                [
                    "signature": .hex(
                        login.sign(Challenges.loginBinding(container: origin, loginKey: login.verificationKey)))
                ])
        }
        try builder.group("Deletion") { group in
            let challenge = [UInt8](repeating: 9, count: 32)
            group.valid(
                "a deletion",
                [
                    "seed": .hex(person.seed.bytes), "origin": .string(origin), "challenge": .hex(challenge),
                    "time": .number(VectorZone.time),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(
                        login.sign(Challenges.deletion(origin: origin, challenge: challenge, time: VectorZone.time))),
                ])
            group.altered("another origin", ["origin": .string("https://evil.example.org")])
            group.altered("another challenge", ["challenge": .hex(Digest.zero)])
            group.altered("another time", ["time": .number(0)])
            group.altered(
                "a login instead",
                [
                    "signature": .hex(
                        login.sign(Challenges.login(origin: origin, challenge: challenge, time: VectorZone.time)))
                ])
        }
        try builder.group("Device") { group in
            let id = try ID16([UInt8](repeating: 6, count: 16))
            group.valid(
                "a device",
                [
                    "seed": .hex(person.seed.bytes), "device": .hex(id), "name": .string("Ann's laptop"),
                    "added": .number(VectorZone.time),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(login.sign(Challenges.device(id, name: "Ann's laptop", added: VectorZone.time))),
                ])
            group.altered("another device", ["device": .hex(ID16.zero)])
            group.altered("another name", ["name": .string("Ann's phone")])
            group.altered("another time", ["added": .number(0)])
            group.altered(
                "another account's signature",
                [
                    "signature": .hex(
                        try VectorPerson(2).seed.loginKey().sign(
                            Challenges.device(id, name: "Ann's laptop", added: VectorZone.time)))
                ])
            group.altered(
                "a login instead",
                [
                    "signature": .hex(
                        login.sign(Challenges.login(origin: "Ann's laptop", challenge: id.bytes, time: VectorZone.time))
                    )
                ])
        }
        try builder.group("Rotation") { group in
            let newKey = try VectorPerson(2).seed.loginKey().verificationKey
            group.valid(
                "a new login key",
                [
                    "seed": .hex(person.seed.bytes), "origin": .string(origin), "newKey": .hex(newKey.bytes),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signature": .hex(login.sign(Challenges.loginRotation(origin: origin, newKey: newKey))),
                ])
            group.altered("another server", ["origin": .string("https://evil.example.org")])
            group.altered(
                "another new key", ["newKey": .hex(try VectorPerson(3).seed.loginKey().verificationKey.bytes)])
            group.altered(
                "a binding instead",
                ["signature": .hex(login.sign(Challenges.loginBinding(container: origin, loginKey: newKey)))])
        }
        try builder.group("Binding") { group in
            group.valid(
                "a binding",
                [
                    "seed": .hex(person.seed.bytes), "container": .string(VectorZone.container),
                    "loginKey": .hex(login.verificationKey.bytes),
                    "signingKey": .hex(person.keys.signingKey.verificationKey.bytes),
                    "signature": .hex(
                        person.keys.signingKey.sign(
                            Challenges.loginBinding(container: VectorZone.container, loginKey: login.verificationKey))),
                ])
            group.altered("another container", ["container": .string("com.example.other")])
            group.altered(
                "another login key", ["loginKey": .hex(try VectorPerson(2).seed.loginKey().verificationKey.bytes)])
        }
        try builder.group("Code") { group in
            let id = [UInt8](repeating: 4, count: 16)
            let routingID = try ID16([UInt8](repeating: 0x33, count: 16))
            let key = person.keys.signingKey
            func fields(_ address: String, _ routingID: ID16?) -> [String: JSON] {
                let signed = Challenges.verificationCode(
                    origin: origin, verificationID: id, address: address, routingID: routingID, code: "12345678")
                return [
                    "origin": .string(origin), "verificationID": .hex(id), "address": .string(address),
                    "routingID": .hex(routingID?.bytes ?? []),
                    "code": .string("12345678"), "signingKey": .hex(key.verificationKey.bytes),
                    "signature": .hex(key.sign(signed)),
                ]
            }
            group.valid("a code to link an address", fields("+4930123456", nil))
            group.altered("for a share", ["routingID": .hex(routingID)])
            group.valid("a code for a share", fields("Alice@Example.org", routingID))
            group.altered("another server", ["origin": .string("https://evil.example.org")])
            group.altered("another verification", ["verificationID": .hex(Digest.zero)])
            group.altered("another address", ["address": .string("mallory@example.org")])
            group.altered("another spelling of the address", ["address": .string("alice@example.org")])
            group.altered("another share", ["routingID": .hex(ID16.zero)])
            group.altered("for no share", ["routingID": .hex([UInt8]())])
            group.altered("another code", ["code": .string("12345679")])
            group.altered(
                "a login instead",
                [
                    "signature": .hex(key.sign(Challenges.login(origin: origin, challenge: id, time: VectorZone.time)))
                ])
        }
        try builder.group("Webhook") { group in
            let seed = SecretBytes(copying: [UInt8](repeating: 0x0C, count: 32))
            let (key, time) = (try SigningKey(seed: seed), 1_795_268_400 as Int64)
            let (keyID, url, body) = (
                KeyIdentifier.paserk(of: key.verificationKey), "https://hooks.example.org/notes",
                [UInt8](#"{"deliveryId":"1"}"#.utf8)
            )
            group.valid(
                "a delivery",
                [
                    "signingSeed": .hex(seed), "signingKey": .hex(key.verificationKey.bytes), "keyID": .string(keyID),
                    "time": .number(time),
                    "url": .string(url), "body": .hex(body),
                    "signature": .hex(
                        key.sign(WebhookSignature.signedBytes(keyID: keyID, time: time, url: url, body: body))),
                ])
            group.altered("another key's name", ["keyID": .string(KeyIdentifier.paserk(of: login.verificationKey))])
            group.altered("another time", ["time": .number(time + 1)])
            group.altered("another URL", ["url": .string("https://hooks.example.org/other")])
            group.altered("another body", ["body": .hex([UInt8]("{}".utf8))])
            group.altered(
                "a login instead",
                [
                    "signature": .hex(key.sign(Challenges.login(origin: url, challenge: body, time: time)))
                ])
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
                    "signingSeed": .hex(seed), "user": .string(user.recordName),
                    "signingKey": .hex(key.verificationKey.bytes),
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
            group.altered(
                "another date",
                ["date": .string("2026-11-21T13:40:01Z"), "time": .number(1_795_268_401_000_000 as Int64)])
            group.altered("another nonce", ["nonce": .hex(ID16.zero)])
            group.altered("another body", ["body": .hex([UInt8]("{ }".utf8))])
            group.altered(
                "a login instead",
                [
                    "signature": .hex(
                        key.sign(
                            Challenges.login(origin: origin, challenge: [UInt8]("{}".utf8), time: 1_795_268_400_000_000)
                        ))
                ])
            group.altered("a date with a fraction", ["date": .string("2026-11-21T13:40:00.0Z")])
            group.altered("a day that there is not", ["date": .string("2026-11-31T13:40:00Z")])
        }
    }
}
