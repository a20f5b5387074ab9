import Crypto
import Foundation
import SealEnvelope
import SealKit
import SealPrimitives
import SealVectorChecks

/// X-Wing's own vectors (draft-connolly-cfrg-xwing-kem). The randomness of encapsulation (`eseed`) cannot be handed to
/// swift-crypto: `ct` is decapsulated, and what our own sealing encapsulates is opened by a second implementation.
enum XWingDraft: PublishedFamily {
    static let name = "X-Wing"

    static func recognises(_ file: JSON) -> Bool {
        guard let first = file.list?.first else { return false }
        return ["seed", "eseed", "sk", "pk", "ct", "ss"].allSatisfy { first.has($0) }
    }

    static func run(_ file: JSON, into report: inout PublishedReport) throws {
        for (number, test) in (file.list ?? []).enumerated() {
            let pair = XWingPair(seed: try test.bytes("sk"), publicKey: try test.bytes("pk"))
            let verdicts = try pair.verdicts(encapsulated: test.bytes("ct"), sharedSecret: test.bytes("ss"), info: [])
            report.test("number \(number + 1)", accepted: true, by: verdicts)
        }
    }
}

/// A recipient's published key pair.
struct XWingPair {
    let seed, publicKey: [UInt8]

    var secret: SecretBytes { SecretBytes(copying: seed) }

    func privateKey() throws -> XWingMLKEM768X25519.PrivateKey {
        try XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil)
    }

    func decapsulate(_ encapsulated: [UInt8]) throws -> [UInt8] {
        try privateKey().decapsulate(Data(encapsulated)).withUnsafeBytes { [UInt8]($0) }
    }

    /// Whether the seed gives the key, and the encapsulated key the shared secret, to everything that SealKit does.
    func verdicts(encapsulated: [UInt8], sharedSecret: [UInt8], info: [UInt8]) throws -> [PublishedVerdict] {
        let message: [UInt8] = [1, 2, 3]
        let sealed = try KeySchedule(sharedSecret: sharedSecret, info: info).seal(message).map { encapsulated + $0 }
        return [
            PublishedVerdict("HybridKeyCheck", HybridKeyCheck.isValid(publicKey)),
            PublishedVerdict("XWingHPKE.publicKey", (try? XWingHPKE.publicKey(seed: secret)) == publicKey),
            PublishedVerdict("swift-crypto's decapsulation", (try? decapsulate(encapsulated)) == sharedSecret),
            PublishedVerdict(
                "XWingHPKE.open", (try? XWingHPKE.open(sealed ?? [], seed: secret, info: info)) == message),
            PublishedVerdict("XWingHPKE.seal", try sealsByTheBook(message, info: info)),
        ]
    }

    /// Whether what we seal to the key opens by the second key schedule.
    private func sealsByTheBook(_ message: [UInt8], info: [UInt8]) throws -> Bool {
        guard let sealed = try? XWingHPKE.seal(message, to: publicKey, info: info) else { return false }
        let shared = try decapsulate([UInt8](sealed.prefix(HybridSizes.encapsulatedKey)))
        return try KeySchedule(sharedSecret: shared, info: info)
            .open([UInt8](sealed.dropFirst(HybridSizes.encapsulatedKey))) == message
    }
}
