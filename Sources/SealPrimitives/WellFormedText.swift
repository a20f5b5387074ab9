extension String {
    /// Well-formed UTF-8, or nothing: what is not is replaced by no other character.
    ///
    /// Nearly all that comes is ASCII, which is well-formed as it is: the standard library's own check looks up
    /// descriptions of types at each call. In a browser's module, where there are none, it is all there is.
    public init?(wellFormed bytes: ArraySlice<UInt8>) {
        #if !hasFeature(Embedded)
            let isASCII = unsafe bytes.withUnsafeBufferPointer { bytes in
                var bits: UInt8 = 0
                for index in 0..<bytes.count { unsafe bits |= bytes[index] }
                return bits < 0x80
            }
            if isASCII {
                self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
                return
            }
        #endif
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self = text
    }
}
