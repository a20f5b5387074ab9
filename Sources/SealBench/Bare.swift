import CSodium

/// The limit: libsodium's own calls on buffers that are there already, with nothing around them.
enum Bare {
    /// Bytes of a PAE with these pieces, the label's length first.
    static func pae(_ pieces: Int...) -> Int { 8 + pieces.reduce(0) { $0 + 8 + $1 } }

    /// BLAKE2b-256 over that many bytes.
    struct Hash {
        let input: [UInt8]
        init(_ count: Int) { input = [UInt8](repeating: 7, count: count) }

        @inline(__always) func run(into output: UnsafeMutablePointer<UInt8>) {
            crypto_generichash(output, 32, input, UInt64(input.count), nil, 0)
        }
    }

    /// XChaCha20-Poly1305 of that many bytes with so much associated data.
    final class Cipher {
        private let key = [UInt8](repeating: 1, count: 32)
        private let nonce = [UInt8](repeating: 2, count: 24)
        private let data: [UInt8]
        private var plaintext: [UInt8]
        private var sealed: [UInt8]

        init(_ count: Int, data: Int) {
            self.data = [UInt8](repeating: 4, count: data)
            plaintext = [UInt8](repeating: 3, count: count)
            sealed = [UInt8](repeating: 0, count: count + 16)
            seal()
        }

        @inline(__always) func seal() {
            crypto_aead_xchacha20poly1305_ietf_encrypt(
                &sealed, nil, plaintext, UInt64(plaintext.count), data, UInt64(data.count), nil, nonce, key)
        }

        @inline(__always) func open() {
            _ = crypto_aead_xchacha20poly1305_ietf_decrypt(
                &plaintext, nil, nil, sealed, UInt64(sealed.count), data, UInt64(data.count), nonce, key)
        }
    }

    /// Ed25519 over that many bytes.
    final class Signer {
        private var publicKey = [UInt8](repeating: 0, count: 32)
        private var secretKey = [UInt8](repeating: 0, count: 64)
        private var signature = [UInt8](repeating: 0, count: 64)
        private let message: [UInt8]

        init(_ count: Int) {
            message = [UInt8](repeating: 6, count: count)
            crypto_sign_keypair(&publicKey, &secretKey)
            sign()
        }

        @inline(__always) func sign() {
            crypto_sign_detached(&signature, nil, message, UInt64(message.count), secretKey)
        }
        @inline(__always) func verify() {
            _ = crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey)
        }
    }
}
