/// PASETO's pre-authentication encoding: LE64 of the number of pieces, then each piece behind its LE64 length.
/// Two different lists of pieces never encode to the same bytes.
///
/// Source: PASETO specification, "Authentication Padding".
public struct PAE: Sendable {
    public private(set) var bytes: [UInt8]
    private var remaining: Int

    /// - Parameters:
    ///   - label: the first piece.
    ///   - pieces: how many pieces follow the label.
    ///   - capacity: an estimate of the whole length, to allocate once.
    public init(_ label: Label, pieces: Int, capacity: Int = 256) {
        remaining = pieces
        bytes = []
        bytes.reserveCapacity(capacity)
        label.text.withUTF8Buffer { text in
            var head = (UInt64(pieces + 1).littleEndian, UInt64(text.count).littleEndian)
            unsafe withUnsafeBytes(of: &head) { unsafe bytes.append(contentsOf: $0) }
            unsafe bytes.append(contentsOf: text)
        }
    }

    /// Without a label: only PASETO itself, whose first piece is its own header, uses this.
    public init(pieces: Int, capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
        remaining = pieces
        bytes.appendLittleEndian(UInt64(pieces))
    }

    public mutating func add(_ piece: [UInt8]) {
        bytes.appendLittleEndian(UInt64(piece.count))
        bytes.append(contentsOf: piece)
        remaining -= 1
    }

    public mutating func add(_ piece: ArraySlice<UInt8>) {
        bytes.appendLittleEndian(UInt64(piece.count))
        bytes.append(contentsOf: piece)
        remaining -= 1
    }

    public mutating func add(_ piece: String) {
        bytes.appendLittleEndian(UInt64(piece.utf8.count))
        bytes.append(contentsOf: piece.utf8)
        remaining -= 1
    }

    public mutating func add(_ piece: Digest) {
        // Length and bytes at once: what is appended in one piece costs half.
        var words = (UInt64(32).littleEndian, piece)
        unsafe withUnsafeBytes(of: &words) { unsafe bytes.append(contentsOf: $0) }
        remaining -= 1
    }

    public mutating func add(_ piece: ID16) {
        var words = (UInt64(16).littleEndian, piece)
        unsafe withUnsafeBytes(of: &words) { unsafe bytes.append(contentsOf: $0) }
        remaining -= 1
    }

    /// A fixed-width number, little-endian.
    @inlinable
    public mutating func add<N: FixedWidthInteger>(_ number: N) {
        add(word: UInt64(truncatingIfNeeded: number), count: N.bitWidth / 8)
    }

    @usableFromInline
    mutating func add(word: UInt64, count: Int) {
        var words = (UInt64(count).littleEndian, word.littleEndian)
        unsafe withUnsafeBytes(of: &words) { words in
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: words[..<(8 + count)]))
        }
        remaining -= 1
    }

    /// The length of the last piece, whose bytes follow from elsewhere: large ones without a copy, and keys, which must
    /// not be left behind in an array.
    public mutating func announce(_ count: Int) {
        bytes.appendLittleEndian(UInt64(count))
        remaining -= 1
    }

    /// The finished encoding. That the promised number of pieces came is a property of the calling code, not of input.
    public consuming func finish() -> [UInt8] {
        precondition(remaining == 0, "a PAE must hold as many pieces as it announces")
        return bytes
    }
}

#if hasFeature(Embedded)
    /// What adds the pieces of a PAE whose length is known.
    public typealias PAECursor = PAE
#else
    /// Writes the pieces of a PAE whose length is known to where it is hashed: each field of each record goes this way,
    /// without an array of its own.
    @safe public struct PAECursor: ~Copyable {
        private let target: UnsafeMutableRawBufferPointer
        private var offset = 0
        private var remaining: Int

        /// - Parameter count: bytes of all pieces after the label together.
        static func length(of label: Label, pieces: Int, count: Int) -> Int {
            8 * (pieces + 2) + label.text.utf8CodeUnitCount + count
        }

        init(_ label: Label, pieces: Int, in target: UnsafeMutableRawBufferPointer) {
            unsafe self.target = target
            remaining = pieces
            label.text.withUTF8Buffer { text in
                store(UInt64(pieces + 1))
                store(UInt64(text.count))
                unsafe copy(UnsafeRawBufferPointer(text))
            }
        }

        public mutating func add(_ piece: ArraySlice<UInt8>) {
            unsafe piece.withUnsafeBytes { unsafe add($0) }
        }

        public mutating func add(_ piece: String) {
            var piece = piece
            piece.withUTF8 { unsafe add(UnsafeRawBufferPointer($0)) }
        }

        public mutating func add(_ piece: Digest) {
            unsafe withUnsafeBytes(of: piece) { unsafe add($0) }
        }

        public mutating func add(_ piece: UInt8) {
            unsafe withUnsafeBytes(of: piece) { unsafe add($0) }
        }

        private mutating func add(_ piece: UnsafeRawBufferPointer) {
            store(UInt64(piece.count))
            unsafe copy(piece)
            remaining -= 1
        }

        private mutating func store(_ word: UInt64) {
            let offset = advance(by: 8)
            unsafe target.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
        }

        private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
            let offset = advance(by: bytes.count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + bytes.count]).copyMemory(
                from: bytes)
        }

        /// Where the next bytes go. What has no room is a mistake of the calling code, and is never written: a release
        /// build checks nothing of that by itself.
        private mutating func advance(by count: Int) -> Int {
            precondition(unsafe count <= target.count - offset, "a PAE must hold what it announces")
            defer { offset += count }
            return offset
        }

        /// That what was announced came is a property of the calling code, not of input.
        consuming func finish() {
            precondition(unsafe remaining == 0 && offset == target.count, "a PAE must hold what it announces")
        }
    }
#endif

extension [UInt8] {
    @inlinable
    public mutating func appendLittleEndian<N: FixedWidthInteger>(_ number: N) {
        var value = number.littleEndian
        unsafe Swift.withUnsafeBytes(of: &value) { unsafe append(contentsOf: $0) }
    }
}
