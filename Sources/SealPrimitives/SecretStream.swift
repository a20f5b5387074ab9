import CSodium

/// Messages in their order under one key (libsodium's `crypto_secretstream_xchacha20poly1305`): none can be altered,
/// left out, repeated or put elsewhere, and the last one says that it is.
public enum SecretStream {
    public static let keyBytes = 32
    public static let headerBytes = 24
    /// What sealing adds to a message.
    public static let overhead = 17
}

/// Seals the messages of one stream, under a key that seals no other.
public struct StreamSealer: ~Copyable {
    private var state = crypto_secretstream_xchacha20poly1305_state()
    /// What the opener begins with.
    public let header: [UInt8]

    public init(key: SecretBytes) throws(SealError) {
        guard key.count == SecretStream.keyBytes else { throw .invalidLength }
        var begun = crypto_secretstream_xchacha20poly1305_state()
        header = unsafe [UInt8].filled(count: SecretStream.headerBytes) { output in
            unsafe key.withPointer { key in
                _ = unsafe crypto_secretstream_xchacha20poly1305_init_push(&begun, output, key)
            }
        }
        state = begun
        unsafe sodium_memzero(&begun, MemoryLayout.size(ofValue: begun))
    }

    deinit {
        var state = state
        unsafe sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }

    public mutating func seal(_ plaintext: [UInt8], isLast: Bool, associatedData: [UInt8]) -> [UInt8] {
        let tag = isLast ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
        return unsafe [UInt8].filled(count: plaintext.count + SecretStream.overhead) { output in
            unsafe plaintext.withPointer { bytes in
                _ = unsafe crypto_secretstream_xchacha20poly1305_push(
                    &state, output, nil, bytes, UInt64(plaintext.count), associatedData, UInt64(associatedData.count),
                    tag)
            }
        }
    }
}

/// Opens the messages of one stream, in their order.
public struct StreamOpener: ~Copyable {
    private var state = crypto_secretstream_xchacha20poly1305_state()

    public init(key: SecretBytes, header: [UInt8]) throws(SealError) {
        guard key.count == SecretStream.keyBytes, header.count == SecretStream.headerBytes else {
            throw .authenticationFailed
        }
        var begun = crypto_secretstream_xchacha20poly1305_state()
        let code = unsafe key.withPointer { key in
            unsafe crypto_secretstream_xchacha20poly1305_init_pull(&begun, header, key)
        }
        state = begun
        unsafe sodium_memzero(&begun, MemoryLayout.size(ofValue: begun))
        guard code == 0 else { throw .authenticationFailed }
    }

    /// - Parameter isLast: whether nothing comes after it: a stream that was cut, or that goes on behind its end, does
    ///   not open.
    /// - Throws: `authenticationFailed`.
    public mutating func open(
        _ sealed: [UInt8], isLast: Bool, associatedData: [UInt8]
    ) throws(SealError) -> [UInt8] {
        guard sealed.count >= SecretStream.overhead else { throw .authenticationFailed }
        var (tag, code): (UInt8, Int32) = (0, -1)
        let plaintext = unsafe [UInt8].filled(count: sealed.count - SecretStream.overhead) { output in
            code = unsafe sealed.withPointer { bytes in
                unsafe crypto_secretstream_xchacha20poly1305_pull(
                    &state, output, nil, &tag, bytes, UInt64(sealed.count), associatedData,
                    UInt64(associatedData.count))
            }
        }
        guard code == 0, (tag == crypto_secretstream_xchacha20poly1305_tag_final()) == isLast else {
            throw .authenticationFailed
        }
        return plaintext
    }
}
