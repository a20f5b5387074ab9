import SealPrimitives
import SealStatements

/// Paths of the signed tree, against one that is written down the plain way.
enum StatementProofTarget: FuzzTarget {
    static let name = "statement-proof"
    static let maximumLength = 1_024
    static let seeds = [
        Seed.made([0, 1, 0, 0]), .made([0, 2, 0, 1]), .made([0, 5, 0, 4, 2, 0xFF]), .made([0xFF, 1, 0x90, 0, 0x81]),
        .made([0xFF, 1, 0x91, 0, 0]),
    ]

    private static let allLeaves = (0..<402).map {
        Hash.digest(.statement, [UInt8(truncatingIfNeeded: $0), UInt8($0 / 256)])
    }

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        // Most trees are small ones: they are as good, and quicker.
        let count = choices.rarely() ? choices.number(below: 402) : choices.number(below: 40)
        let index = choices.number(below: 402)
        let leaves = [Digest](allLeaves[..<count])
        guard let tree = try? StatementTree(leaves: leaves) else {
            require(count == 0 || count > 400, "leaves are refused")
            return hostile(&choices)
        }
        require(count <= 400, "too many leaves")
        require(tree.root == root(leaves), "another root")
        guard index < count else { return hostile(&choices) }
        var path = tree.path(to: index)
        let proof = StatementProof(signature: [], leafCount: count, index: index, path: path)
        require((try? proof.root(from: leaves[index])) == tree.root, "a path that leads elsewhere")

        // Every other way leads elsewhere, or nowhere.
        var (otherCount, otherIndex, leaf) = (count, index, leaves[index])
        switch choices.byte() % 6 {
        case 0: path.append(choices.digest())
        case 1:
            guard !path.isEmpty else { return }
            path.remove(at: choices.number(below: path.count))
        case 2:
            guard !path.isEmpty else { return }
            path[choices.number(below: path.count)] = choices.digest()
        case 3: leaf = choices.digest()
        case 4: otherIndex = choices.number(below: count)
        default: otherCount = choices.number(below: 401)
        }
        let other = StatementProof(signature: [], leafCount: otherCount, index: otherIndex, path: path)
        let same = otherIndex == index && path == proof.path && leaf == leaves[index]
        // Another count may ask for the same siblings: it is signed beside the root.
        if !same { require((try? other.root(from: leaf)) != tree.root, "a second path to a root") }
        hostile(&choices)
    }

    /// Any numbers whatever.
    private static func hostile(_ choices: inout Choices) {
        let (count, index) = (choices.number(Int.self), choices.number(Int.self))
        let path = (0..<choices.number(below: 16)).map { _ in choices.digest() }
        let proof = StatementProof(signature: [], leafCount: count, index: index, path: path)
        let root = try? proof.root(from: .zero)
        if root != nil { require(1...400 ~= count && 0..<count ~= index, "numbers out of bounds") }
    }

    /// Half by half from the left: the largest power of two that is less goes to the left.
    private static func root(_ leaves: [Digest]) -> Digest {
        guard leaves.count > 1 else { return leaves[0] }
        var left = 1
        while left * 2 < leaves.count { left *= 2 }
        return Hash.digest(
            .statementNode, root([Digest](leaves[..<left])).bytes, root([Digest](leaves[left...])).bytes)
    }
}
