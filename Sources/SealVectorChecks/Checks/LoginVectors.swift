import SealEnvelope
import SealPrimitives
import SealStatements

package enum LoginVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        switch type {
        case "Login", "Deletion":
            let (origin, challenge, time) = (
                try test.string("origin"), try test.bytes("challenge"), try test.number("time", as: Int64.self)
            )
            let message =
                type == "Login"
                ? Challenges.login(origin: origin, challenge: challenge, time: time)
                : Challenges.deletion(origin: origin, challenge: challenge, time: time)
            try checkAccount(test, message)
        case "Device":
            try checkAccount(
                test,
                Challenges.device(
                    try test.id("device"), name: try test.string("name"), added: try test.number("added")))
        case "Rotation":
            try checkAccount(
                test,
                Challenges.loginRotation(
                    origin: try test.string("origin"), newKey: try test.verificationKey("newKey")))
        case "Binding":
            let container = try test.string("container")
            let message = Challenges.loginBinding(container: container, loginKey: try test.verificationKey("loginKey"))
            let key = try test.signingKey(container: container).verificationKey
            let signature = try test.bytes("signature")
            try core(key.verify(signature, over: message))
            try test.expect("signingKey", .hex(key.bytes))
        case "Webhook":
            let message = WebhookSignature.signedBytes(
                keyID: try test.string("keyID"), time: try test.number("time"), url: try test.string("url"),
                body: try test.bytes("body"))
            let key = try checkServer(test, message)
            try test.expect("keyID", .string(KeyIdentifier.paserk(of: key)))
        case "Request":
            let (date, user) = (try test.string("date"), try test.string("user"))
            guard let time = ServerRequests.time(of: date) else { throw .refused(.malformed) }
            try test.expect("time", .number(time))
            let message = ServerRequests.signedBytes(
                origin: try test.string("origin"), user: try core(UserID(recordName: user)),
                method: try test.string("method"), path: try test.string("path"), date: date,
                nonce: try test.id("nonce"), body: try test.bytes("body"))
            _ = try checkServer(test, message)
        default:
            let routingID = try test.bytes("routingID")
            let message = Challenges.verificationCode(
                origin: try test.string("origin"), verificationID: try test.bytes("verificationID"),
                address: try test.string("address"),
                routingID: routingID.isEmpty ? nil : try core(ID16(routingID)), code: try test.string("code"))
            let (key, signature) = (try test.verificationKey("signingKey"), try test.bytes("signature"))
            try core(key.verify(signature, over: message))
        }
    }

    /// What the account of `seed` signs by its login key.
    private static func checkAccount(_ test: Fields, _ message: PAE) throws(VectorError) {
        let (seed, signature) = (try test.accountSeed(), try test.bytes("signature"))
        let key = try core(seed.loginKey())
        try test.expect("loginKey", .hex(key.verificationKey.bytes))
        try core(key.verificationKey.verify(signature, over: message))
        try test.expect("signature", .hex(key.sign(message)))
    }

    /// What is signed by the key of `signingSeed`.
    private static func checkServer(_ test: Fields, _ message: PAE) throws(VectorError) -> VerificationKey {
        let (seed, signature) = (try test.secret("signingSeed"), try test.bytes("signature"))
        let key = try core(SigningKey(seed: seed))
        try core(key.verificationKey.verify(signature, over: message))
        try test.expect("signingKey", .hex(key.verificationKey.bytes))
        try test.expect("signature", .hex(key.sign(message)))
        return key.verificationKey
    }
}
