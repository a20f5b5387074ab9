/// One range of a `Range` header (RFC 9110, section 14).
enum ByteRange: Equatable {
    /// No range, or one that we may ignore: the whole blob.
    case all
    case part(Range<Int64>)
    case unsatisfiable

    init(_ header: String?, size: Int64) {
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else {
            self = .all
            return
        }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else {
            self = .all
            return
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<(min(last, size - 1) + 1)) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: self = .all
        }
    }
}
