import Crypto
import Foundation
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Keys sealed to people, next to swift-crypto's HPKE alone.
struct GrantBenchmark {
    let zone: BenchmarkZone
    private static let suite = HPKE.Ciphersuite(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly)
    private static let grants = 50

    func run(_ report: inout Report) throws {
        report.heading(
            "Grants: time, as a multiple of bare swift-crypto HPKE's",
            "Bare: the same 32 bytes, and keys made of the same bytes: none is kept ready between two calls.")
        let (key, keys, identity) = (zone.epochKey, zone.keys, zone.identity)
        let publicKey = try XWingMLKEM768X25519.PublicKey(rawRepresentation: keys.grantKey)
        let seed = keys.grantSeed.copyBytes()
        let info = Data(repeating: 1, count: 190)
        let plaintext = [UInt8](repeating: 1, count: 32)
        var sender = try HPKE.Sender(recipientKey: publicKey, ciphersuite: Self.suite, info: info)
        let encapsulated = sender.encapsulatedKey
        let sealed = try sender.seal(plaintext)
        let grant = try Grants<XWingHPKE>.seal(key, to: identity)
        let epoch = zone.roster.currentEpoch
        let times = try measure([
            {
                for _ in 0..<Self.grants {
                    let publicKey = try XWingMLKEM768X25519.PublicKey(rawRepresentation: keys.grantKey)
                    var sender = try HPKE.Sender(recipientKey: publicKey, ciphersuite: Self.suite, info: info)
                    _ = try sender.seal(plaintext)
                }
            },
            { for _ in 0..<Self.grants { _ = try Grants<XWingHPKE>.seal(key, to: identity) } },
            {
                for _ in 0..<Self.grants {
                    let privateKey = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil)
                    var recipient = try HPKE.Recipient(
                        privateKey: privateKey, ciphersuite: Self.suite, info: info, encapsulatedKey: encapsulated)
                    _ = try recipient.open(sealed)
                }
            },
            {
                for _ in 0..<Self.grants {
                    _ = try Grants<XWingHPKE>.open(grant, epoch: epoch, as: identity.userID, keys: keys)
                }
            },
        ])
        let count = Double(Self.grants)
        report.row("grants sealed", count / times[1], "/s", ratio: times[1] / times[0], aim: .atMost(1.1))
        report.row("grants opened", count / times[3], "/s", ratio: times[3] / times[2], aim: .atMost(1.1))
    }
}
