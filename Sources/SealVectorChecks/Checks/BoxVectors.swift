import SealEnvelope
import SealPrimitives

package enum BoxVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        let sealed = try test.bytes("sealed")
        var random = ReplayedRandom(try test.bytes("random"))
        if type == "Storage" {
            let (purpose, context, key) = (
                try test.string("purpose"), try test.bytes("context"), try test.secret("key")
            )
            let secret = try core(StorageBox.open(sealed, purpose: purpose, context: context, under: key))
            try test.expect("secret", .hex(secret))
            let again = StorageBox.seal(secret, purpose: purpose, context: context, under: key, random: &random)
            return try test.expect("sealed", .hex(again))
        }
        let password = try test.secret("password")
        let secret = try core(PasswordBox.open(sealed, password: password))
        try test.expect("secret", .hex(secret))
        try test.expect("sealed", .hex(try core(PasswordBox.seal(secret, password: password, random: &random))))
    }
}
