import CSodium

/// SipHash-2-4 under a key of its own (libsodium's `crypto_shorthash`): of what somebody else chooses, and is to be
/// found again in one run of a program. It is no digest: nothing is signed by it, and nothing keeps it.
public struct ShortHash: Sendable {
    private let key: (UInt64, UInt64)

    public init(random: inout some RandomSource) {
        var key: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &key) { unsafe random.fill($0) }
        self.key = key
    }

    public func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        unsafe withUnsafeBytes(of: key) { key in
            var output: UInt64 = 0
            unsafe withUnsafeMutableBytes(of: &output) { output in
                guard let output = output.baseAddress, let key = key.baseAddress else { return }
                _ = unsafe crypto_shorthash(output, bytes.baseAddress, UInt64(bytes.count), key)
            }
            return output
        }
    }

    public func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { unsafe hash(UnsafeRawBufferPointer($0)) }
    }
}
