import Crypto
import Foundation
import SealVectorChecks

/// HMAC-SHA256 as it is in HPKE's HKDF.
enum WycheproofHMAC: WycheproofFamily {
    static let name = "Wycheproof hmac-sha256"
    static let algorithm = "HMACSHA256"
    static let schema = "mac_test_schema_v1.json"
    static let groupType = "MacTest"

    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome {
        let (key, message, tag) = (try test.bytes("key"), try test.bytes("msg"), try test.bytes("tag"))
        // A shorter tag is the beginning of the whole one; the length is the group's, never the tag's own.
        let count = try group.count("tagSize", atMost: 256) / 8
        let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
        return .verdicts([
            PublishedVerdict("libsodium", [UInt8](BareSodium.hmacSHA256(message, key: key).prefix(count)) == tag),
            PublishedVerdict("swift-crypto", [UInt8](code.prefix(count)) == tag),
        ])
    }
}

/// HKDF-SHA256, HPKE's key derivation.
enum WycheproofHKDF: WycheproofFamily {
    static let name = "Wycheproof hkdf-sha256"
    static let algorithm = "HKDF-SHA-256"
    static let schema = "hkdf_test_schema_v1.json"
    static let groupType = "HkdfTest"

    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome {
        let (input, salt, info) = (try test.bytes("ikm"), try test.bytes("salt"), try test.bytes("info"))
        let (count, output) = (try test.count("size", atMost: 1 << 16), try test.bytes("okm"))
        let bare = BareSodium.hkdfExpand(BareSodium.hkdfExtract(salt: salt, input), info: info, count: count)
        let verdict = PublishedVerdict("libsodium", bare == output)
        // Asked for none or for more than 255 blocks, swift-crypto stops the program. HPKE never asks for two.
        guard (1...255 * BareSodium.hmacBytes).contains(count) else { return .verdicts([verdict]) }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: input), salt: salt, info: info, outputByteCount: count)
        return .verdicts([verdict, PublishedVerdict("swift-crypto", key.withUnsafeBytes { [UInt8]($0) } == output)])
    }
}
