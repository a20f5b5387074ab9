import SealPrimitives

/// That many bytes that nobody can guess.
package let systemRandomBytes: @Sendable (Int) -> [UInt8] = { count in
    var random = SystemRandom()
    return random.bytes(count)
}
