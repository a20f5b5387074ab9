import CSodium

/// XChaCha20-Poly1305-IETF (draft-irtf-cfrg-xchacha-03): sealed bytes are `nonce ‖ ciphertext ‖ tag`.
public enum AEAD {
    public static let keyBytes = 32
    public static let nonceBytes = 24
    public static let tagBytes = 16
    /// What sealing adds to a plaintext.
    public static let overhead = nonceBytes + tagBytes

    /// Seals one plaintext under a random nonce.
    public static func seal(
        _ plaintext: [UInt8], under key: SecretBytes, associatedData: [UInt8], random: inout some RandomSource
    ) -> [UInt8] {
        var draw = NonceDraw(random: &random)
        return SealingKey(key, draw: draw).seal(plaintext, associatedData: associatedData, draw: &draw)
    }

    public static func seal(
        _ secret: SecretBytes, under key: SecretBytes, associatedData: [UInt8], random: inout some RandomSource
    ) -> [UInt8] {
        var draw = NonceDraw(random: &random)
        return SealingKey(key, draw: draw).seal(secret, associatedData: associatedData, draw: &draw)
    }

    /// - Throws: `authenticationFailed`, for any of wrong key, wrong associated data, altered or short bytes.
    public static func open(
        _ sealed: [UInt8], under key: SecretBytes, associatedData: [UInt8]
    ) throws(SealError) -> [UInt8] {
        guard sealed.count >= overhead, key.count == keyBytes else { throw .authenticationFailed }
        var isGood = false
        let plaintext = unsafe [UInt8].filled(count: sealed.count - overhead) { output in
            isGood = unsafe decrypt(sealed, under: key, associatedData: associatedData, into: output)
        }
        guard isGood else { throw .authenticationFailed }
        return plaintext
    }

    /// Opens a sealed key straight into secret memory.
    public static func openSecret(
        _ sealed: [UInt8], under key: SecretBytes, associatedData: [UInt8]
    ) throws(SealError) -> SecretBytes {
        guard sealed.count >= overhead, key.count == keyBytes else { throw .authenticationFailed }
        var isGood = false
        let secret = unsafe SecretBytes(count: sealed.count - overhead) { output in
            isGood = unsafe decrypt(sealed, under: key, associatedData: associatedData, into: output)
        }
        guard isGood else { throw .authenticationFailed }
        return secret
    }

    /// Lengths are checked; `output` has room for the plaintext, and holds zeros where this gives false.
    private static func decrypt(
        _ sealed: [UInt8], under key: SecretBytes, associatedData: [UInt8], into output: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        unsafe sealed.withPointer { bytes in
            unsafe key.withPointer { key in
                unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                    output, nil, nil, bytes + nonceBytes, UInt64(sealed.count - nonceBytes), associatedData,
                    UInt64(associatedData.count), bytes, key) == 0
            }
        }
    }
}

/// The nonces of one sealing call: 16 random bytes drawn once, then LE64 of a counter over every seal in that call.
///
/// A draw lives inside one call. It is never copied, stored or resumed: a retry sends the same bytes or draws again. So
/// a client that is restored from an old backup cannot repeat a nonce.
public struct NonceDraw: ~Copyable, Sendable {
    let prefix: ID16
    private var counter: UInt64 = 0

    public init(random: inout some RandomSource) {
        prefix = ID16(random: &random)
    }

    mutating func next() -> UInt64 {
        defer { counter += 1 }
        return counter
    }
}

/// A key prepared for a draw: HChaCha20 of key and prefix, done once for all seals under them. What it seals is plain
/// XChaCha20-Poly1305 and opens as such.
public struct SealingKey: ~Copyable {
    private let subkey: SecretBytes
    private let prefix: ID16

    public init(_ key: SecretBytes, draw: borrowing NonceDraw) {
        precondition(key.count == AEAD.keyBytes, "keys have 32 bytes")
        let prefixBytes = draw.prefix.bytes
        prefix = draw.prefix
        subkey = unsafe SecretBytes(count: 32) { output in
            // Only the lengths could be wrong, and they are fixed.
            unsafe key.withPointer { _ = unsafe crypto_core_hchacha20(output, prefixBytes, $0, nil) }
        }
    }

    public func seal(_ plaintext: [UInt8], associatedData: [UInt8], draw: inout NonceDraw) -> [UInt8] {
        unsafe plaintext.withPointer { bytes in
            unsafe seal(bytes, count: plaintext.count, associatedData: associatedData, draw: &draw)
        }
    }

    /// Seals a key without a copy of it.
    public func seal(_ secret: SecretBytes, associatedData: [UInt8], draw: inout NonceDraw) -> [UInt8] {
        unsafe secret.withPointer { bytes in
            unsafe seal(bytes, count: secret.count, associatedData: associatedData, draw: &draw)
        }
    }

    private func seal(
        _ plaintext: UnsafePointer<UInt8>, count: Int, associatedData: [UInt8], draw: inout NonceDraw
    ) -> [UInt8] {
        precondition(draw.prefix == prefix, "a key prepared for one draw seals under that draw alone")
        let counter = draw.next().littleEndian
        return unsafe [UInt8].filled(count: count + AEAD.overhead) { output in
            let nonce = (UInt32(0), UInt32(truncatingIfNeeded: counter), UInt32(truncatingIfNeeded: counter >> 32))
            let written = (prefix, counter)
            unsafe withUnsafeBytes(of: written) { written in
                guard let written = written.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(output).copyMemory(from: written, byteCount: AEAD.nonceBytes)
            }
            unsafe withUnsafeBytes(of: nonce) { nonce in
                guard let nonce = nonce.baseAddress else { return }
                unsafe subkey.withPointer { key in
                    _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                        output + AEAD.nonceBytes, nil, plaintext, UInt64(count), associatedData,
                        UInt64(associatedData.count), nil, nonce.assumingMemoryBound(to: UInt8.self), key)
                }
            }
        }
    }
}

/// ChaCha20-Poly1305-IETF (RFC 8439) with a nonce that its caller counts: asset chunks only, in place.
public enum ChunkAEAD {
    public static let tagBytes = 16
    public static let nonceBytes = 12

    /// Seals `plaintext` into `output`, which has room for the plaintext and a 16-byte tag.
    public static func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, nonce: [UInt8],
        under key: SecretBytes
    ) throws(SealError) {
        guard output.count == plaintext.count + tagBytes, nonce.count == nonceBytes, let source = plaintext.baseAddress,
            let target = output.baseAddress
        else { throw .invalidLength }
        unsafe key.withPointer { key in
            _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                target.assumingMemoryBound(to: UInt8.self), nil, source.assumingMemoryBound(to: UInt8.self),
                UInt64(plaintext.count), nil, 0, nil, nonce, key)
        }
    }

    /// - Throws: `authenticationFailed`; `output` then holds nothing of the plaintext.
    public static func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, nonce: [UInt8],
        under key: SecretBytes
    ) throws(SealError) {
        guard sealed.count >= tagBytes, output.count == sealed.count - tagBytes, nonce.count == nonceBytes,
            let source = sealed.baseAddress, let target = output.baseAddress
        else { throw .authenticationFailed }
        let code = unsafe key.withPointer { key in
            unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                target.assumingMemoryBound(to: UInt8.self), nil, nil, source.assumingMemoryBound(to: UInt8.self),
                UInt64(sealed.count), nil, 0, nonce, key)
        }
        guard code == 0 else { throw .authenticationFailed }
    }
}
