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
    public static func decode(_ text: some StringProtocol) throws(SealError) -> [UInt8] {
        var out: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
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
        guard high == nil else { throw .malformed }
        return out
    }
}

/// Base64url without padding (RFC 4648 section 5), by libsodium: constant time, so that secrets may pass; strict, so
/// that there is one valid spelling.
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String {
        let variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING
        let capacity = sodium_base64_encoded_len(bytes.count, variant)
        var out = [CChar](repeating: 0, count: capacity)
        unsafe sodium_bin2base64(&out, capacity, bytes, bytes.count, variant)
        defer { unsafe out.withUnsafeMutableBytes { unsafe sodium_memzero($0.baseAddress, capacity) } }
        return String(decoding: out.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public static func decode(_ text: some StringProtocol) throws(SealError) -> [UInt8] {
        let input = text.utf8.map { CChar(bitPattern: $0) }
        var out = [UInt8](repeating: 0, count: input.count / 4 * 3 + 3)
        var count = 0
        let code = unsafe sodium_base642bin(
            &out, out.count, input, input.count, nil, &count, nil, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        guard code == 0 else { throw .malformed }
        // Without an end pointer libsodium refuses trailing bytes; the spelling is compared all the same.
        out.removeLast(out.count - count)
        guard encode(out).utf8.elementsEqual(text.utf8) else { throw .malformed }
        return out
    }
}
