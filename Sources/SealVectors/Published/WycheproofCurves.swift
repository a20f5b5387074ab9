import Crypto
import SealKit
import SealPrimitives
import SealVectorChecks

/// X25519 as it is in X-Wing. Not used alone: grants are HPKE with X-Wing.
enum WycheproofX25519: WycheproofFamily {
    static let name = "Wycheproof x25519"
    static let algorithm = "XDH"
    static let schema = "xdh_comp_schema_v1.json"
    static let groupType = "XdhComp"
    static let curve = "curve25519"

    static func curve(of group: Fields) throws -> String { try group.string("curve") }

    /// A shared secret of zeros is refused; points on the twist and non-canonical ones are computed with, as RFC 7748
    /// says.
    static func accepts(acceptable flags: Set<String>) -> Bool? { !flags.contains("ZeroSharedSecret") }

    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome {
        let (point, scalar, shared) = (try test.bytes("public"), try test.bytes("private"), try test.bytes("shared"))
        // The point as half of a grant key, behind an ML-KEM key that passes.
        let grantKey = [UInt8](repeating: 0, count: HybridKeyCheck.keyBytes - 32) + point
        // Used alone, swift-crypto gives out a secret of zeros and leaves the check to its caller, as RFC 7748, 6.1
        // allows.
        let agreed = agreement(scalar, point).flatMap { secret in secret.allSatisfy { $0 == 0 } ? nil : secret }
        return .verdicts([
            PublishedVerdict("libsodium", BareSodium.x25519(scalar, point) == shared),
            PublishedVerdict("swift-crypto", agreed == shared),
            PublishedVerdict("HybridKeyCheck", HybridKeyCheck.isValid(grantKey)),
            PublishedVerdict("XWingHPKE.seal", (try? XWingHPKE.seal([], to: grantKey, info: [])) != nil),
        ])
    }

    private static func agreement(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        guard let secret = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar),
            let point = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: point)
        else { return nil }
        return try? secret.sharedSecretFromKeyAgreement(with: point).withUnsafeBytes { [UInt8]($0) }
    }
}

enum WycheproofEd25519: WycheproofFamily {
    static let name = "Wycheproof ed25519"
    static let algorithm = "EDDSA"
    static let schema = "eddsa_verify_schema_v1.json"
    static let groupType = "EddsaVerify"
    static let curve = "edwards25519"

    static func curve(of group: Fields) throws -> String { try group.object("publicKey").string("curve") }

    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome {
        let key = try group.object("publicKey").bytes("pk")
        let (message, signature) = (try test.bytes("msg"), try test.bytes("sig"))
        return .verdicts([
            PublishedVerdict("VerificationKey", (try? VerificationKey(key).verify(signature, message: message)) != nil),
            PublishedVerdict("libsodium", BareSodium.verifies(signature, over: message, by: key)),
        ])
    }
}
