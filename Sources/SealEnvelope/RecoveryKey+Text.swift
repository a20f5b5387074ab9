public import SealPrimitives

// The printed form. Which characters a key has is computed without a table and without a branch that depends on them,
// and every intermediate is secret memory; the text itself is a `String`, which nobody can wipe.

extension RecoveryKey {
    private static let groups = 13
    private static let dataSymbols = 4
    private static let groupSymbols = 5
    private static let hyphen: UInt8 = 0x2D

    /// The text to print. It is the secret itself: show it once, keep it nowhere.
    public func text() -> String {
        let width = RecoveryKey.groupSymbols + 1
        let length = RecoveryKey.groups * width - 1
        return unsafe bytes.withPointer { key in
            unsafe String(unsafeUninitializedCapacity: length) { text in
                for group in 0..<RecoveryKey.groups {
                    if group > 0 { unsafe text[group * width - 1] = RecoveryKey.hyphen }
                    var check = UInt8(group)
                    for place in 0..<RecoveryKey.dataSymbols {
                        let symbol = unsafe RecoveryKey.symbol(group * RecoveryKey.dataSymbols + place, of: key)
                        check ^= RecoveryKey.weighted(symbol, place: place)
                        unsafe text[group * width + place] = RecoveryKey.character(of: symbol)
                    }
                    unsafe text[group * width + RecoveryKey.dataSymbols] = RecoveryKey.character(of: check)
                }
                return length
            }
        }
    }

    /// Reads a typed key; case, spaces and hyphens do not matter, and O, I and L are read as 0 and 1.
    /// - Throws: `mistypedRecoveryKey`; `mistypedGroups(in:)` tells which groups to look at.
    public init(text: String) throws(SealError) {
        guard let symbols = RecoveryKey.symbols(text), RecoveryKey.mistyped(symbols).isEmpty else {
            throw .mistypedRecoveryKey
        }
        let key = unsafe SecretBytes(count: 32) { output in
            unsafe symbols.withPointer { symbols in
                var rest: UInt32 = 0
                var bits = 0
                var written = 0
                for index in 0..<RecoveryKey.groups * RecoveryKey.groupSymbols
                where index % RecoveryKey.groupSymbols < RecoveryKey.dataSymbols {
                    rest = unsafe (rest << 5 | UInt32(symbols[index])) & 0xFFFF
                    bits += 5
                    guard bits >= 8, written < 32 else { continue }
                    bits -= 8
                    unsafe output[written] = UInt8(truncatingIfNeeded: rest >> UInt32(bits))
                    written += 1
                }
            }
        }
        try self.init(key)
    }

    /// The groups (from 1) whose check character does not fit; nil when there are not 13 groups of valid characters.
    public static func mistypedGroups(in text: String) -> [Int]? {
        symbols(text).map { mistyped($0).map { $0 + 1 } }
    }

    /// Whether one group's check character does not fit, or it is no group at all.
    /// - Parameter number: its place in the key, from 1.
    public static func isMistyped(group text: String, at number: Int) -> Bool {
        guard (1...groups).contains(number), let symbols = symbols(text, count: groupSymbols) else { return true }
        return unsafe symbols.withPointer { unsafe isMistyped($0, at: number - 1) }
    }

    private static func mistyped(_ symbols: SecretBytes) -> [Int] {
        unsafe symbols.withPointer { symbols in
            (0..<groups).filter { unsafe isMistyped(symbols + $0 * groupSymbols, at: $0) }
        }
    }

    private static func isMistyped(_ symbols: UnsafePointer<UInt8>, at group: Int) -> Bool {
        var difference = UInt8(group)
        for place in 0..<dataSymbols { difference ^= unsafe weighted(symbols[place], place: place) }
        difference ^= unsafe symbols[dataSymbols]
        // The last group has four bits more than the key, which are zero.
        let spare = group == groups - 1 ? unsafe symbols[dataSymbols - 1] & 0xF : 0
        return difference | spare != 0
    }

    /// One symbol a byte; nil unless there are exactly as many as expected: those of a key. What is told apart by
    /// branches is only what is a symbol, a separator or neither.
    private static func symbols(_ text: String, count expected: Int = groups * groupSymbols) -> SecretBytes? {
        var count = 0
        let symbols = unsafe SecretBytes(count: expected) { output in
            for byte in text.utf8 {
                let (symbol, isSymbol) = value(of: byte)
                if isSymbol {
                    if count < expected { unsafe output[count] = symbol }
                    count += 1
                } else if ![0x20, hyphen, 0x0A, 0x0D, 0x09].contains(byte) {
                    count = expected + 1
                }
                if count > expected { return }
            }
        }
        return count == expected ? symbols : nil
    }

    // MARK: Arithmetic in place of tables

    /// Five bits of the key, big-endian; bits past its end are zero.
    private static func symbol(_ index: Int, of key: UnsafePointer<UInt8>) -> UInt8 {
        let (byte, bit) = (index * 5 / 8, index * 5 % 8)
        let pair = unsafe UInt16(key[byte]) << 8 | (byte < 31 ? UInt16(key[byte + 1]) : 0)
        return UInt8(truncatingIfNeeded: pair >> UInt16(11 - bit)) & 31
    }

    /// αᵖˡᵃᶜᵉ⁺¹·symbol in GF(32) = GF(2)[x]/(x⁵ + x² + 1), α = x.
    private static func weighted(_ symbol: UInt8, place: Int) -> UInt8 {
        var value = symbol
        for _ in 0...place {
            value <<= 1
            value ^= (value >> 5) &* 0b100101
        }
        return value
    }

    /// 1 where `value` is above the limit, else 0.
    private static func isAbove(_ value: UInt8, _ limit: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (limit &- UInt16(value)) >> 15)
    }

    /// Crockford's alphabet: digits, then letters without I, L, O and U.
    private static func character(of symbol: UInt8) -> UInt8 {
        0x30 + symbol + 7 * isAbove(symbol, 9) + isAbove(symbol, 17) + isAbove(symbol, 19) + isAbove(symbol, 21)
            + isAbove(symbol, 26)
    }

    private static func value(of typed: UInt8) -> (symbol: UInt8, isSymbol: Bool) {
        /// All ones between two characters, else zero.
        func mask(_ byte: UInt8, _ first: UInt16, _ last: UInt16) -> UInt8 {
            0 &- (isAbove(byte, first - 1) & (1 ^ isAbove(byte, last)))
        }
        let byte = typed &- (mask(typed, 0x61, 0x7A) & 0x20)
        var symbol: UInt8 = 0
        var known: UInt8 = 0
        func spans(_ first: UInt16, _ last: UInt16, less offset: UInt8) {
            let here = mask(byte, first, last)
            symbol |= (byte &- offset) & here
            known |= here
        }
        spans(0x30, 0x39, less: 0x30)  // 0 to 9
        spans(0x41, 0x48, less: 0x37)  // A to H
        spans(0x49, 0x49, less: 0x48)  // I is 1
        spans(0x4A, 0x4B, less: 0x38)  // J, K
        spans(0x4C, 0x4C, less: 0x4B)  // L is 1
        spans(0x4D, 0x4E, less: 0x39)  // M, N
        spans(0x4F, 0x4F, less: 0x4F)  // O is 0
        spans(0x50, 0x54, less: 0x3A)  // P to T
        spans(0x56, 0x5A, less: 0x3B)  // V to Z
        return (symbol, known != 0)
    }
}
