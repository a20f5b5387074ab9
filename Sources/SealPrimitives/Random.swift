import CSodium

/// Where sealing functions take their randomness from: injected, so that vectors are exact.
public protocol RandomSource {
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

extension RandomSource {
    public mutating func bytes(_ count: Int) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count)
        unsafe out.withUnsafeMutableBytes { unsafe fill($0) }
        return out
    }
}

/// libsodium's generator, the one for production.
public struct SystemRandom: RandomSource, Sendable {
    public init() { Sodium.start() }

    public mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        unsafe randombytes_buf(base, buffer.count)
    }
}

public enum Sodium {
    private static let isStarted = sodium_init() >= 0

    /// Lets libsodium choose the fastest code for this processor. Everything works without it, more slowly.
    public static func start() { _ = isStarted }
}
