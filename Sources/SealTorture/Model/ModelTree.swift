import SealKit

/// A zone whose records are shared with what is below them: who sees which of them, and may write there.
struct ModelTree {
    static let zone = "tree"
    static let type = "Leaf"

    struct Leaf: Equatable {
        var number: Int
        var parent: String?
        /// What is shared with everything below it.
        var share: String?
    }

    private(set) var leaves: [String: Leaf] = [:]
    /// By the share's name, whom it is shared with.
    private(set) var shares: [String: [Int: ModelStore.Permission]] = [:]
    private var made = 0

    // MARK: What is where

    /// A root's own parent counts for nothing as long as it is shared.
    func share(of name: String) -> String? {
        var next: String? = name
        while let name = next, let leaf = leaves[name] {
            if let share = leaf.share { return share }
            next = leaf.parent
        }
        return nil
    }

    func isThere(for person: Int) -> Bool { person == 0 || shares.values.contains { $0[person] != nil } }

    func sees(_ person: Int, _ name: String) -> Bool { leaves[name] != nil && permission(of: person, at: name) != nil }

    func visible(to person: Int) -> [String: Leaf] { leaves.filter { sees(person, $0.key) } }

    private func permission(of person: Int, at name: String?) -> ModelStore.Permission? {
        person == 0 ? .readWrite : name.flatMap(share(of:)).flatMap { shares[$0]?[person] }
    }

    private func hasChildren(_ name: String) -> Bool { leaves.values.contains { $0.parent == name } }

    // MARK: Records

    /// No name is used again, and parents are older than their children.
    mutating func newName() -> String {
        made += 1
        return "t\(made < 10 ? "00" : made < 100 ? "0" : "")\(made)"
    }

    /// - Parameters:
    ///   - number: what it holds from now on.
    ///   - parent: nil leaves it where it is; `.some(nil)` takes it away.
    mutating func save(_ name: String, by person: Int, number: Int, parent: String??) -> SealKitError.Code? {
        guard isThere(for: person) else { return .zoneNotFound }
        var leaf = leaves[name] ?? Leaf(number: number)
        let wanted = parent ?? leaf.parent
        if leaves[name] != nil {
            guard permission(of: person, at: name) == .readWrite else { return .permissionFailure }
        }
        // A root stays in its share whatever its parent is.
        if leaf.share == nil, person != 0 {
            guard let wanted, permission(of: person, at: wanted) == .readWrite else { return .permissionFailure }
            if leaves[name] != nil, share(of: wanted) != share(of: name) { return .permissionFailure }
        }
        if let wanted, leaves[wanted] == nil { return .referenceViolation }
        (leaf.number, leaf.parent) = (number, wanted)
        leaves[name] = leaf
        return nil
    }

    /// What somebody does not see is gone for them. With a root goes its share; a participant who deletes it leaves.
    mutating func delete(_ name: String, by person: Int) -> SealKitError.Code? {
        guard isThere(for: person) else { return .zoneNotFound }
        guard let leaf = leaves[name], sees(person, name) else { return nil }
        if let share = leaf.share, person != 0 {
            shares[share]?[person] = nil
            return nil
        }
        guard permission(of: person, at: name) == .readWrite else { return .permissionFailure }
        guard !hasChildren(name) else { return .referenceViolation }
        if let share = leaf.share { shares[share] = nil }
        leaves[name] = nil
        return nil
    }

    // MARK: Shares

    /// Whether a record can be shared with what is below it: where nothing above or below it is.
    func canShare(_ root: String) -> Bool {
        share(of: root) == nil && !leaves.contains { name, leaf in leaf.share != nil && isBelow(name, root) }
    }

    private func isBelow(_ name: String, _ top: String) -> Bool {
        var next = leaves[name]?.parent
        while let name = next {
            if name == top { return true }
            next = leaves[name]?.parent
        }
        return false
    }

    mutating func open(_ share: String, root: String) {
        leaves[root]?.share = share
        shares[share] = [:]
    }

    mutating func end(_ share: String) {
        shares[share] = nil
        for (name, leaf) in leaves where leaf.share == share { leaves[name]?.share = nil }
    }

    /// - Parameter permission: nil takes somebody out.
    mutating func set(_ permission: ModelStore.Permission?, for person: Int, in share: String) { shares[share]?[person] = permission }

    /// Somebody leaves all of it.
    mutating func leave(_ person: Int) -> SealKitError.Code? {
        guard isThere(for: person) else { return .zoneNotFound }
        for share in shares.keys { shares[share]?[person] = nil }
        return nil
    }

    /// The shares that somebody is in: with other ones a feed begins anew.
    func joined(by person: Int) -> Set<String> { person == 0 ? [] : Set(shares.filter { $0.value[person] != nil }.keys) }
}
