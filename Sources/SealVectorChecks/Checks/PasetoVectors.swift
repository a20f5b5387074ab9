import SealPrimitives
import SealStatements

package enum PasetoVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        if type == "KeyID" {
            return try test.expect("kid", .string(KeyIdentifier.paserk(of: try test.verificationKey("publicKey"))))
        }
        let (seed, token) = (try test.secret("seed"), try test.string("token"))
        let key = try core(SigningKey(seed: seed))
        let (footer, implicit) = ([UInt8](try test.string("footer").utf8), [UInt8](try test.string("implicit").utf8))
        let message = try core(
            PasetoPublic.verify(token, footer: footer, implicit: implicit, key: key.verificationKey))
        try test.expect("message", .string(String(decoding: message, as: UTF8.self)))
        try test.expect("token", .string(PasetoPublic.sign(message, footer: footer, implicit: implicit, key: key)))
    }
}
