import CSodium

/// libsodium itself, for what SealKit's own faces do not show: associated data of chunks, lengths, HKDF's two halves.
enum BareSodium {
    static let hmacBytes = 32

    static func x25519(_ scalar: [UInt8], _ point: [UInt8]) -> [UInt8]? {
        guard scalar.count == 32, point.count == 32 else { return nil }
        var product = [UInt8](repeating: 0, count: 32)
        return crypto_scalarmult(&product, scalar, point) == 0 ? product : nil
    }

    static func verifies(_ signature: [UInt8], over message: [UInt8], by key: [UInt8]) -> Bool {
        signature.count == 64 && key.count == 32
            && crypto_sign_verify_detached(signature, message, UInt64(message.count), key) == 0
    }

    static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var tag = [UInt8](repeating: 0, count: hmacBytes)
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        crypto_auth_hmacsha256_final(&state, &tag)
        return tag
    }

    /// RFC 5869, 2.2. libsodium has had HKDF since 1.0.19; from HMAC it runs on older ones too.
    static func hkdfExtract(salt: [UInt8], _ input: [UInt8]) -> [UInt8] { hmacSHA256(input, key: salt) }

    /// RFC 5869, 2.3. nil for more than 255 blocks.
    static func hkdfExpand(_ key: [UInt8], info: [UInt8], count: Int) -> [UInt8]? {
        let blocks = (count + hmacBytes - 1) / hmacBytes
        guard blocks <= 255 else { return nil }
        var output: [UInt8] = []
        var last: [UInt8] = []
        for number in 0..<blocks {
            last = hmacSHA256(last + info + [UInt8(number + 1)], key: key)
            output += last
        }
        return [UInt8](output.prefix(count))
    }

    /// BLAKE2b of any length, keyed where there is a key.
    static func blake2b(_ message: [UInt8], key: [UInt8] = [], count: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: count)
        let code = crypto_generichash(&output, count, message, UInt64(message.count), key, key.count)
        return code == 0 ? output : []
    }

    static func argon2id(_ password: [UInt8], salt: [UInt8], passes: UInt64, memoryBytes: Int, count: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: count)
        let code = crypto_pwhash(
            &output, UInt64(count), password.map { CChar(bitPattern: $0) }, UInt64(password.count), salt, passes,
            memoryBytes,
            crypto_pwhash_ALG_ARGON2ID13)
        return code == 0 ? output : []
    }

    /// The other way into the same Argon2: a hash in PHC's text form, which may have a short salt and several lanes.
    static func argon2idVerifies(_ text: String, _ password: String) -> Bool {
        crypto_pwhash_str_verify(text, password, UInt64(password.utf8.count)) == 0
    }
}

/// The two AEADs with everything that libsodium lets a caller choose. Sealed bytes are `ciphertext ‖ tag`.
enum BareAEAD {
    case chaCha20Poly1305, xChaCha20Poly1305

    var nonceBytes: Int { self == .chaCha20Poly1305 ? 12 : 24 }

    func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        guard key.count == 32, nonce.count == nonceBytes else { return nil }
        let encrypt =
            self == .chaCha20Poly1305
            ? crypto_aead_chacha20poly1305_ietf_encrypt : crypto_aead_xchacha20poly1305_ietf_encrypt
        var sealed = [UInt8](repeating: 0, count: plaintext.count + 16)
        let code = encrypt(
            &sealed, nil, plaintext, UInt64(plaintext.count), associatedData, UInt64(associatedData.count), nil, nonce,
            key)
        return code == 0 ? sealed : nil
    }

    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        guard key.count == 32, nonce.count == nonceBytes, sealed.count >= 16 else { return nil }
        let decrypt =
            self == .chaCha20Poly1305
            ? crypto_aead_chacha20poly1305_ietf_decrypt : crypto_aead_xchacha20poly1305_ietf_decrypt
        var plaintext = [UInt8](repeating: 0, count: sealed.count - 16)
        let code = decrypt(
            &plaintext, nil, nil, sealed, UInt64(sealed.count), associatedData, UInt64(associatedData.count), nonce, key
        )
        return code == 0 ? plaintext : nil
    }
}
