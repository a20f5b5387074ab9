import SealPrimitives

/// One level of a tree over hashes.
enum MerkleLevel {
    /// The level above: each two nodes' own, and a node without a sibling unchanged.
    static func above(_ level: [Digest], _ node: (_ left: Digest, _ right: Digest) -> Digest) -> [Digest] {
        var next: [Digest] = []
        next.reserveCapacity((level.count + 1) / 2)
        for index in stride(from: 0, to: level.count, by: 2) {
            next.append(index + 1 < level.count ? node(level[index], level[index + 1]) : level[index])
        }
        return next
    }
}
