import Crypto
import Foundation
public import SealEnvelope
public import SealPrimitives

/// The core's `HybridEncryption` by swift-crypto: X-Wing, HKDF-SHA256, ChaCha20-Poly1305.
public enum XWingHPKE: HybridEncryption {
    private static let suite = HPKE.Ciphersuite(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly)

    public static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8] {
        [UInt8](try privateKey(seed).publicKey.rawRepresentation)
    }

    public static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] {
        do {
            let key = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
            var sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: Data(info))
            return [UInt8](sender.encapsulatedKey) + [UInt8](try sender.seal(plaintext))
        } catch {
            throw .invalidKey
        }
    }

    public static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] {
        guard sealed.count >= HybridSizes.overhead else { throw .authenticationFailed }
        let key = try privateKey(seed)
        do {
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: Data(info),
                encapsulatedKey: Data(sealed.prefix(HybridSizes.encapsulatedKey)))
            var plaintext = try recipient.open(sealed.dropFirst(HybridSizes.encapsulatedKey))
            // What a grant holds is a key; the caller wipes its own copy.
            defer { plaintext.resetBytes(in: plaintext.startIndex..<plaintext.endIndex) }
            return [UInt8](plaintext)
        } catch {
            throw .authenticationFailed
        }
    }

    private static func privateKey(_ seed: SecretBytes) throws(SealError) -> XWingMLKEM768X25519.PrivateKey {
        var bytes = seed.copyBytes()
        defer { wipe(&bytes) }
        do {
            return try XWingMLKEM768X25519.PrivateKey(seedRepresentation: bytes, publicKey: nil)
        } catch {
            throw .invalidKey
        }
    }
}
