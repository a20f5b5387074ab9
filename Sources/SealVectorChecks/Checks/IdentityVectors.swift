import SealEnvelope
import SealPrimitives
import SealStatements

package enum IdentityVectors {
    static func check<H: HybridEncryption>(_ test: Fields, type: String, using hybrid: H.Type) throws(VectorError) {
        let container = try test.string("container")
        if type == "Chain" {
            let chain = try test.chain("chain", container: container)
            return try test.expect("userRecordName", .string(chain.userID.recordName))
        }
        let seed = try test.accountSeed()
        let keys = try core(seed.identityKeys(container: container, using: H.self))
        let time: Int64 = try test.number("time")
        let identity = try core(keys.firstIdentity(time: time))
        try test.expect("signingKey", .hex(keys.signingKey.verificationKey.bytes))
        try test.expect("grantSeed", .hex(keys.grantSeed))
        try test.expect("grantKey", .hex(keys.grantKey))
        try test.expect("userRecordName", .string(identity.userID.recordName))
        try test.expect("identity", .hex(identity.signed[0].bytes))
        try test.expect("signature", .hex(identity.signed[0].signature))
        try test.expect("loginKey", .hex(try core(seed.loginKey()).verificationKey.bytes))
        try test.expect("storageKey", .hex(seed.storageKey()))
    }
}
