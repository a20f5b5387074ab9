/// How values are spread, microseconds or bytes: counts in buckets, eight to an octave from 64 on, so that a
/// quantile is off by an eighth of itself at most. Two are added bucket by bucket.
package struct LogHistogram: Sendable, Equatable {
    /// The first bucket has everything below 2⁶, the last one everything from 2³⁶ on.
    private static let (firstExponent, octaves) = (6, 30)
    package static let bucketCount = 1 + octaves * 8

    private var counts: [UInt32]

    package init() { counts = Array(repeating: 0, count: Self.bucketCount) }

    package mutating func add(_ value: Int64) {
        let bucket = Self.bucket(of: value)
        counts[bucket] = counts[bucket] == .max ? .max : counts[bucket] + 1
    }

    package mutating func add(_ other: LogHistogram) {
        for (bucket, count) in other.counts.enumerated() where count > 0 {
            let (sum, isMore) = counts[bucket].addingReportingOverflow(count)
            counts[bucket] = isMore ? .max : sum
        }
    }

    package var total: UInt64 { counts.reduce(0) { $0 + UInt64($1) } }

    /// The value that so much of all is not above, within its bucket as if values lay evenly there; 0 where there is
    /// none.
    /// - Parameter share: from 0 to 1.
    package func quantile(_ share: Double) -> Int64 {
        let total = total
        guard total > 0 else { return 0 }
        let rank = max(1, (Double(total) * share).rounded(.up))
        var before = 0.0
        for (bucket, count) in counts.enumerated() where count > 0 {
            let after = before + Double(count)
            if after >= rank {
                let (low, high) = (Double(Self.lowest(of: bucket)), Double(Self.lowest(of: bucket + 1)))
                return Int64(low + (high - low) * (rank - before) / Double(count))
            }
            before = after
        }
        return Self.lowest(of: Self.bucketCount)
    }

    static func bucket(of value: Int64) -> Int {
        guard value >= 1 << firstExponent else { return 0 }
        let exponent = Int64.bitWidth - 1 - value.leadingZeroBitCount
        let eighth = Int(value >> Int64(exponent - 3)) & 7
        return min(1 + (exponent - firstExponent) * 8 + eighth, bucketCount - 1)
    }

    static func lowest(of bucket: Int) -> Int64 {
        guard bucket > 0 else { return 0 }
        let (octave, eighth) = (bucket - 1).quotientAndRemainder(dividingBy: 8)
        return Int64(8 + eighth) << Int64(firstExponent + octave - 3)
    }

    // MARK: On the disk

    /// Of each bucket that has something its number, a byte, and its count, little-endian in four.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (bucket, count) in counts.enumerated() where count > 0 {
            bytes.append(UInt8(bucket))
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        return bytes
    }

    /// Nil for bytes that are none.
    package init?(bytes: [UInt8]) {
        self.init()
        guard bytes.count % 5 == 0 else { return nil }
        for start in stride(from: 0, to: bytes.count, by: 5) {
            guard bytes[start] < Self.bucketCount else { return nil }
            counts[Int(bytes[start])] = (1...4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * ($1 - 1)) }
        }
    }
}
