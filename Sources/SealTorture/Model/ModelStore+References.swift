import SealKit

extension ModelStore {
    /// A child's parent is there after the call, what has children stays, and what refers to a deleted record with
    /// `deleteSelf` goes with it, unless the call saves it.
    /// - Parameter mayGo: whether a record goes with another.
    /// - Returns: what goes with the deletions that are left, each with the one that takes it along.
    static func refuseBrokenReferences(
        _ saves: inout [String: Stored], _ deletes: inout Set<String>, _ failures: inout [String: Code], in zone: Zone,
        where mayGo: (String) -> Bool = { _ in true }
    ) -> [String: String] {
        while true {
            var gone: [String: String] = [:]
            var withTarget: [String: Set<String>] = [:]
            for target in deletes.sorted() {
                let sources = zone.goingWith(target, except: Set(saves.keys).union(deletes), where: mayGo)
                withTarget[target] = sources
                for source in sources where gone[source] == nil { gone[source] = target }
            }
            func hasChild(_ name: String) -> Bool {
                saves.values.contains { $0.parent == name }
                    || zone.live.contains { child, stored in
                        stored.parent == name && !deletes.contains(child) && gone[child] == nil && saves[child] == nil
                    }
            }
            let orphans = saves.filter { _, stored in
                guard let parent = stored.parent, saves[parent] == nil else { return false }
                return deletes.contains(parent) || gone[parent] != nil || zone.live[parent] == nil
            }.map(\.key)
            let parents = deletes.filter { target in
                hasChild(target) || (withTarget[target] ?? []).contains { hasChild($0) }
            }
            if orphans.isEmpty, parents.isEmpty { return gone }
            for name in orphans {
                saves[name] = nil
                failures[name] = .referenceViolation
            }
            for name in parents {
                deletes.remove(name)
                failures[name] = .referenceViolation
            }
        }
    }
}

extension ModelStore.Zone {
    var live: [String: ModelStore.Stored] { records.filter { !$0.value.isDeleted } }

    /// What was written under an older key.
    var stale: [String] { live.filter { $0.value.epoch < epoch }.keys.sorted() }

    /// What refers to a record with `deleteSelf`, and what refers to that, and so on.
    /// - Parameter staying: these do not go, and so take nothing along.
    func goingWith(
        _ target: String, except staying: Set<String> = [], where mayGo: (String) -> Bool = { _ in true }
    ) -> Set<String> {
        var found: Set<String> = []
        var next = [target]
        while let name = next.popLast() {
            for (source, stored) in live
            where ModelFields.target(of: stored.fields) == name && !staying.contains(source) && mayGo(source)
                && found.insert(source).inserted
            {
                next.append(source)
            }
        }
        return found.subtracting([target])
    }
}
