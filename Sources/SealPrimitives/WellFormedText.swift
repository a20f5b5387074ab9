extension String {
    /// Well-formed UTF-8, or nothing: what is not is replaced by no other character.
    ///
    /// Nearly all that comes is ASCII, which is well-formed as it is: the standard library's own check looks up
    /// descriptions of types at each call.
    public init?(wellFormed bytes: ArraySlice<UInt8>) {
        let text = unsafe bytes.withUnsafeBufferPointer { bytes -> String? in
            var bits: UInt8 = 0
            for index in 0..<bytes.count { unsafe bits |= bytes[index] }
            return bits < 0x80 ? unsafe String(decoding: bytes, as: UTF8.self) : nil
        }
        if let text {
            self = text
        } else if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            return nil
        }
    }
}
