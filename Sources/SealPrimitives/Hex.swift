import CSodium

/// Lower-case hexadecimal, for public values.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = [UInt8]("0123456789abcdef".utf8)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Lower case only: one valid spelling.
    ///
    /// Inlined as far as the text's bytes, so that no caller pays for the generic.
    @inlinable
    public static func decode(_ text: some StringProtocol) throws(SealError) -> [UInt8] {
        try decode(utf8: [UInt8](text.utf8)[...])
    }

    public static func decode(utf8 text: ArraySlice<UInt8>) throws(SealError) -> [UInt8] {
        guard text.count.isMultiple(of: 2) else { throw .malformed }
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            let nibble: UInt8
            switch character {
            case 0x30...0x39: nibble = character - 0x30
            case 0x61...0x66: nibble = character - 0x61 + 10
            default: throw .malformed
            }
            if let first = high {
                out.append(first << 4 | nibble)
                high = nil
            } else {
                high = nibble
            }
        }
        return out
    }
}

/// Base64url without padding (RFC 4648 section 5), by libsodium: constant time, so that secrets may pass; strict, so
/// that there is one valid spelling.
public enum Base64URL {
    private static let variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING

    public static func encode(_ bytes: [UInt8]) -> String {
        unsafe bytes.withPointer { unsafe encode($0, count: bytes.count) }
    }

    /// The text is the secret itself; no other copy of it stays behind.
    public static func encode(_ secret: SecretBytes) -> String {
        unsafe secret.withPointer { unsafe encode($0, count: secret.count) }
    }

    private static func encode(_ bytes: UnsafePointer<UInt8>, count: Int) -> String {
        // With the zero that ends a C string.
        let capacity = sodium_base64_encoded_len(count, variant)
        return unsafe String(unsafeUninitializedCapacity: capacity) { buffer in
            guard let output = buffer.baseAddress else { return 0 }
            unsafe output.withMemoryRebound(to: CChar.self, capacity: capacity) { output in
                _ = unsafe sodium_bin2base64(output, capacity, bytes, count, variant)
            }
            return capacity - 1
        }
    }

    /// Decodes a secret: its bytes are nowhere but in the result.
    public static func decodeSecret(_ text: some StringProtocol) throws(SealError) -> SecretBytes {
        let input = SecretBytes(copying: text.utf8)
        var count = 0
        let whole = unsafe SecretBytes(count: input.count / 4 * 3 + 3) { output in
            let code = unsafe input.withPointer { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self, capacity: input.count) { characters in
                    unsafe sodium_base642bin(
                        output, input.count / 4 * 3 + 3, characters, input.count, nil, &count, nil, variant)
                }
            }
            if code != 0 { count = -1 }
        }
        guard count >= 0, let secret = whole.part(0..<count) else { throw .malformed }
        guard SecretBytes.areEqual(SecretBytes(copying: encode(secret).utf8), input) else { throw .malformed }
        return secret
    }

    @inlinable
    public static func decode(_ text: some StringProtocol) throws(SealError) -> [UInt8] {
        try decode(utf8: [UInt8](text.utf8))
    }

    @usableFromInline
    static func decode(utf8 text: [UInt8]) throws(SealError) -> [UInt8] {
        let input = text.map { CChar(bitPattern: $0) }
        var out = [UInt8](repeating: 0, count: input.count / 4 * 3 + 3)
        var count = 0
        let code = unsafe sodium_base642bin(
            &out, out.count, input, input.count, nil, &count, nil, variant)
        guard code == 0 else { throw .malformed }
        // Without an end pointer libsodium refuses what follows, as it does bits that belong to no byte: so there is
        // one
        // spelling.
        out.removeLast(out.count - count)
        return out
    }
}
