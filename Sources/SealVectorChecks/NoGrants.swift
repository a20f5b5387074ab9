import SealEnvelope
package import SealPrimitives

/// For keys of which the grant key is not needed.
package enum NoGrants: HybridEncryption {
    package static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8] { [] }
    package static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] {
        throw .invalidKey
    }
    package static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] {
        throw .authenticationFailed
    }
}
