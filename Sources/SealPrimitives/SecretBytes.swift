import CSodium

/// Secret bytes: reachable only inside a closure, wiped when released, never printed.
///
/// One plain heap allocation. `sodium_malloc`'s guarded pages cost some twenty sealings, so keys of records never live
/// there.
@safe
public final class SecretBytes: @unchecked Sendable {
    // Unchecked: the bytes are written by the initialiser alone and only read afterwards.
    private let storage: UnsafeMutablePointer<UInt8>
    public let count: Int

    /// Filled by `body`, which sees `count` zeros.
    public init(count: Int, filling body: (UnsafeMutablePointer<UInt8>) -> Void) {
        self.count = count
        unsafe storage = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        unsafe storage.initialize(repeating: 0, count: count)
        unsafe body(storage)
    }

    public convenience init(copying bytes: some Collection<UInt8>) {
        let count = bytes.count
        unsafe self.init(count: count) { output in
            _ = unsafe UnsafeMutableBufferPointer(start: output, count: count).update(from: bytes)
        }
    }

    /// Takes the bytes over and wipes the source.
    public convenience init(taking bytes: inout [UInt8]) {
        self.init(copying: bytes)
        wipe(&bytes)
    }

    /// Several secrets, one after the other.
    public convenience init(joining parts: [SecretBytes]) {
        unsafe self.init(count: parts.reduce(0) { $0 + $1.count }) { output in
            var offset = 0
            for part in parts {
                unsafe part.withPointer { unsafe (output + offset).update(from: $0, count: part.count) }
                offset += part.count
            }
        }
    }

    public convenience init(random: inout some RandomSource, count: Int = 32) {
        unsafe self.init(count: count) { _ in }
        unsafe random.fill(UnsafeMutableRawBufferPointer(start: storage, count: count))
    }

    deinit {
        unsafe sodium_memzero(storage, count)
        unsafe storage.deallocate()
    }

    public func withPointer<R, E: Error>(_ body: (UnsafePointer<UInt8>) throws(E) -> R) throws(E) -> R {
        try unsafe body(storage)
    }

    /// Some of the bytes as a secret of its own; nil where there are not so many.
    public func part(_ range: Range<Int>) -> SecretBytes? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        return unsafe SecretBytes(count: range.count) { output in
            unsafe output.update(from: storage + range.lowerBound, count: range.count)
        }
    }

    /// A copy outside this type's care: only for handing a key to a file that its user asked for, or to a library that
    /// takes arrays. Wipe it afterwards, and do not append to it: an array that grows leaves its old bytes behind.
    public func copyBytes() -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: storage, count: count))
    }

    /// Constant-time comparison.
    public static func areEqual(_ left: SecretBytes, _ right: SecretBytes) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe sodium_memcmp(left.storage, right.storage, left.count) == 0
    }
}

extension SecretBytes: CustomStringConvertible {
    public var description: String { "SecretBytes" }
}

/// Overwrites bytes that held a secret for a moment. Nothing else may refer to the array: it would be copied first, and
/// the copy wiped.
public func wipe(_ bytes: inout [UInt8]) {
    let count = bytes.count
    let before = unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    unsafe bytes.withUnsafeMutableBytes { buffer in
        assert(UInt(bitPattern: buffer.baseAddress) == before, "a secret that is wiped has one owner")
        unsafe sodium_memzero(buffer.baseAddress, count)
    }
    bytes.removeAll()
}

/// Constant-time comparison of secrets that came as bytes (codes, tokens, hashes of them).
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe sodium_memcmp(left, right, left.count) == 0
}

extension [UInt8] {
    /// The bytes as a C function takes them: never null, also when empty.
    func withPointer<R>(_ body: (UnsafePointer<UInt8>) -> R) -> R { unsafe body(self) }

    /// `count` bytes written by a C function.
    static func filled(count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
        // Zeroing some bytes costs less than what the standard library does to leave them out.
        guard count > 4096 else {
            var bytes = [UInt8](repeating: 0, count: Swift.max(count, 1))
            unsafe body(&bytes)
            if count == 0 { bytes.removeAll() }
            return bytes
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            guard let base = output.baseAddress else { return }
            unsafe body(base)
            initialized = count
        }
    }
}
