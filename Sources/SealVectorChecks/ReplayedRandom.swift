import SealPrimitives

/// Hands out a vector's random bytes in their order; zeros when they run out, which no expected output survives.
package struct ReplayedRandom: RandomSource {
    private var left: [UInt8]

    package init(_ bytes: [UInt8]) { left = bytes.reversed() }

    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { unsafe buffer[index] = left.popLast() ?? 0 }
    }
}
