public import SealPrimitives

/// The Merkle tree over the statements of one save: the author signs its root and leaf count once, and each record
/// travels with its own path.
///
/// A node without a sibling rises unchanged, so a path has only the siblings that exist. The leaf count is signed with
/// the root, so a path's shape is known and has one valid form.
public struct StatementTree: Sendable {
    private let levels: [[Digest]]

    /// - Throws: `invalidLength` for no leaf, or more than a request may carry.
    public init(leaves: [Digest]) throws(SealError) {
        try self.init(leaves: leaves, atMost: Limits.itemsPerRequest)
    }

    /// - Throws: `invalidLength` for no leaf, or more than the limit.
    init(leaves: [Digest], atMost limit: Int) throws(SealError) {
        guard !leaves.isEmpty, leaves.count <= limit else { throw .invalidLength }
        var levels = [leaves]
        while let level = levels.last, level.count > 1 { levels.append(MerkleLevel.above(level, StatementTree.node)) }
        self.levels = levels
    }

    public var leafCount: Int { levels[0].count }
    public var root: Digest { levels[levels.count - 1][0] }

    /// The siblings from the leaf up.
    public func path(to index: Int) -> [Digest] {
        var path: [Digest] = []
        var index = index
        for level in levels.dropLast() {
            let sibling = index ^ 1
            if sibling < level.count { path.append(level[sibling]) }
            index /= 2
        }
        return path
    }

    static func node(_ left: Digest, _ right: Digest) -> Digest { Hash.digest(.statementNode, left, right) }

    /// The root that a path leads to from the leaf at `index` of `count`.
    /// - Throws: `invalidProof` unless the path has exactly the siblings that such a tree has.
    static func root(
        from leaf: Digest, at index: Int, of count: Int, by path: [Digest], atMost limit: Int
    ) throws(SealError) -> Digest {
        guard count > 0, count <= limit, index >= 0, index < count else { throw .invalidProof }
        var node = leaf
        var position = index
        var width = count
        var used = 0
        while width > 1 {
            if position ^ 1 < width {
                guard used < path.count else { throw .invalidProof }
                node = position & 1 == 0 ? StatementTree.node(node, path[used]) : StatementTree.node(path[used], node)
                used += 1
            }
            position /= 2
            width = (width + 1) / 2
        }
        guard used == path.count else { throw .invalidProof }
        return node
    }

    /// The bytes that the author signs.
    public static func signedBytes(root: Digest, leafCount: Int) -> PAE {
        var pae = PAE(.statements, pieces: 2, capacity: 96)
        pae.add(root)
        pae.add(UInt32(leafCount))
        return pae
    }
}

/// The way from one statement to its author's signature.
public struct StatementProof: Sendable, Hashable {
    public let signature: [UInt8]
    public let leafCount: Int
    public let index: Int
    public let path: [Digest]

    public init(signature: [UInt8], leafCount: Int, index: Int, path: [Digest]) {
        self.signature = signature
        self.leafCount = leafCount
        self.index = index
        self.path = path
    }

    /// The root that the path leads to.
    /// - Throws: `invalidProof` unless the path has exactly the siblings that such a tree has.
    public func root(from leaf: Digest) throws(SealError) -> Digest {
        try StatementTree.root(from: leaf, at: index, of: leafCount, by: path, atMost: Limits.itemsPerRequest)
    }
}
